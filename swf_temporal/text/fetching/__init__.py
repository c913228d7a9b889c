"""Reads the documents that definitions name, from places that the operator allows."""
