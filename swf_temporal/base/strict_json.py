"""Reads and writes JSON: the one gate through which data come in and go out.

Input is read exactly, or refused: numbers that are not finite or too large for a double, halves of surrogate pairs,
duplicate keys, and values that are nested too deeply. Python's `json` accepts all of these, and other programs do not.

The C code of `json` holds Python's global interpreter lock until it has written everything that it was given. For 64
MiB of small numbers that is half a second, in which no other run of a worker makes progress.
"""

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import product
from typing import Any, Final, TypeVar

from swf_temporal.base.accounting import MAX_WRITTEN, json_size, size_of_items

_PIECE: Final = 1 << 16
"""The minimum size, in bytes, of the pieces in which large JSON is written. A text is never cut."""
_ITEMS: Final = 1 << 12
"""The number of items of an array or object that are considered together."""
_VALUE: Final = "null}"

_Item = TypeVar("_Item")


def in_pieces(value: Any, encode: Callable[[Any], str], sizes: dict[int, int], *, sort_keys: bool) -> str:
    """Return *value* as *encode* writes it, which is called for one piece after the other.

    *sizes* are those that `json_size` stored, or empty. *sort_keys* says that *encode* sorts keys.
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
    """Yield *items* in lists that are small or have a single item."""
    for start in range(0, len(items), _ITEMS):
        waiting = [list(items[start : start + _ITEMS])]
        while waiting:
            some = waiting.pop()
            if len(some) == 1 or size_of(some) <= _PIECE:
                yield some
            else:
                half = len(some) // 2
                waiting += [some[half:], some[:half]]


MAX_DEPTH: Final = 200
"""The nesting limit of incoming data: the code that processes them is recursive."""
HALF: Final = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which no text in UTF-8 can hold."""

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_TOO_DEEP: Final = "it is nested too deeply"
_ESCAPED_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_SCALARS: Final = (str, int, float, bytes, bytearray, type(None))
_PARENTS: Final = frozenset({dict, list})
_TO_ZERO: Final = bytes.maketrans(b"123456789", b"000000000")
_MANY_DIGITS: Final = b"0" * 309
"""The number of digits of the largest double, written as an integer."""
_MAX: Final = sys.float_info.max
_SHOWING: Final = json.JSONEncoder(indent=2, ensure_ascii=False, default=str)
_SHOWN: Final = 24
"""The number of characters of a number that messages show."""


class NotJSON(ValueError):  # noqa: N818 - what the value is
    """A text or a value is not JSON; the message says what is wrong, and where."""


class MalformedJSON(NotJSON):
    """A text violates the grammar of JSON: for which *reason*, and at which character."""

    def __init__(self, message: str, reason: str = "", offset: int = 0) -> None:
        super().__init__(message)
        self.reason = reason
        self.offset = offset


def read_json(text: str | bytes) -> Any:
    """Return *text*, which may be untrusted, parsed as JSON. Raises NotJSON."""
    string = text if isinstance(text, str) else text_of(text)
    try:
        return checked(_decoded(_STRICT, string), string.encode())
    except UnicodeEncodeError as error:
        raise NotJSON(_half_in("the text", error.start)) from None


def has_more_elements(text: str, most: int) -> bool:
    """Return whether *text* is an array with more than *most* elements, without reading the rest."""
    offset = _after_space(text, 0)
    if not text.startswith("[", offset):
        return False
    with suppress(ValueError, RecursionError):  # which `read_json` explains
        for _ in range(most):
            _, end = _PLAIN.raw_decode(text, _after_space(text, offset + 1))
            offset = _after_space(text, end)
            if not text.startswith(",", offset):
                return False
        return True
    return False


def text_of(content: bytes) -> str:
    """Return *content*, which is JSON or YAML, as text; it is usually UTF-8. Raises NotJSON if it is not text."""
    try:
        return content.decode(json.detect_encoding(content))
    except UnicodeDecodeError as error:
        raise NotJSON(f"it is not text in {error.encoding.upper()}") from None


