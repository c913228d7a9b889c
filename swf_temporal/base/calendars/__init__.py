"""Schedules: from their texts to times, and to the specifications that Temporal stores."""
