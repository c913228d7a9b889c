"""Sources of definitions, positions in them, and documents that they include.

Reading does not access files or the network by itself: the reader passes a `Fetch`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, TypeAlias

from swf_temporal.base.errors import Position, Problem, Severity, SwfError


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
