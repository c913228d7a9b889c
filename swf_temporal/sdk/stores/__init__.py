"""Stores of variables other than Temporal: SQL databases."""
