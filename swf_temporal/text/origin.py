"""The text that something was read from, and where that stands.

Reading reaches nothing by itself: the reader hands it a `Fetch`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, TypeAlias

from swf_temporal.base.errors import Position, Problem, Severity, SwfError


class Source:
    """The text of a definition and where it came from."""

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
        """Return a problem at *position* of this text, with the line it is about."""
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
        """For each key, by its present name: where the key stands, and where its value starts."""
        self.inside: dict[tuple[str | int, ...], Position] = {}
        """For what stands deeper in free-form values and in lists of texts: where it starts, by its path."""

    def key(self, name: str) -> Position:
        """Return where the key *name* was written, or the node if it was not."""
        return self.keys[name][0] if name in self.keys else self.position

    def value(self, name: str) -> Position:
        """Return where the value of the key *name* starts, or the node if there is none."""
        return self.keys[name][1] if name in self.keys else self.position

    def at(self, name: str, *path: str | int) -> Position:
        """Return where the element at *path* inside the value of the key *name* starts."""
        return self.inside.get((name, *path)) or self.value(name)


NOWHERE = Where(Position(), {})


@dataclass(frozen=True, slots=True)
class Resource:
    """A document that a definition names by its URI."""

    location: str
    """The path or URL that it was read from, as people are shown it."""
    content: bytes = field(repr=False)


Fetch: TypeAlias = Callable[[str], Resource]
"""Takes a URI as the definition writes it. Raises one of the errors below."""


class ResourceError(SwfError):
    """A document cannot be read. `reason` continues after its URI: `…, which …`."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        self.reason = reason
        self.hint = hint
        super().__init__(reason)


class MissingResourceError(ResourceError):
    def __init__(self) -> None:
        super().__init__("which is not there")


class ForbiddenResourceError(ResourceError):
    """The operator does not let definitions read from there."""


class UnreadableResourceError(ResourceError):
    """A resource that exists, or should, and cannot be read. Takes the cause."""

    def __init__(self, cause: str) -> None:
        super().__init__(f"which cannot be read: {cause}")


UNREADABLE: Final = "external-unreadable"
"""The code of the problem of a definition that includes such a document."""


def nothing(uri: str) -> Resource:
    """Reach nowhere: for texts that came without a place. What would be fetched from elsewhere is forbidden."""
    if uri.lower().startswith(("http:", "https:")):
        raise ForbiddenResourceError("and this definition may fetch nothing", FROM_HOSTS)
    raise MissingResourceError


FROM_HOSTS = "the setting SWF_RESOURCE_HOSTS names the hosts that may be asked"
FROM_FOLDERS = "the setting SWF_RESOURCE_FOLDERS names other folders that may be read, and so does --resources"
