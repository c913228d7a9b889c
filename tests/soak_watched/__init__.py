"""Runs that work long, watched by queries all the time, whose workers are killed."""
