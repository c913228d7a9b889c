"""What a migration found, and how bad that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["rewritten", "differs", "by hand"]
KINDS: Final[tuple[Kind, ...]] = ("rewritten", "differs", "by hand")
"""Means the same as it is written now; is left as it was, and does something else; needs a person."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing in one file."""

    file: str
    """Its path, relative to the project."""
    line: int | None
    kind: Kind
    message: str
    hint: str | None = None
    """What to write, or to look at."""


@dataclass(frozen=True, slots=True)
class MigratedFile:
    """A file that is written in the place of another one, or anew."""

    path: str
    """Relative to the folder that is written."""
    content: bytes


@dataclass(frozen=True, slots=True)
class Migration:
    """What is found in a project, and what is written in its place."""

    definitions: tuple[str, ...]
    """The files, or parts of files, that hold definitions."""
    findings: tuple[Finding, ...]
    files: tuple[MigratedFile, ...]

    def worst(self, definition: str) -> Kind | None:
        """Return the worst kind of finding in *definition*; None if it runs as it is."""
        kinds = [one.kind for one in self.findings if one.file == definition]
        return max(kinds, key=KINDS.index, default=None)

    def of(self, kind: Kind) -> Sequence[Finding]:
        """Return the findings of a *kind*."""
        return [one for one in self.findings if one.kind == kind]
