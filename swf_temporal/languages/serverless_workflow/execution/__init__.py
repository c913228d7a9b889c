"""Definition + data + Host → Outcome. Knows nothing of any engine."""
