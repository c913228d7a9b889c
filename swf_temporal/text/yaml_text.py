"""Reads YAML 1.2, with positions for texts that messages are about.

Scalars have the types of JSON: `on`, `yes`, dates and numbers with leading zeros are texts. `read_yaml` copies aliases,
so that every object has one position; `read_plain_yaml` shares them. Their expanded size is limited.
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
from swf_temporal.base.errors import Position, Problem
from swf_temporal.base.strict_json import HALF, NotJSON, finite, integer
from swf_temporal.text.origin import MAX_DEPTH, Array, Object, Source, UnreadableText, duplicate_key, number_of

LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader

_OPEN = "this text has no closing quote"
_ENDLESS = "found unexpected end of stream"
_TOO_DEEP = "exceeded maximum nesting depth"
_QUOTES = ("'", '"')
_HOLDS_MORE = re.compile(r"[:,]\s|\n")
"""A pattern of texts whose closing quote is probably missing: they contain another key or element."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TAB = "YAML is indented with spaces: replace the tab"
_MORE = "there is more after the end of the definition"
_EXPLAINED = {
    "mapping values are not allowed": (
        "a colon cannot stand here",
        "is a line above indented differently, or does a text with ': ' need quotes?",
    ),
    "found character that cannot start any token": (
        "this character cannot start a value",
        "put the text in quotes",
    ),
    "did not find expected key": (
        "a key is expected here",
        "is this line indented like the ones it belongs to, and are quotes and brackets closed?",
    ),
    "did not find expected '-' indicator": (
        "an element of a list is expected here",
        "start the line with '- ', or indent it like the keys it belongs to",
    ),
    "could not find expected ':'": ("a colon is missing after a key", "write 'key: value'"),
    "found undefined alias": ("this alias refers to nothing", None),
    "did not find expected ',' or": ("a comma or a closing bracket is missing", None),
    "did not find expected node content": (
        "a value is missing here",
        "is a bracket not closed, or is there a comma too many?",
    ),
    "found unknown escape character": (
        "a backslash in double quotes must be doubled",
        "or put the text in single quotes, where a backslash means itself",
    ),
    "block sequence entries are not allowed": (
        "a list cannot start here",
        "put the '-' on a separate line, indented under its key",
    ),
    "did not find expected <document start>": (_MORE, None),
}  # fmt: skip


def is_of_surrogate(error: yaml.YAMLError, text: str) -> bool:
    """Return whether libyaml met half of a surrogate pair, which it does not read: JSON may escape characters so."""
    mark = getattr(error, "problem_mark", None)
    return mark is not None and _SURROGATE.match(text, max(mark.index - 2, 0)) is not None


def where_too_deep(error: yaml.YAMLError) -> int | None:
    """Return the offset at which brackets exceed the nesting limit of libyaml, from 0.2.6 on; None for other errors."""
    mark = getattr(error, "problem_mark", None)
    return mark.index if mark is not None and getattr(error, "problem", None) == _TOO_DEEP else None


def explain(error: yaml.YAMLError, source: Source) -> Problem:
    """Return the problem for *error*, in words for the author of *source*."""
    opened, mark = getattr(error, "context_mark", None), getattr(error, "problem_mark", None)
    mark = mark or opened
    problem_text = str(getattr(error, "problem", None) or "this is not YAML")
    if opened is not None and problem_text == _ENDLESS:
        return source.problem("syntax", _OPEN, _position_of_error(opened))
    position = Position() if mark is None else _position_of_error(mark)
    message, hint = next(
        (explained for known, explained in _EXPLAINED.items() if known in problem_text), (problem_text, None)
    )
    if message == _MORE and _is_indented(source.text):
        message, hint = "this line is indented less than the first one", "indent them alike"
    problem = source.problem("syntax", message, position, hint)
    if _tabbed(problem):
        return source.problem("syntax", message, position, _TAB)
    return (None if mark is None else _open_before(mark, source)) or problem


def _open_before(mark: yaml.Mark, source: Source) -> Problem | None:
    """Return the problem of a missing closing quote, if a text ends at *mark* where another one probably begins.

    Such a text ends at the opening quote of the next one, whose content is then outside of quotes, and causes YAML's
    error.
    """
    text, last = source.text.removeprefix("\ufeff"), None
    try:
        for token in yaml.scan(text, Loader=LOADER):
            if token.start_mark.index >= mark.index:
                break
            last = token
    except yaml.YAMLError:
        pass  # the error that is being explained
    if not isinstance(last, yaml.ScalarToken) or last.style not in _QUOTES or last.end_mark.index != mark.index:
        return None
    if not _HOLDS_MORE.search(text[last.start_mark.index : last.end_mark.index]):
        return None
    hint = f"it ends at the next quote, in line {last.end_mark.line + 1}, column {last.end_mark.column}"
    return source.problem("syntax", _OPEN, _position_of_error(last.start_mark), hint)


def _is_indented(text: str) -> bool:
    """Return whether the first line that is not blank begins with a space."""
    lines = (line for line in text.removeprefix("\ufeff").splitlines() if not line.lstrip().startswith(("#", "---")))
    return next((line for line in lines if line.strip()), "").startswith(" ")


def _position_of_error(mark: yaml.Mark) -> Position:
    return Position(mark.line + 1, mark.column + 1)


def _tabbed(problem: Problem) -> bool:
    indentation = problem.line[: len(problem.line) - len(problem.line.lstrip())]
    return "\t" in indentation or problem.line[problem.position.column - 1 : problem.position.column] == "\t"


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
    """Parse *text* into Objects and Arrays that know their positions. Raises UnreadableText."""
    return _read(_Reader, text, source)


def read_plain_yaml(text: str, source: Source) -> Any:
    """Parse *text* into dictionaries and lists; None if it is empty. Raises UnreadableText."""
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
        # The library's own limit, deeper than ours, fails while reading ahead: report ours to the author.
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
        if event is None:  # the stream has ended; document() does not read past that
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
            self.fail("syntax", message, _position(event), "put it in a separate file")
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
            self.fail("syntax", f"the tag {tag} is not supported: only plain data is", _position(event))
        if tag.endswith((":str", "!")) if tag else event.style:
            return self.text(event)
        try:
            return _plain_scalar(event.value, self.number)
        except NotJSON as error:
            self.fail("syntax", str(error), _position(event))

    def text(self, event: ScalarEvent) -> str:
        """Return a text in which pairs of surrogate escapes, as in JSON, are combined into one character."""
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
            message = f"the alias *{event.anchor} is before, or inside, what it refers to"
            self.fail("syntax", message, _position(event))
        return self.copied(self.anchors[event.anchor], event)

    def add(self, values: int, event: Event) -> None:
        """Count the *values* of an expanded alias."""
        self.count += values
        if self.count > self.max_values:
            message = f"the aliases expand to more than {self.max_values:,} values"
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
        """Return a key as written: the status in `200: {…}` is a text, like every name in JSON."""
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
    """Reads texts that may be large and untrusted, without positions."""

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
        """Return *value* itself: it is shared, not copied."""
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
