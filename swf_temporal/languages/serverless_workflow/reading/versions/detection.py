"""Tells by its shape which version of the language a document is written in, and what gives that away.

The number that a document says cannot tell alone: 0.8 and the text after it both say "0.8", the oldest need not say
any, and some say a wrong one. So the keys decide, as far as only some versions have them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from swf_temporal.errors import Position, Problem, Severity
from swf_temporal.languages.serverless_workflow.reading.versions.foreign import Foreign, foreign
from swf_temporal.languages.serverless_workflow.reading.versions.marks import Giveaway, Marked, marked
from swf_temporal.text.located import Object
from swf_temporal.text.origin import Source

NUMBERS: Final = ("0.5", "0.6", "0.7", "0.8", "0.8-next")
"""The versions that are told apart by their marks, the oldest first."""

PRESENT: Final = "0.8"
"""The version of a document that neither says one nor has a mark."""

_TOLERANT: Final = ("0.7", "0.8", "0.8-next")
"""The versions in which older words are tolerated: they give no other version away."""


@dataclass(frozen=True, slots=True)
class Detected:
    """The version that a document is written in."""

    title: str
    """What people call it, such as "Serverless Workflow 0.6"."""
    version: str
    """What `languageVersion` is of such a definition; empty where it is none that is read here."""
    giveaway: Giveaway | None = None
    """What shows it; None if the document neither says a version nor has a mark."""
    foreign: Foreign | None = None
    """The language or draft, if it has a reader of its own, or none."""
    contradiction: "Contradiction | None" = None
    """What the document says of its version, if its shape says another."""

    @property
    def is_refused(self) -> bool:
        """Whether it is a language, or a draft, that is not read here."""
        return self.foreign is not None and self.foreign.reader is None

    @property
    def position(self) -> Position:
        """Where it shows."""
        return Position() if self.giveaway is None else self.giveaway.position


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A number that the document says, though its shape is that of another version."""

    key: str
    version: str
    position: Position
    marked: Marked

    def problem(self, source: Source, read_as: str) -> Problem:
        """Return the warning that the definition is read as *read_as*."""
        mark, giveaway = self.marked.mark, self.marked.giveaway
        history = f"came with {mark.since}" if mark.since is not None else f"is of {mark.until} and before"
        message = (
            f"{self.key} says {self.version!r}, but {giveaway.key!r} in line {giveaway.position.line} {history}: "
            f"the definition is read as {read_as}"
        )
        return source.problem("spec-version", message, self.position, None, Severity.WARNING)


def detect(root: Object) -> Detected:
    """Return the version that *root* is written in."""
    other = foreign(root)
    if other is not None:
        return Detected(other[0].title, other[0].version, other[1], foreign=other[0])
    key = next((key for key in ("specVersion", "schemaVersion") if key in root), "")
    number = str(root[key]).removeprefix("v") if key else ""
    declared = next((one for one in NUMBERS if number.startswith(one)), None)
    found = marked(root)
    version, against = _version(declared, found)
    shown = None if against is not None else _showing(version, found)
    if shown is None and declared is not None and against is None:
        shown = Giveaway(key, root.where.key(key))
    contradiction = Contradiction(key, str(root[key]), root.where.value(key), against) if against and key else None
    if against is not None:
        shown = against.giveaway
    return Detected(f"Serverless Workflow {version}", version, shown, contradiction=contradiction)


def _version(declared: str | None, found: Sequence[Marked]) -> tuple[str, Marked | None]:
    """Return the version of a document that says *declared*, and the mark that speaks against that, if it counts."""
    decisive = next((one for one in found if one.mark.is_decisive), None)
    if decisive is not None and decisive.mark.until is not None:
        return decisive.mark.until, None if declared in (None, decisive.mark.until) else decisive
    latest = max((one for one in found if one.mark.since), key=lambda one: _rank(one.mark.since), default=None)
    earliest = min((one for one in found if one.mark.until), key=lambda one: _rank(one.mark.until), default=None)
    if declared is None:
        return _unsaid(earliest, latest), None
    if declared == PRESENT and latest is not None and latest.mark.since == NUMBERS[-1]:
        return NUMBERS[-1], None
    if latest is not None and _rank(latest.mark.since) > _rank(declared):
        # Words of both kinds: what the document says of itself decides.
        return (declared if earliest is not None else _at_least(latest), latest)
    if earliest is not None and earliest.mark.until is not None and _rank(earliest.mark.until) < _rank(declared):
        return (declared, None) if declared in _TOLERANT else (earliest.mark.until, earliest)
    return declared, None


def _unsaid(earliest: Marked | None, latest: Marked | None) -> str:
    since = _rank(None if latest is None else latest.mark.since)
    if earliest is not None and earliest.mark.until is not None and since <= _rank(earliest.mark.until):
        return earliest.mark.until
    return NUMBERS[max(since, _rank(PRESENT))]


def _at_least(latest: Marked) -> str:
    """Return the version of a document that has words of *latest*, and says an older one."""
    return NUMBERS[max(_rank(latest.mark.since), _rank(PRESENT if _rank(latest.mark.since) > 1 else None))]


def _showing(version: str, found: Sequence[Marked]) -> Giveaway | None:
    """Return what shows *version*, and no other: of several marks the first in the document."""
    of_it = [one.giveaway for one in found if version in (one.mark.until, one.mark.since) and version != PRESENT]
    return min(of_it, key=lambda one: (one.position.line, one.position.column), default=None)


def _rank(version: str | None) -> int:
    return -1 if version is None else NUMBERS.index(version)
