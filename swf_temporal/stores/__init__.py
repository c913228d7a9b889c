"""Where variables are held, if not by Temporal: SQL databases."""
