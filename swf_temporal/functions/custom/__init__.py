"""Python that definitions name or bring along."""
