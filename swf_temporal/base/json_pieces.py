"""Writes large JSON in pieces, between which other threads have their turn.

The C code of `json` holds Python's interpreter lock until all is written that it was given. For 64 MiB of small numbers
that is half a second, in which no other run of a worker gets on.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar

from swf_temporal.base.weighing import json_size, size_of_items

_PIECE: Final = 1 << 16
"""Bytes of JSON, at least, that are written at once where there are more. A text is never cut."""
_ITEMS: Final = 1 << 12
"""Items of an array or object that are looked at together."""
_VALUE: Final = "null}"

_Item = TypeVar("_Item")


def in_pieces(value: Any, encode: Callable[[Any], str], sizes: dict[int, int], *, sort_keys: bool) -> str:
    """Return *value* as *encode* writes it, which is called for one piece after the other.

    *sizes* are those that `json_size` found, or are empty. With *sort_keys*, *encode* puts keys in order.
    """
    if not sizes:
        json_size(value, sizes=sizes)
    if sizes.get(id(value), 0) > _PIECE:
        with suppress(RecursionError):  # what just fits on the stack is written at once
            return "".join(_Pieces(encode, sizes, sort_keys=sort_keys).of(value))
    return encode(value)


class _Pieces:
    __slots__ = ("_encode", "_sizes", "_sort_keys")

    def __init__(self, encode: Callable[[Any], str], sizes: Mapping[int, int], *, sort_keys: bool) -> None:
        self._encode = encode
        self._sizes = sizes
        self._sort_keys = sort_keys

    def of(self, value: Any) -> Iterator[str]:
        """Return the pieces of *value*: one, unless it is a large object or array."""
        if self._sizes.get(id(value), 0) <= _PIECE:
            return iter([self._encode(value)])
        return self._of_object(value) if isinstance(value, dict) else self._of_array(value)

    def _of_array(self, array: list[Any] | tuple[Any, ...]) -> Iterator[str]:
        before = "["
        for items in _cut(array, lambda some: size_of_items(some, self._sizes)):
            yield before
            before = ","
            if len(items) > 1:
                yield self._encode(items)[1:-1]
            else:
                yield from self.of(items[0])
        yield "]"

    def _of_object(self, fields: dict[str, Any]) -> Iterator[str]:
        members = sorted(fields.items()) if self._sort_keys else list(fields.items())
        before = "{"
        for some in _cut(members, self._size_of_members):
            yield before
            before = ","
            if len(some) > 1:
                yield self._encode(dict(some))[1:-1]
            else:
                [(key, item)] = some
                yield self._encode({key: None})[1 : -len(_VALUE)]
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