def checked(value: Any, written: bytes) -> Any:
    """Return *value*, whose JSON is *written*, after checking it. Raises NotJSON.

    Usually the bytes show that it is valid; otherwise the result is a copy.
    """
    is_suspect = (
        (b"\\" in written and _ESCAPED_HALF.search(written) is not None)
        or b"NaN" in written
        or b"Infinity" in written
        or _MANY_DIGITS in written.translate(_TO_ZERO)
        or _is_deep(value, written)
    )
    return json_of(value) if is_suspect else value


def read_written(text: str | bytes) -> Any:
    """Return the JSON that this package wrote as *text*, without the checks of `read_json`. Raises NotJSON."""
    return _decoded(_PLAIN, text)


def read_clamped(text: str) -> Any:
    """Return the JSON that jq wrote; a number that is too large, such as 1E+400, becomes the largest double."""
    return _decoded(_CLAMPED if "E+" in text else _PLAIN, text)


def string_at(text: str, offset: int) -> tuple[str, int]:
    """Return the string that begins at *offset*, and where it ends. Raises MalformedJSON."""
    try:
        string, end = _PLAIN.raw_decode(text, offset)
    except json.JSONDecodeError as error:
        raise MalformedJSON(str(error), error.msg, error.pos) from None
    return str(string), end


def json_of(value: object, convert: Callable[[object], object] | None = None) -> Any:
    """Return a copy of *value* made of JSON types alone. Raises NotJSON if it contains anything that is not JSON.

    A tuple becomes an array. Other types that libraries can turn into JSON are refused, unless *convert* does so.
    """
    return _json_of(value, "", 0, convert)


def write_json(
    value: Any, *, ensure_ascii: bool = True, sort_keys: bool = False, sizes: dict[int, int] | None = None
) -> str:
    """Return *value* as JSON without spaces. Raises NotJSON.

    With *sizes*, which `json_size` stored or are empty, it is written in pieces, so that other threads can run.
    """
    encoder = _ENCODERS[ensure_ascii, sort_keys]
    try:
        text = encoder.encode(value) if sizes is None else in_pieces(value, encoder.encode, sizes, sort_keys=sort_keys)
        if ensure_ascii and "\\" in text and "\\ud" in text:
            has_half = HALF.search(_ENCODERS[False, False].encode(value))
        else:
            has_half = None if text.isascii() else HALF.search(text)
    except (TypeError, ValueError, RecursionError) as error:
        json_of(value)  # raises NotJSON with the place
        raise NotJSON(_TOO_DEEP if isinstance(error, RecursionError) else str(error)) from None
    if has_half:
        json_of(value)
    return text


def show_json(
    value: Any, *, indent: int | str | None = None, sort_keys: bool = False, ensure_ascii: bool = False
) -> str:
    """Return *value* as JSON for people; what is not JSON is shown as Python does."""
    return _without_halves(
        json.dumps(value, indent=indent, sort_keys=sort_keys, ensure_ascii=ensure_ascii, default=str)
    )


def show_beginning(value: Any, most: int) -> tuple[str, bool]:
    """Return the first *most* characters of *value* as indented JSON, and whether there are more."""
    pieces, length = list[str](), 0
    for piece in _SHOWING.iterencode(value):
        pieces.append(piece)
        length += len(piece)
        if length > most:
            break
    return _without_halves("".join(pieces)[:most]), length > most


def _without_halves(text: str) -> str:
    return text if text.isascii() else HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def json_length(value: Any, enough: int = MAX_WRITTEN) -> int:
    """Return the size of *value* as JSON without spaces, in bytes; a lower bound, if it is more than *enough*.

    Raises NotJSON.
    """
    sizes: dict[int, int] = {}
    size = json_size(value, enough, sizes)
    return size if size > enough else len(write_json(value, sizes=sizes))


def finite(text: str) -> float:
    """Return *text* as a number. Raises NotJSON if it is too large."""
    number = float(text)
    if -math.inf < number < math.inf:
        return number
    raise _too_large(text)


def integer(text: str) -> int:
    """Return *text*, in any base, as an integer. Raises NotJSON if it is too large for a double."""
    try:
        number = int(text, 0)
        float(number)
    except (ValueError, OverflowError):  # Python does not read integers of more than 4,300 digits
        raise _too_large(text) from None
    return number


def _too_large(text: str) -> NotJSON:
    return NotJSON(f"the number {text if len(text) <= _SHOWN else text[:_SHOWN] + '…'} is too large")


