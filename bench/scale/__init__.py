"""Runs of a size at which a single execution no longer holds them, interpreted and written by hand."""
