"""Comparing data with a JSON Schema, as a helper process does it."""
