"""Rules that a definition must satisfy beyond its form."""