def _decoded(decoder: json.JSONDecoder, text: str | bytes) -> Any:
    try:
        return decoder.decode(text if isinstance(text, str) else text.decode())
    except NotJSON:
        raise
    except RecursionError:
        raise NotJSON(_TOO_DEEP) from None
    except json.JSONDecodeError as error:
        raise MalformedJSON(str(error), error.msg, error.pos) from None
    except UnicodeDecodeError as error:
        raise MalformedJSON(str(error)) from None
    except ValueError:  # Python does not read integers of more than 4,300 digits
        raise NotJSON("a number of thousands of digits is too large") from None


def _after_space(text: str, offset: int) -> int:
    found = _SPACE.match(text, offset)
    return offset if found is None else found.end()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        again = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise NotJSON(f"the key {again!r} is written twice in one object")
    return fields


def _is_deep(value: Any, data: bytes) -> bool:
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return False
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [item for node in level for item in _items(node) if type(item) in _PARENTS]
        if not level:
            return False
    return True


def _items(node: Any) -> Iterable[Any]:
    return node.values() if type(node) is dict else node if type(node) is list else ()


def _json_of(value: object, place: str, depth: int, convert: Callable[[object], object] | None) -> Any:
    # Loops, not comprehensions, which would double the depth of the stack.
    if isinstance(value, list | tuple):
        if depth == MAX_DEPTH:
            raise NotJSON(_TOO_DEEP)
        items: list[Any] = []
        for index, item in enumerate(value):
            items.append(_json_of(item, f"{place}[{index}]", depth + 1, convert))
        return items
    if isinstance(value, dict | Mapping):
        if depth == MAX_DEPTH:
            raise NotJSON(_TOO_DEEP)
        fields: dict[str, Any] = {}
        for key, item in value.items():
            fields[_key(key, place)] = _json_of(item, f"{place}.{key}", depth + 1, convert)
        return fields
    if convert is None or isinstance(value, _SCALARS):
        return _scalar(value, place)
    try:
        converted = convert(value)
    except NotJSON as error:
        raise NotJSON(f"{error}{_at(place)}") from None
    return _json_of(converted, place, depth, None)


def _key(key: object, place: str) -> str:
    if not isinstance(key, str):
        raise NotJSON(f"a key must be a text, and {key!r} is not{_at(place)}")
    if not key.isascii() and (half := HALF.search(key)):
        raise NotJSON(_half_in("a key", half.start()) + _at(place))
    return str.__str__(key)  # `str` of an enumeration may be its name


def _scalar(value: object, place: str) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if not value.isascii() and (half := HALF.search(value)):
            raise NotJSON(_half_in("the text", half.start()) + _at(place))
        return str.__str__(value)  # as above
    if isinstance(value, int):
        try:
            float(value)
        except OverflowError:
            raise NotJSON(f"a number of {int(math.log10(abs(value))) + 1:,} digits is too large{_at(place)}") from None
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJSON(f"{json.dumps(value)} is not a JSON number{_at(place)}")
        return float(value)
    if isinstance(value, bytes | bytearray):
        raise NotJSON(f"these are bytes{_at(place)}")
    raise NotJSON(f"a value of the type {type(value).__name__!r} cannot be written as JSON{_at(place)}")


def _half_in(what: str, index: int) -> str:
    return f"{what} has half of a surrogate pair, at character {index}"


def _at(place: str) -> str:
    return f" (at {place if place.startswith('.') else '.' + place})" if place else ""


_STRICT: Final = json.JSONDecoder(parse_float=finite, object_pairs_hook=_unique)
_PLAIN: Final = json.JSONDecoder()
_CLAMPED: Final = json.JSONDecoder(parse_float=lambda text: max(-_MAX, min(_MAX, float(text))))
_ENCODERS: Final = {
    (ensure_ascii, sort_keys): json.JSONEncoder(
        separators=(",", ":"),
        allow_nan=False,
        check_circular=False,  # a value that contains itself is nested too deeply
        ensure_ascii=ensure_ascii,
        sort_keys=sort_keys,
    )
    for ensure_ascii, sort_keys in product((True, False), repeat=2)
}
