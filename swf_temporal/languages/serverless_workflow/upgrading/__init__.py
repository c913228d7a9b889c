"""Rewriting a definition in a newer version of the language, with its comments and the order of its keys."""
