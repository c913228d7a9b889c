"""The names of the loggers of instances and calls: a reader of logs needs them without the engine's library."""

INSTANCES = "swf.instance"
"""What becomes of instances."""

CALLS = "swf.call"
"""Calls and produced events that fail."""

FACTS = "swf"
"""The attribute of a record that holds its facts, for logs that programs read."""
