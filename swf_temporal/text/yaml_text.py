"""Reads YAML 1.2: what it says, and for texts that people are told about, where it says it.

Scalars are read as JSON has them: `on`, `yes`, dates and numbers with leading zeros are texts. `read_yaml` copies
aliases, so that every object stands in one place; `read_plain_yaml` shares them. What they may grow to is bounded.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
)

from swf_temporal.base import strict_json
from swf_temporal.base.errors import Position
from swf_temporal.base.strict_json import HALF, NotJSON, finite, integer
from swf_temporal.text.located import MAX_DEPTH, Array, Object, UnreadableText, duplicate_key, number_of
from swf_temporal.text.origin import Source
from swf_temporal.text.yaml_errors import LOADER, explain, is_of_surrogate, where_too_deep

MAX_VALUES = 50_000
"""The limit of values in a definition, with its aliases expanded."""
MAX_PLAIN_VALUES = 5_000_000
"""The limit of values in other texts, with their aliases expanded."""

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?")
_WORDS = dict.fromkeys(("", "~", "null", "Null", "NULL")) | {
    spelling(str(truth)): truth for truth in (True, False) for spelling in (str.lower, str.title, str.upper)
}
_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq")}


def read_yaml(text: str, source: Source) -> Any:
    """Return what *text* says, as Objects and Arrays that know their places. Raises Unreadable."""
    return _read(_Reader, text, source)


def read_plain_yaml(text: str, source: Source) -> Any:
    """Return what *text* says, as dictionaries and lists; None if it says nothing. Raises Unreadable."""
    return _read(_PlainReader, text, source)


def write_yaml(value: Any) -> str:
    """Return *value* as YAML, its keys in their order."""
    text: str = yaml.safe_dump(value, allow_unicode=True, sort_keys=False, default_flow_style=False)
    return text.removesuffix("...\n")


def _read(reader: "type[_Reader]", text: str, source: Source) -> Any:
    try:
        return reader(LOADER(text), source).document()
    except yaml.YAMLError as error:
        if is_of_surrogate(error, text):
            with suppress(yaml.YAMLError, ValueError, OverflowError):
                return reader(yaml.SafeLoader(text), source).document()
        if (limit := where_too_deep(error)) is None:
            raise UnreadableText(explain(error, source)) from None
        # The library looks ahead to its own limit, which is further down than ours: ours is what the author is told.
        return _read(reader, text[:limit], source)


class _Reader:
    max_depth: ClassVar[int] = MAX_DEPTH
    max_values: ClassVar[int] = MAX_VALUES

    def __init__(self, events: "yaml.CSafeLoader | yaml.SafeLoader", source: Source) -> None:
        self.source = source
        self.events = events
        self.anchors: dict[str, Any] = {}
        self.count = 0

    def next(self) -> Event:
        event = self.events.get_event()
        if event is None:  # the stream has ended, and document() does not read past that
            raise yaml.YAMLError
        return event

    def fail(self, code: str, message: str, position: Position, hint: str | None = None) -> NoReturn:
        raise UnreadableText(self.source.problem(code, message, position, hint))

    def document(self) -> Any:
        self.next()
        event = self.next()
        if not isinstance(event, DocumentStartEvent):
            return self.nothing()
        value = self.value(self.next(), 0)
        self.next()
        event = self.next()
        if isinstance(event, DocumentStartEvent):
            message = "a second document starts here: a file holds one"
            self.fail("syntax", message, _position(event), "put it in a file of its own")
        return value

    def nothing(self) -> Any:
        self.fail("empty", "there is no definition here: the text holds only comments", Position())

    def value(self, event: Event, depth: int) -> Any:
        self.count += 1
        value: Any
        if isinstance(event, ScalarEvent):
            value = self.scalar(event)
        elif isinstance(event, AliasEvent):
            return self.alias(event)
        elif depth >= self.max_depth:
            self.fail("syntax", f"nested deeper than {self.max_depth} levels", _position(event))
        elif isinstance(event, MappingStartEvent):
            value = self.mapping(event, depth + 1)
        else:
            value = self.sequence(depth + 1)
        if isinstance(event, NodeEvent) and event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def scalar(self, event: ScalarEvent) -> Any:
        tag = event.tag
        if tag and tag not in _TAGS and tag != "!":
            self.fail("syntax", f"the tag {tag} is not understood: only plain data is", _position(event))
        if tag.endswith((":str", "!")) if tag else event.style:
            return self.text(event)
        try:
            return _plain_scalar(event.value, self.number)
        except NotJSON as error:
            self.fail("syntax", str(error), _position(event))

    def text(self, event: ScalarEvent) -> str:
        """Return a text in which pairs of escapes, as JSON writes them, are the character that they stand for."""
        if event.value.isascii() or not HALF.search(event.value):
            return str(event.value)
        try:
            return event.value.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self.fail("syntax", "this text holds half of a pair of \\u escapes", _position(event))

    def number(self, text: str) -> float:
        return number_of(text)

    def alias(self, event: AliasEvent) -> Any:
        if event.anchor not in self.anchors:
            message = f"the alias *{event.anchor} stands before, or inside, what it refers to"
            self.fail("syntax", message, _position(event))
        return self.copied(self.anchors[event.anchor], event)

    def add(self, values: int, event: Event) -> None:
        """Count *values* that an alias stands for."""
        self.count += values
        if self.count > self.max_values:
            message = f"the aliases write out to more than {self.max_values:,} values"
            self.fail("syntax", message, _position(event))

    def copied(self, value: Any, event: AliasEvent) -> Any:
        self.add(1, event)
        if isinstance(value, Object):
            again = Object(value.where.position)
            for key, item in value.items():
                again.put(key, self.copied(item, event), value.where.keys[key])
            return again
        if isinstance(value, Array):
            return Array([self.copied(item, event) for item in value], value.positions)
        return value

    def sequence(self, depth: int) -> Array:
        found = Array()
        while not isinstance(event := self.next(), SequenceEndEvent):
            found.append(self.value(event, depth))
            found.positions.append(_position(event))
        return found

    def mapping(self, event: Event, depth: int) -> Object:
        found = Object(_position(event))
        merged: list[tuple[Any, Position]] = []
        while not isinstance(event := self.next(), MappingEndEvent):
            key, place = self.key(event), _position(event)
            is_merge = _is_merge(event)
            event = self.next()
            value = self.value(event, depth)
            if is_merge:
                merged.append((value, place))
            elif key in found:
                self.fail(*duplicate_key(key, found.where.key(key), place))
            else:
                found.put(key, value, (place, _position(event)))
        for value, place in merged:
            self.merge(found, value, place)
        return found

    def key(self, event: Event) -> str:
        """Return a key as it is written: the status in `200: {…}` is a text, like every name in JSON."""
        if not isinstance(event, ScalarEvent):
            self.fail("syntax", "a key must be a text", _position(event))
        return self.text(event)

    def merge(self, found: Object, value: Any, place: Position) -> None:
        for other in self.merged(value, place):
            for key, item in other.items():
                if key not in found:
                    found.put(key, item, other.where.keys[key])

    def merged(self, value: Any, place: Position) -> list[Any]:
        """Return the objects that `<<: value` merges in."""
        others = value if isinstance(value, list) else [value]
        if not all(isinstance(other, dict) for other in others):
            self.fail("syntax", "what << merges in must be an object, or a list of objects", place)
        return others


class _PlainReader(_Reader):
    """Reads texts that may be large and come from others."""

    max_depth = strict_json.MAX_DEPTH
    max_values = MAX_PLAIN_VALUES

    def __init__(self, events: "yaml.CSafeLoader | yaml.SafeLoader", source: Source) -> None:
        super().__init__(events, source)
        self.sizes: dict[str, int] = {}

    def nothing(self) -> None:
        return None

    def number(self, text: str) -> float:
        return finite(text)

    def value(self, event: Event, depth: int) -> Any:
        before = self.count
        value = super().value(event, depth)
        if isinstance(event, NodeEvent) and event.anchor is not None and not isinstance(event, AliasEvent):
            self.sizes[event.anchor] = self.count - before
        return value

    def copied(self, value: Any, event: AliasEvent) -> Any:
        """Return *value* itself: what is read once need not be held twice."""
        self.add(self.sizes[event.anchor or ""], event)
        return value

    def sequence(self, depth: int) -> Any:
        found = []
        while not isinstance(event := self.next(), SequenceEndEvent):
            found.append(self.value(event, depth))
        return found

    def mapping(self, event: Event, depth: int) -> Any:
        found: dict[str, Any] = {}
        merged: list[tuple[Any, Position]] = []
        while not isinstance(event := self.next(), MappingEndEvent):
            place = _position(event)
            key, value = self.key(event), self.value(self.next(), depth)
            if _is_merge(event):
                merged.append((value, place))
            elif key in found:
                self.fail("duplicate-key", f"the key {key!r} is written twice", place)
            else:
                found[key] = value
        for value, place in merged:
            for other in self.merged(value, place):
                for key, item in other.items():
                    found.setdefault(key, item)
        return found


def _is_merge(event: Event) -> bool:
    return isinstance(event, ScalarEvent) and event.value == "<<" and not event.style


def _position(event: Event) -> Position:
    mark = event.start_mark
    return Position(mark.line + 1, mark.column + 1) if mark else Position()


def _plain_scalar(text: str, number_of: Callable[[str], float]) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "0123456789+-.":
        return text
    if _INTEGER.fullmatch(text):
        return integer(text)
    return number_of(text) if _FLOAT.fullmatch(text) else text
