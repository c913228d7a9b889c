"""Authentication of calls."""
