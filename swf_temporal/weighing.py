"""Sizes of data: as JSON, before it is written, and in memory.

Data share their parts: `[., .]` is two references, and thirty of these within one another are a billion elements once
they are written. So what is written is weighed before; and what is held is weighed by what is there once.
"""

from collections.abc import Collection, Iterable
from typing import Any, Final

MOST_WRITTEN: Final = 64 * 1024 * 1024
"""Bytes of JSON that are written at once, if nothing else says how many may be."""

_PLAIN: Final = frozenset({int, float, bool, type(None)})
_TEXT_BYTES, _ARRAY_BYTES, _OBJECT_BYTES = 56, 64, 64
_ELEMENT_BYTES, _MEMBER_BYTES, _NUMBER_BYTES = 8, 48, 16
_WIDE: Final = 4
"""Bytes for each character of a text that is not ASCII."""
_BRACKETS, _OF_MEMBER, _QUOTES = 1, 4, 2
"""Bytes of JSON around what is in an object or an array, less the comma after the last; around each key, with that; and
around a text."""
_ESCAPED, _NUMBER_LENGTH, _LARGE_INT = 12, 25, 10**20
"""Bytes of JSON that one character takes at most, which is two escaped surrogates; and a float, or an integer of so
many digits."""
_FEW: Final = 16
"""So many elements are looked at one by one: it takes longer to find out whether all are plain."""


def json_size(value: Any, enough: int = MOST_WRITTEN) -> int:
    """Return how many bytes *value* takes as JSON at least: nothing that is written in full takes fewer.

    Each object and array is looked at once, however often it occurs, and none once there is *enough*. What is nested so
    deeply that it cannot be written counts as nothing.
    """
    kind = type(value)
    if kind is str:
        return len(value) + _QUOTES
    if kind in _PLAIN:
        return 1
    try:
        return _json_size(value, {}, enough)
    except RecursionError:
        return 0


def is_at_most(most: int, value: object) -> bool:
    """Tell whether *value* surely takes no more than *most* bytes as JSON. No more of it is looked at than fits in."""
    return _left(most, value) >= 0


def memory_of(values: Iterable[object]) -> int:
    """Return about how many bytes of memory *values* hold together; what they share counts once."""
    seen: set[int] = set()
    total = 0
    stack: list[Any] = list(values)
    while stack:
        value = stack.pop()
        if type(value) in _PLAIN:
            total += _NUMBER_BYTES
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, str):
            total += _TEXT_BYTES + len(value) * (1 if value.isascii() else _WIDE)
        elif isinstance(value, dict):
            total += _OBJECT_BYTES + _MEMBER_BYTES * len(value)
            stack.extend(value.values())
        elif isinstance(value, list):
            total += _ARRAY_BYTES + _ELEMENT_BYTES * len(value)
            if not _PLAIN.issuperset(map(type, value)):
                stack.extend(value)
    return total


def _left(most: int, value: Any) -> int:
    """Return how many of *most* bytes are left at least where *value* is written; fewer than none if it may not fit."""
    kind = type(value)
    if kind is str:
        return most - _QUOTES - len(value) * _ESCAPED
    if kind is dict:
        most -= 2 * _BRACKETS
        for key, item in value.items():
            most = _left(most - _OF_MEMBER - len(key) * _ESCAPED, item)
            if most < 0:
                break
        return most
    if kind is list:
        most -= 2 * _BRACKETS
        for item in value:
            most = _left(most - 1, item)
            if most < 0:
                break
        return most
    if kind is int and not -_LARGE_INT < value < _LARGE_INT:
        return -1
    return most - _NUMBER_LENGTH if kind in _PLAIN else -1


def _json_size(value: dict[str, Any] | list[Any], known: dict[int, int], enough: int) -> int:
    """Return the size of an object or an array; *known* are the sizes of those that were met."""
    if isinstance(value, dict):
        total = _BRACKETS + _OF_MEMBER * len(value) + sum(map(len, value))
        items: Collection[Any] = value.values()
    else:
        total = _BRACKETS + len(value)
        items = value
    if len(items) > _FEW and _PLAIN.issuperset(map(type, items)):
        return total + len(items)
    for item in items:
        kind = type(item)
        if kind in _PLAIN:
            total += 1
        elif kind is str:
            total += len(item) + _QUOTES
        else:
            size = known.get(id(item))
            if size is None:
                size = known[id(item)] = _json_size(item, known, enough)
            total += size
            if total > enough:
                return total
    return total
