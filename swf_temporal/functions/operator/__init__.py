"""The operator's settings for calls."""
