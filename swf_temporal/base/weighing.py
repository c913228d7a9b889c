"""Sizes of data: as JSON, before it is written, and in memory.

Data share their parts: `[., .]` is two references, and thirty of these within one another are a billion elements once
they are written. So what is written is weighed before; and what is held is weighed by what is there once.
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import Any, Final

MAX_WRITTEN: Final = 64 * 1024 * 1024
"""Bytes of JSON that are written at once, if nothing else says how many may be."""

_PLAIN: Final = frozenset({int, float, bool, type(None)})
_TEXT_BYTES, _ARRAY_BYTES, _OBJECT_BYTES = 56, 64, 64
_ELEMENT_BYTES, _MEMBER_BYTES, _NUMBER_BYTES = 8, 48, 16
_WIDE: Final = 4
"""Bytes for each character of a text that is not ASCII."""
_BRACKETS, _OF_MEMBER, _QUOTES = 1, 4, 2
"""Bytes of JSON around what is in an object or an array, less the comma after the last; around each key, with that; and
around a text."""
_FEW: Final = 16
"""So many elements are looked at one by one: it takes longer to find out whether all are plain."""
_AT_ONCE: Final = 1 << 16
"""Elements of which one call finds out whether they are plain. No other thread gets on while it does."""


def json_size(value: Any, enough: int = MAX_WRITTEN, sizes: dict[int, int] | None = None) -> int:
    """Return how many bytes *value* takes as JSON at least: nothing that is written in full takes fewer.

    Each object and array is looked at once, however often it occurs, and none once there is *enough*. What is nested so
    deeply that it cannot be written counts as nothing. *sizes* is given those of the objects and arrays that were met,
    by their `id`.
    """
    kind = type(value)
    if kind is str:
        return len(value) + _QUOTES
    if kind in _PLAIN:
        return 1
    known = {} if sizes is None else sizes
    try:
        size = _json_size(value, known, enough)
    except RecursionError:
        return 0
    known[id(value)] = size
    return size


def size_of_items(items: Collection[Any], sizes: Mapping[int, int]) -> int:
    """Return how many bytes *items* take as JSON at least; *sizes* are those of the objects and arrays among them."""
    if _are_plain(items):
        return len(items)
    return sum(sizes[id(item)] if id(item) in sizes else len(item) if type(item) is str else 1 for item in items)


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
            if not _are_plain(value):
                stack.extend(value)
    return total


def _are_plain(items: Collection[Any]) -> bool:
    """Tell whether all are numbers, true, false or null."""
    if len(items) <= _AT_ONCE:
        return _PLAIN.issuperset(map(type, items))
    rest = iter(items)
    return all(_PLAIN.issuperset(map(type, islice(rest, _AT_ONCE))) for _ in range(0, len(items), _AT_ONCE))


def _json_size(value: dict[str, Any] | list[Any], known: dict[int, int], enough: int) -> int:
    """Return the size of an object or an array; *known* are the sizes of those that were met."""
    if isinstance(value, dict):
        total = _BRACKETS + _OF_MEMBER * len(value) + sum(map(len, value))
        items: Collection[Any] = value.values()
    else:
        total = _BRACKETS + len(value)
        items = value
    if len(items) > _FEW and _are_plain(items):
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
