"""Short descriptions of values, for messages."""

from typing import Any


def describe_value(value: Any, limit: int = 80) -> str:
    """Return a short description of *value*, for messages."""
    kinds = {dict: "an object", list: "an array", str: "a text", bool: "a boolean", type(None): "null"}
    kind = kinds.get(type(value), "a number")
    text = repr(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    return f"{kind} {text[:limit]}".rstrip()
