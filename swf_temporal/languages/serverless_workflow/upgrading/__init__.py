"""Rewriting a definition in a newer version of the language, keeping its comments and the order of its keys."""
