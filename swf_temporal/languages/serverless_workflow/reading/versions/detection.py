"""Tells by its shape which version of the language a document is written in, and what gives that away.

The number that a document says cannot tell alone: 0.8 and the text after it both say "0.8", the oldest need not say
any, and some say a wrong one. So the keys decide, as far as only some versions have them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from swf_temporal.errors import Position, Problem, Severity
from swf_temporal.languages.serverless_workflow.reading.versions.foreign import Foreign, foreign
from swf_temporal.languages.serverless_workflow.reading.versions.marks import Giveaway, Marked, marked
from swf_temporal.text.located import Object
from swf_temporal.text.model_errors import describe_value
from swf_temporal.text.origin import Source

NUMBERS: Final = ("0.5", "0.6", "0.7", "0.8", "0.8-next")
"""The versions that are told apart by their marks, the oldest first."""

PRESENT: Final = "0.8"
"""The version of a document that neither says one nor has a mark."""

_TOLERANT: Final = ("0.7", "0.8", "0.8-next")
"""The versions in which older words are tolerated: they give no other version away."""

_UNSAID: Final = ("0.5", "0.6")
"""The versions in which a definition need not say its own."""

_NOTHING_TELLS: Final = ", since nothing else tells its version"
_LATER: Final = "1.0 is another language, with 'document' and 'do', and does not run here; if this is 0.8, write that"


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
    giveaway: Giveaway
    history: str
    """Which versions the giveaway is of, in words."""
    is_of_draft: bool = False
    """Whether that is a draft, which has no number to write."""

    def problem(self, source: Source, read_as: str) -> Problem:
        """Return the warning that the definition is read as *read_as*."""
        place = f"{self.giveaway.key!r} in line {self.giveaway.position.line}"
        message = f"{self.key} says {self.version!r}, but {place} {self.history}: the definition is read as {read_as}"
        correction = f"remove {self.key}" if self.is_of_draft else f"write {read_as!r}"
        hint = f"{correction}, or replace {self.giveaway.key!r} by what {self.version} has for it"
        return source.problem("spec-version", message, self.position, hint, Severity.WARNING)


def detect(root: Object) -> Detected:
    """Return the version that *root* is written in."""
    other = foreign(root)
    if other is not None:
        return _in_draft(root, *other)
    key, declared = _declared(root)
    found = marked(root)
    version, against = _version(declared, found)
    shown = None if against is not None else _showing(version, found)
    if shown is None and declared is not None and against is None:
        shown = Giveaway(key, root.where.key(key))
    contradiction = None
    if against is not None and key:
        contradiction = _contradiction(root, key, against.giveaway, _history(against))
    if against is not None:
        shown = against.giveaway
    return Detected(f"Serverless Workflow {version}", version, shown, contradiction=contradiction)


def _declared(root: Object) -> tuple[str, str | None]:
    """Return the key with the version that *root* says it is of, and which of `NUMBERS` that is, if it is one."""
    key = next((key for key in ("specVersion", "schemaVersion") if key in root), "")
    number = str(root[key]).removeprefix("v") if key else ""
    return key, next((one for one in NUMBERS if number.startswith(one)), None)


def _in_draft(root: Object, found: Foreign, giveaway: Giveaway) -> Detected:
    key, declared = _declared(root)
    contradiction = None
    if declared is not None or key == "specVersion":
        contradiction = replace(_contradiction(root, key, giveaway, f"is of {found.title}"), is_of_draft=True)
    return Detected(found.title, found.version, giveaway, foreign=found, contradiction=contradiction)


def _contradiction(root: Object, key: str, giveaway: Giveaway, history: str) -> Contradiction:
    return Contradiction(key, str(root[key]), root.where.value(key), giveaway, history)


def _history(marked: Marked) -> str:
    mark = marked.mark
    return f"came with {mark.since}" if mark.since is not None else f"is of {mark.until} and before"


def version_problem(root: Object, detected: Detected, source: Source) -> Problem | None:
    """Return what is to be said of the version that *root* says it is of, or does not say; it is read as *detected*."""
    if detected.contradiction is not None:
        return detected.contradiction.problem(source, detected.version)
    key, declared = _declared(root)
    if detected.foreign is not None or declared is not None:
        return None
    if not key:
        return None if detected.version in _UNSAID else _unnamed(root, detected, source)
    number = str(root[key]).removeprefix("v")
    said = repr(root[key]) if isinstance(root[key], str) else describe_value(root[key])
    reason = f", as {detected.giveaway.key!r} shows" if detected.giveaway is not None else _NOTHING_TELLS
    message = f"{key} is {said}, which is not a version that is known: the definition is read as {detected.version}"
    hint = _LATER if number.startswith("1") else f"write '{detected.version}' if that is meant"
    return source.problem("spec-version", message + reason, root.where.value(key), hint, Severity.WARNING)


def _unnamed(root: Object, detected: Detected, source: Source) -> Problem:
    message = f"the workflow has no specVersion: it is read as {detected.version}"
    message += _NOTHING_TELLS if detected.giveaway is None else f", as {detected.giveaway.key!r} shows"
    said = PRESENT if detected.version == NUMBERS[-1] else detected.version
    hint = f"write 'specVersion: \"{said}\"'"
    return source.problem("spec-version", message, root.where.position, hint, Severity.WARNING)


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
