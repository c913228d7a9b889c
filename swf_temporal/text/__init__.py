"""Reads YAML and JSON with the line and column of every part."""
