"""Writes large data as JSON in pieces.

The C code of `json` holds Python's interpreter lock until all is written that it was given. For 64 MiB of small numbers
that is half a second, in which no other run of a worker gets on. Between two pieces the others have their turn.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar

from swf_temporal.weighing import MOST_WRITTEN, json_size, size_of_items

PLAIN: Final = json.JSONEncoder(separators=(",", ":"))
"""Writes JSON without spaces."""

_PIECE: Final = 1 << 16
"""Bytes of JSON, at least, that are written at once where there are more. A text is never cut."""
_ITEMS: Final = 1 << 12
"""Items of an array or object that are looked at together."""
_VALUE: Final = "null}"

_Item = TypeVar("_Item")


def json_text(value: Any, encoder: json.JSONEncoder = PLAIN, sizes: dict[int, int] | None = None) -> str:
    """Return *value* as *encoder* writes it, which puts no spaces between parts; *sizes* are what `json_size` found.

    Raises what *encoder* raises for what is not JSON.
    """
    if sizes is None:
        json_size(value, sizes=(sizes := {}))
    if sizes.get(id(value), 0) > _PIECE:
        with suppress(RecursionError):  # what just fits on the stack is written at once
            return "".join(_Pieces(encoder, sizes).of(value))
    return encoder.encode(value)


def json_length(value: Any, enough: int = MOST_WRITTEN) -> int:
    """Return how many bytes *value* takes as JSON without spaces; at least how many, if they are more than *enough*.

    Raises what `json` raises for what is not JSON.
    """
    sizes: dict[int, int] = {}
    size = json_size(value, enough, sizes)
    if size > enough:
        return size
    if size > _PIECE:
        with suppress(RecursionError):  # as above
            return sum(map(len, _Pieces(PLAIN, sizes).of(value)))
    return len(PLAIN.encode(value))


class _Pieces:
    """Cuts one value into pieces."""

    __slots__ = ("_encoder", "_sizes")

    def __init__(self, encoder: json.JSONEncoder, sizes: Mapping[int, int]) -> None:
        self._encoder = encoder
        self._sizes = sizes

    def of(self, value: Any) -> Iterator[str]:
        """Return the pieces of *value*: one, unless it is a large object or array."""
        if self._sizes.get(id(value), 0) <= _PIECE:
            return iter([self._encoder.encode(value)])
        return self._of_object(value) if isinstance(value, dict) else self._of_array(value)

    def _of_array(self, array: list[Any] | tuple[Any, ...]) -> Iterator[str]:
        before = "["
        for items in _cut(array, lambda some: size_of_items(some, self._sizes)):
            yield before
            before = ","
            if len(items) > 1:
                yield self._encoder.encode(items)[1:-1]
            else:
                yield from self.of(items[0])
        yield "]"

    def _of_object(self, fields: dict[str, Any]) -> Iterator[str]:
        members = sorted(fields.items()) if self._encoder.sort_keys else list(fields.items())
        before = "{"
        for some in _cut(members, self._size_of_members):
            yield before
            before = ","
            if len(some) > 1:
                yield self._encoder.encode(dict(some))[1:-1]
            else:
                [(key, item)] = some
                yield self._encoder.encode({key: None})[1 : -len(_VALUE)]
                yield from self.of(item)
        yield "}"

    def _size_of_members(self, members: list[tuple[str, Any]]) -> int:
        return size_of_items([item for _, item in members], self._sizes) + sum(len(key) for key, _ in members)


def _cut(items: list[_Item] | tuple[_Item, ...], size_of: Callable[[list[_Item]], int]) -> Iterator[list[_Item]]:
    """Yield *items* in lists that are small, or have a single one."""
    for start in range(0, len(items), _ITEMS):
        waiting = [list(items[start : start + _ITEMS])]
        while waiting:
            some = waiting.pop()
            if len(some) == 1 or size_of(some) <= _PIECE:
                yield some
            else:
                half = len(some) // 2
                waiting += [some[half:], some[:half]]
