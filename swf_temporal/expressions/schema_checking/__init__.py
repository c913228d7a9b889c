"""Validation of data against a JSON Schema, within a helper process."""
