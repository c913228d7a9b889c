"""Custom functions: Python that definitions name or contain."""
