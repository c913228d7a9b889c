"""Performs the functions of workflows. Knows services and Python, and no engine."""
