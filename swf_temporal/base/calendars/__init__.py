"""Schedules: from their texts to times, and to what an engine can hold."""
