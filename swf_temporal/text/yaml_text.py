"""What does a YAML text say, and where does it say it?

Scalars are read as JSON has them, in the way of YAML 1.2: `on`, `yes`, dates and numbers with leading zeros
are texts. Aliases are copied, so that every object stands in one place; what they may grow to is bounded.
"""

import re
from typing import Any, NoReturn

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

from swf_temporal.errors import Position
from swf_temporal.text.located import MAX_DEPTH, Array, Object, Unreadable, duplicate_key
from swf_temporal.text.origin import Source
from swf_temporal.text.yaml_errors import LOADER, explain

LARGEST = 50_000
"""How many values a definition may hold once its aliases are written out."""

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?")
_WORDS = dict.fromkeys(("", "~", "null", "Null", "NULL")) | {
    spelling(str(truth)): truth for truth in (True, False) for spelling in (str.lower, str.title, str.upper)
}
_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq")}


def read_yaml(text: str, source: Source) -> Any:
    """Return what *text* says, as Objects and Arrays that know their places. Raises Unreadable."""
    reader = _Reader(text, source)
    try:
        return reader.document()
    except yaml.YAMLError as error:
        raise Unreadable(explain(error, source)) from None


class _Reader:
    def __init__(self, text: str, source: Source) -> None:
        self.source = source
        self.events = LOADER(text)
        self.anchors: dict[str, Any] = {}
        self.count = 0

    def next(self) -> Event:
        event = self.events.get_event()
        if event is None:  # the stream has ended, and document() does not read past that
            raise yaml.YAMLError
        return event

    def fail(self, code: str, message: str, position: Position, hint: str | None = None) -> NoReturn:
        raise Unreadable(self.source.problem(code, message, position, hint))

    def document(self) -> Any:
        self.next()
        event = self.next()
        if not isinstance(event, DocumentStartEvent):
            self.fail("empty", "there is no definition here: the text holds only comments", Position())
        value = self.value(self.next(), 0)
        self.next()
        event = self.next()
        if isinstance(event, DocumentStartEvent):
            message = "a second document starts here: a file holds one definition"
            self.fail("syntax", message, _position(event), "put it in a file of its own")
        return value

    def value(self, event: Event, depth: int) -> Any:
        self.count += 1
        value: Any
        if isinstance(event, ScalarEvent):
            value = self.scalar(event)
        elif isinstance(event, AliasEvent):
            return self.alias(event)
        elif depth >= MAX_DEPTH:
            self.fail("syntax", f"nested deeper than {MAX_DEPTH} levels", _position(event))
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
            self.fail("syntax", f"the tag {tag} is not understood: a definition is plain data", _position(event))
        if event.style or (tag and tag.endswith((":str", "!"))):
            return event.value
        return _plain_scalar(event.value)

    def alias(self, event: AliasEvent) -> Any:
        if event.anchor not in self.anchors:
            message = f"the alias *{event.anchor} stands before, or inside, what it refers to"
            self.fail("syntax", message, _position(event))
        return self.copied(self.anchors[event.anchor], event)

    def copied(self, value: Any, event: Event) -> Any:
        self.count += 1
        if self.count > LARGEST:
            message = f"the aliases write out to more than {LARGEST:,} values"
            self.fail("syntax", message, _position(event))
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
            if not isinstance(event, ScalarEvent):
                self.fail("syntax", "a key must be a text", _position(event))
            key, place = event.value, _position(event)
            event = self.next()
            value = self.value(event, depth)
            if key == "<<" and isinstance(value, Object | Array):
                merged.append((value, place))
            elif key in found:
                self.fail(*duplicate_key(key, found.where.key(key), place))
            else:
                found.put(key, value, (place, _position(event)))
        for value, place in merged:
            self.merge(found, value, place)
        return found

    def merge(self, found: Object, value: Any, place: Position) -> None:
        for other in value if isinstance(value, Array) else [value]:
            if not isinstance(other, Object):
                self.fail("syntax", "what << merges in must be an object, or a list of objects", place)
            for key, item in other.items():
                if key not in found:
                    found.put(key, item, other.where.keys[key])


def _position(event: Event) -> Position:
    mark = event.start_mark
    return Position(mark.line + 1, mark.column + 1) if mark else Position()


def _plain_scalar(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "0123456789+-.":
        return text
    try:
        if _INTEGER.fullmatch(text):
            return int(text, 0)
        number = float(text) if _FLOAT.fullmatch(text) else None
    except ValueError:  # Python reads no integer of more than 4,300 digits
        return text
    return text if number is None or number in (float("inf"), float("-inf")) else number
