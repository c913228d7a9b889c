"""The rules that a definition keeps to beyond its form."""
