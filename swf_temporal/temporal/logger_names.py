"""The names of the loggers of instances and calls: log readers need them without the SDK."""

INSTANCES = "swf.instance"
"""Starts, ends and problems of instances."""

CALLS = "swf.call"
"""Failed calls and produced events."""

QUEUES = "swf.queue"
"""Task queues that no worker serves."""

FACTS = "swf"
"""The attribute of a record that holds its facts, for logs that programs read."""
