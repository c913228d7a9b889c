"""Scenarios on a Temporal server: virtual time, scripted results, and the driver of a run."""
