"""Reads texts that are YAML or JSON: as data that knows its lines and columns, or as plain data.

JSON has a reader of its own, whose messages are for people who write JSON by hand.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from swf_temporal.base import strict_json
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.base.strict_json import HALF, MalformedJSON, NotJSON, integer, string_at
from swf_temporal.text.origin import (
    JSON_NUMBER,
    LINE_END,
    MAX_DEPTH,
    Array,
    Object,
    Source,
    UnreadableText,
    duplicate_key,
    number_of,
)
from swf_temporal.text.yaml_text import read_plain_yaml, read_yaml

_BLANK = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(rf"{JSON_NUMBER.pattern}(?![\w.])")
_WORD = re.compile(r"[\w$.+-]+")
_SIMPLE_TEXT = re.compile(r'"([^"\\\x00-\x1f]*)"')
_OPEN = "this text has no closing quote"
_HOLDS_MORE = re.compile(r"[:,]\s")
"""A pattern of texts whose closing quote is probably missing: they contain another key or element."""
_WORDS = {"true": True, "false": False, "null": None}


def read_json(text: str, source: Source) -> Any:
    """Parse *text* into Objects and Arrays that know their positions. Raises UnreadableText."""
    reader = _Reader(text, source)
    value = reader.value(reader.skip(0), 0)
    rest = reader.skip(reader.end)
    if rest < len(text):
        reader.fail("the JSON is complete before this", rest, "is there a bracket too many?")
    return value


class _Reader:
    def __init__(self, text: str, source: Source) -> None:
        self.text = text
        self.source = source
        self.end = 0
        """The offset of the end of the value that was read last."""
        self.lines = [0, *(match.end() for match in LINE_END.finditer(text))]

    def at(self, offset: int) -> Position:
        line = bisect_right(self.lines, offset)
        return Position(line, offset - self.lines[line - 1] + 1)

    def skip(self, offset: int) -> int:
        match = _BLANK.match(self.text, offset)
        return match.end() if match else offset

    def fail(self, message: str, offset: int, hint: str | None = None, *, yaml: bool = False) -> NoReturn:
        raise UnreadableText(self.source.problem("syntax", message, self.at(offset), hint), perhaps_yaml=yaml)

    def value(self, offset: int, depth: int) -> Any:
        first = self.text[offset : offset + 1]
        if first == '"':
            return self.string(offset)
        if first == "{":
            return self.object(offset, depth + 1)
        if first == "[":
            return self.array(offset, depth + 1)
        match = _NUMBER.match(self.text, offset)
        if match:
            self.end = match.end()
            return self.number(match[0], offset)
        return self.word(offset)

    def string(self, offset: int) -> str:
        match = _SIMPLE_TEXT.match(self.text, offset)
        if match:
            self.end = match.end()
            return match[1]
        try:
            text, self.end = string_at(self.text, offset)
        except MalformedJSON as error:
            if error.reason.startswith("Unterminated"):
                self.fail(_OPEN, offset)
            if error.reason.startswith("Invalid control"):
                self.fail(_OPEN, offset, "close it in its line; a line break in a text is written \\n")
            self.fail("a backslash in a text must be doubled or start an escape such as \\n", error.offset)
        if HALF.search(text):
            self.fail("this text holds half of a pair of \\u escapes", offset)
        return text

    def refuse_open(self, offset: int) -> None:
        """Fail if the text at *offset* probably lacks its closing quote, and ends at the opening quote of the next."""
        text = self.text[offset : self.end]
        if text.startswith('"') and _HOLDS_MORE.search(text) and not self.text[self.end].isspace():
            place = self.at(self.end - 1)
            self.fail(_OPEN, offset, f"it ends at the next quote, in line {place.line}, column {place.column}")

    def number(self, digits: str, offset: int) -> int | float:
        try:
            return integer(digits) if digits.lstrip("-").isdigit() else number_of(digits)
        except NotJSON as error:
            self.fail(str(error), offset)

    def word(self, offset: int) -> Any:
        match = _WORD.match(self.text, offset)
        if match is None:
            return self.misplaced(offset)
        if match[0] not in _WORDS:
            self.fail(f"a text must stand in double quotes: {match[0]}", offset, yaml=True)
        self.end = match.end()
        return _WORDS[match[0]]

    def misplaced(self, offset: int) -> NoReturn:
        found = self.text[offset : offset + 1]
        if not found:
            self.fail(
                "the text ends before the JSON is complete",
                max(offset - 1, 0),
                "is a closing bracket missing?",
            )
        if found and found in "#/":
            hint = None if found == "#" else "remove it, or put what it says under metadata"
            self.fail("JSON has no comments", offset, hint, yaml=found == "#")
        if found == "'":
            self.fail("JSON texts stand in double quotes, not single ones", offset, yaml=True)
        if found in "]}" and self.text[:offset].rstrip().endswith(","):
            comma = self.text.rindex(",", 0, offset)
            self.fail(f"there is a comma too many before {found!r}", comma, "remove the comma", yaml=True)
        self.fail(f"a value is missing before {found!r}", offset)

    def object(self, offset: int, depth: int) -> Object:
        if depth > MAX_DEPTH:
            self.fail(f"nested deeper than {MAX_DEPTH} levels", offset)
        found = Object(self.at(offset))
        offset = self.skip(offset + 1)
        while self.text[offset : offset + 1] != "}" or found:
            key = self.key(offset)
            colon = self.skip(self.end)
            if self.text[colon : colon + 1] != ":":
                self.refuse_open(offset)
                self.fail(f"a colon is missing after the key {key!r}", colon)
            start = self.skip(colon + 1)
            places = self.at(offset), self.at(start)
            value = self.value(start, depth)
            if key in found:
                raise UnreadableText(self.source.problem(*duplicate_key(key, found.where.key(key), places[0])))
            found.put(key, value, places)
            offset = self.more(start, "}")
            if offset < 0:
                return found
        self.end = offset + 1
        return found

    def array(self, offset: int, depth: int) -> Array:
        if depth > MAX_DEPTH:
            self.fail(f"nested deeper than {MAX_DEPTH} levels", offset)
        found = Array()
        offset = self.skip(offset + 1)
        while self.text[offset : offset + 1] != "]" or found:
            found.append(self.value(offset, depth))
            found.positions.append(self.at(offset))
            offset = self.more(offset, "]")
            if offset < 0:
                return found
        self.end = offset + 1
        return found

    def key(self, offset: int) -> str:
        if self.text[offset : offset + 1] == '"':
            return self.string(offset)
        match = _WORD.match(self.text, offset)
        if match:
            self.fail(f"a key must stand in double quotes: {match[0]}", offset, yaml=True)
        return self.misplaced(offset)

    def more(self, start: int, closing: str) -> int:
        """Return where the next element starts, or -1 if the bracket closes here."""
        offset = self.skip(self.end)
        found = self.text[offset : offset + 1]
        if found == closing:
            self.end = offset + 1
            return -1
        if not found:
            self.fail(f"the text ends before the JSON is complete: {closing!r} is missing", start)
        if found in "#/":
            self.misplaced(offset)
        if found != ",":
            self.refuse_open(start)
            self.fail(f"a comma or {closing!r} is missing before this", offset)
        return self.skip(offset + 1)


_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Characters that neither YAML nor JSON may contain as they are."""


