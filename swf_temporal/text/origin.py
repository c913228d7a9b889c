"""The text that something was read from, and where that stands."""

from hashlib import sha256

from swf_temporal.base.errors import Position, Problem, Severity


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
