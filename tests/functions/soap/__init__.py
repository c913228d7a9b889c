"""A type of functions as a package of its own."""