def read_source(source: Source) -> tuple[Any, list[Problem]]:
    """Return the data of a definition, and what was tolerated while reading it.

    A text that starts with a brace, a bracket or a comment of JavaScript is JSON. Where it is not quite JSON but reads
    as YAML, it is taken as that, with a warning. Raises Unreadable, with what stands in the way, if it is neither.
    """
    text = source.text.removeprefix("\ufeff")
    if not text.strip():
        raise UnreadableText(source.problem("empty", "there is no definition here: the text is empty", Position()))
    _refuse_characters(text, source)
    if not text.lstrip().startswith(("{", "[", "//", "/*")):
        return read_yaml(text, source), []
    try:
        return read_json(text, source), []
    except UnreadableText as not_json:
        return _flow(text, source, not_json)


def read_object(source: Source) -> tuple[Object, list[Problem]]:
    """Return the definition in *source*, which must be an object, and what was tolerated while reading it."""
    data, tolerated = read_source(source)
    if isinstance(data, Object):
        return data, tolerated
    written = "a list" if isinstance(data, Array) else "a single value"
    message = f"a definition is an object with keys such as id and states, but this is {written}"
    raise UnreadableText(source.problem("type", message, Position()))


def read_data(text: str | bytes) -> Any:
    """Return what *text* says, YAML or JSON, as plain data; None if it says nothing.

    Raises ValueError, which says what is wrong and where, and may quote from the text.
    """
    if isinstance(text, bytes):
        text = strict_json.text_of(text)
    text = text.removeprefix("\ufeff")
    if text.lstrip().startswith(("{", "[")):
        try:
            return strict_json.read_json(text)
        except strict_json.NotJSON:
            pass  # it may be the flow style of YAML; what is refused is refused there, too, with its place
    source = Source(text)
    try:
        _refuse_characters(text, source)
        return read_plain_yaml(text, source)
    except UnreadableText as error:
        problem = error.problem
        place = f"line {problem.position.line}, column {problem.position.column}"
        raise ValueError(f"{place}: {problem.message}") from None


def _flow(text: str, source: Source, not_json: UnreadableText) -> tuple[Any, list[Problem]]:
    first = not_json.problem
    if not not_json.perhaps_yaml:
        raise not_json
    try:
        data = read_yaml(text, source)
    except UnreadableText:
        raise not_json from None
    message = f"this is not JSON, and was read as YAML: {first.message}"
    return data, [source.problem("tolerated-spelling", message, first.position, first.hint, Severity.WARNING)]


def _refuse_characters(text: str, source: Source) -> None:
    found = _FORBIDDEN.search(text)
    if found is None:
        return
    starts = [0, *(end.end() for end in LINE_END.finditer(text, 0, found.start()))]
    position = Position(len(starts), found.start() - starts[-1] + 1)
    message = f"the character U+{ord(found[0]):04X} is not allowed in YAML or JSON"
    raise UnreadableText(source.problem("encoding", message, position, "is this file really text, in UTF-8?"))


def pointers_in(text: str, key: str, name: str) -> Mapping[str, str]:
    """Return the pointers of the objects in the list under *key*, by the value of their property *name*."""
    try:
        whole: JSON = read_data(text)
    except ValueError:
        return {}
    parts = whole.get(key) if isinstance(whole, dict) else None
    listed = enumerate(parts) if isinstance(parts, list) else ()
    return MappingProxyType(
        {str(part.get(name)): f"/{key}/{index}" for index, part in listed if isinstance(part, dict)}
    )
