"""Tells in what two values differ: in a line if they are short, else line by line."""

import json
from difflib import ndiff

from swf_temporal.data import JSON, identity

_SHORT = 60


def unequal(what: str, expected: JSON, actual: JSON) -> list[str]:
    """Return how *actual* differs from what is *expected* of *what*: a text, or none if they are equal as JSON."""
    if identity(expected) == identity(actual):
        return []
    short = _written(expected), _written(actual)
    if max(map(len, short)) <= _SHORT:
        return [f"{what}: expected {short[0]}, but it is {short[1]}"]
    return [line_by_line(what, _lines(expected), _lines(actual))]


def line_by_line(what: str, expected: list[str], actual: list[str]) -> str:
    """Return what of the lines *expected* did not come, and which of those that are *actual* was not expected."""
    changes = [line.rstrip() for line in ndiff(expected, actual) if not line.startswith("?")]
    return "\n    ".join([f"{what}: what is expected (-) and what came (+) differ", *changes])


def _lines(value: JSON) -> list[str]:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False).splitlines()


def _written(value: JSON) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
