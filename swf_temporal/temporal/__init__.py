"""The host on Temporal: the only layer that depends on the engine."""
