"""Validation rules for well-formed definitions: one per file."""
