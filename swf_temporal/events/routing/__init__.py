"""The destinations of an event: which instances it starts, and which may take it."""
