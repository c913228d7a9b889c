"""The host on Temporal: the only floor that knows the engine."""
