"""Processes that definitions start: shell commands, scripts and containers."""
