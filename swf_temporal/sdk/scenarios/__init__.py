"""Scenarios on a Temporal server: virtual time, scripted answers, and what drives a run."""
