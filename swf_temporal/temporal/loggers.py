"""Under which names are instances and calls logged? Apart from what writes it: what reads it needs no engine."""

INSTANCES = "swf.instance"
"""What becomes of instances."""

CALLS = "swf.call"
"""Calls and produced events that fail."""

FACTS = "swf"
"""The attribute of a record that holds its facts, for logs that programs read."""
