"""Sources of definitions, positions in them, values that know their positions, and documents that they include.

Reading does not access files or the network by itself: the reader passes a `Fetch`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, TypeAlias

from swf_temporal.base.errors import InvalidDefinition, Position, Problem, Severity, SwfError
from swf_temporal.base.strict_json import finite, write_json


class Source:
    """The text of a definition and its origin."""

    __slots__ = ("_lines", "digest", "name", "text")

    def __init__(self, text: str, name: str = "<definition>") -> None:
        self.text = text
        self.name = name
        """A path, a URL, or a word in angle brackets."""
        self.digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        self._lines: list[str] | None = None

    def problem(
        self,
        code: str,
        message: str,
        position: Position,
        hint: str | None = None,
        severity: Severity = Severity.ERROR,
    ) -> Problem:
        """Return a problem at *position* of this text, with its line."""
        if self._lines is None:
            self._lines = self.text.splitlines()
        line = self._lines[position.line - 1] if 0 < position.line <= len(self._lines) else ""
        return Problem(code, message, position, severity, hint, self.name, line)


UNWRITTEN = Source("")
"""The source of a definition that was not read from a text."""


class Where:
    """The positions of a node and of each key in it."""

    __slots__ = ("inside", "keys", "position")

    def __init__(self, position: Position, keys: dict[str, tuple[Position, Position]]) -> None:
        self.position = position
        self.keys = keys
        """The positions of each key, by its present name, and of its value."""
        self.inside: dict[tuple[str | int, ...], Position] = {}
        """The positions of deeper elements, in free-form values and in lists of texts, by their paths."""

    def key(self, name: str) -> Position:
        """Return the position of the key *name*, or that of the node if it was not written."""
        return self.keys[name][0] if name in self.keys else self.position

    def value(self, name: str) -> Position:
        """Return the position of the value of the key *name*, or that of the node if it was not written."""
        return self.keys[name][1] if name in self.keys else self.position

    def at(self, name: str, *path: str | int) -> Position:
        """Return the position of the element at *path* inside the value of the key *name*."""
        return self.inside.get((name, *path)) or self.value(name)


NOWHERE = Where(Position(), {})


@dataclass(frozen=True, slots=True)
class Resource:
    """A document that a definition names by its URI."""

    location: str
    """The path or URL that it was read from, for messages."""
    content: bytes = field(repr=False)


Fetch: TypeAlias = Callable[[str], Resource]
"""A function that returns the document at a URI, as written in the definition. Raises one of the errors below."""


class ResourceError(SwfError):
    """A document cannot be read. `reason` continues a sentence after its URI: `…, which …`."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        self.reason = reason
        self.hint = hint
        super().__init__(reason)


class MissingResourceError(ResourceError):
    def __init__(self) -> None:
        super().__init__("which does not exist")


class ForbiddenResourceError(ResourceError):
    """The operator does not allow definitions to read from there."""


class NoCatalogError(ForbiddenResourceError):
    """The operator has no default catalog."""

    def __init__(self) -> None:
        super().__init__("and there is no default catalog", "the setting SWF_RESOURCE_CATALOG names its folder or URL")


class UnreadableResourceError(ResourceError):
    """A resource exists, or should, and cannot be read. Takes the cause."""

    def __init__(self, cause: str) -> None:
        super().__init__(f"which cannot be read: {cause}")


UNREADABLE: Final = "external-unreadable"
"""The code of the problem of a definition that includes such a document."""


DEFAULT_CATALOG: Final = "catalog:"
"""The beginning of URIs of documents in the operator's default catalog."""


def nothing(uri: str) -> Resource:
    """Refuse all documents: for texts without an origin. Fetching from the web is forbidden."""
    if uri.startswith(DEFAULT_CATALOG):
        raise NoCatalogError
    if uri.lower().startswith(("http:", "https:")):
        raise ForbiddenResourceError("and this definition may not fetch anything", FROM_HOSTS)
    raise MissingResourceError


FROM_HOSTS = "the setting SWF_RESOURCE_HOSTS names the allowed hosts"
FROM_FOLDERS = "the setting SWF_RESOURCE_FOLDERS or --resources names other folders that may be read"


LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""The line endings of YAML and Python."""

JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")

MAX_DEPTH = 100
"""The nesting limit of a definition: deeper ones are accidents or attacks."""


class UnreadableText(InvalidDefinition):
    """A text is neither YAML nor JSON, or contains no definition."""

    def __init__(self, problem: Problem, *, perhaps_yaml: bool = False) -> None:
        super().__init__([problem])
        self.problem = problem
        self.perhaps_yaml = perhaps_yaml
        """Whether the cause is invalid in JSON but valid in YAML, such as a key without quotes."""


class Object(dict[str, Any]):
    """An object that knows the positions of itself, its keys and their values."""

    __slots__ = ("where",)

    def __init__(self, position: Position) -> None:
        super().__init__()
        self.where = Where(position, {})

    def put(self, key: str, value: Any, places: tuple[Position, Position]) -> None:
        """Set *key*, written at the first of *places*, to *value*, written at the second."""
        self[key] = value
        self.where.keys[key] = places

    def take(self, key: str) -> tuple[Any, tuple[Position, Position]]:
        """Remove *key*; return its value and the positions of both: those of the object if they were not written."""
        return self.pop(key), self.where.keys.pop(key, (self.where.position, self.where.position))

    def rename(self, old: str, new: str) -> None:
        """Rename the key *old* to *new*, keeping its position."""
        self[new] = self.pop(old)
        if old in self.where.keys:
            self.where.keys[new] = self.where.keys.pop(old)


class Array(list[Any]):
    """A list that knows the positions of its elements."""

    __slots__ = ("positions",)

    def __init__(self, items: Sequence[Any] = (), positions: Sequence[Position] = ()) -> None:
        super().__init__(items)
        self.positions = list(positions)


def objects_in(items: Any) -> list[Object]:
    """Return the objects in the list *items*; none if it is not a list."""
    return [item for item in items if isinstance(item, Object)] if isinstance(items, list) else []


class WrittenFloat(float):
    """A number in a different notation than Python's. It keeps its text, for places that expect one, as in 1.10."""

    text: str

    def __str__(self) -> str:
        return self.text


def number_of(text: str) -> float:
    """Return *text* as a number. Raises NotJSON."""
    number = finite(text)
    if repr(number) == text or not JSON_NUMBER.fullmatch(text):
        return number
    written = WrittenFloat(number)
    written.text = text
    return written


def written(value: Any) -> str:
    """Return *value* as JSON, with numbers as they were written."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{write_json(key)}: {written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return value.text if isinstance(value, WrittenFloat) else write_json(value)


def plain(value: Any) -> Any:
    """Return *value* as plain JSON without positions."""
    if isinstance(value, WrittenFloat):
        return float(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def with_floats(value: Any, convert: Callable[[float], Any]) -> Any:
    """Replace each float in *value* by the result of *convert*, in place, and return *value*."""
    if isinstance(value, float):
        return convert(value)
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        value[key] = with_floats(item, convert)
    return value


def duplicate_key(key: str, first: Position, again: Position) -> tuple[str, str, Position, str]:
    """Return code, message, position and hint of a key that is written twice in one object."""
    hint = f"first at line {first.line}, column {first.column}"
    return "duplicate-key", f"the key {key!r} is written twice", again, hint
