"""Detecting the language version of a document by its shape, and the evidence for it.

The stated version number is not enough: 0.8 and the text after it both say "0.8", the oldest may have none, and some
are wrong. So the keys decide, as far as they exist only in some versions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.languages.serverless_workflow.reading import versions
from swf_temporal.languages.serverless_workflow.reading.versions.before_0_8 import Shape, keyed, within
from swf_temporal.languages.serverless_workflow.reading.versions.marks import (
    VersionEvidence,
    VersionMarker,
    objects_under,
)
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version
from swf_temporal.text.model_errors import describe_value
from swf_temporal.text.origin import Object, Source

# A tuple, because the value of a type may be unhashable.
_DIREKTIV_TYPES = (
    "action", "consumeEvent", "delay", "error", "eventAnd", "eventXor", "generateEvent", "getter", "noop",
    "setter", "validate",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class OtherLanguage:
    """A language whose documents are not read here."""

    title: str
    """Its name for people."""
    shape: Shape
    """The shape that identifies it."""
    hint: str | None = None
    """A hint for the author of such a document."""


def other_language(root: Object) -> tuple[OtherLanguage, VersionEvidence] | None:
    """Return the other language of *root* with the evidence, if it is one."""
    return next(((one, found) for one in FOREIGN if (found := one.shape(root)) is not None), None)


def _resource(root: Object) -> VersionEvidence | None:
    if "states" in root or not all(key in root for key in ("apiVersion", "kind", "spec")):
        return None
    return VersionEvidence("kind", root.where.key("kind"))


def _direktiv(state: Object) -> str | None:
    if "name" in state or "id" not in state:
        return None
    return (
        "type"
        if state.get("type") in _DIREKTIV_TYPES
        else next((k for k in ("transform", "catch") if k in state), None)
    )


FOREIGN: Final = (
    OtherLanguage("Amazon States Language", keyed("StartAt", "States")),
    OtherLanguage(
        "Kubernetes",
        _resource,
        "the definition in a SonataFlow resource is under 'spec.flow': write it to a separate file, with "
        "metadata.name as its id, and a version and specVersion: '0.8'",
    ),
    OtherLanguage("the Direktiv form", within("states", _direktiv)),
)
"""The other languages that are recognised. The first that applies is taken."""


_NO_EVIDENCE: Final = ", since nothing else shows its version"
_LATER: Final = "definitions in 1.0 have 'document' and 'do', and neither an id nor states; if this is 0.8, write that"


@dataclass(frozen=True, slots=True)
class Detected:
    version: Version | None
    """The version; None if it is another language."""
    evidence: VersionEvidence | None = None
    """The evidence; None if the document neither states a version nor has a version marker."""
    other_language: OtherLanguage | None = None
    """The language, if it is one that is not read here."""
    contradicts: str = ""
    """The versions of the evidence, in words, if the document states another one."""

    @property
    def title(self) -> str:
        known = self.version or self.other_language
        return "" if known is None else known.title

    @property
    def position(self) -> Position:
        return Position() if self.evidence is None else self.evidence.position


@dataclass(frozen=True, slots=True)
class _Found:
    """A version marker that was found in a document, with its position."""

    mark: VersionMarker
    version: Version
    is_last: bool
    """Whether the version is the last with this marker, and not the first."""
    evidence: VersionEvidence

    @property
    def rank(self) -> int:
        return _rank(self.version)

    @property
    def history(self) -> str:
        return f"exists only up to {self.version.name}" if self.is_last else f"exists since {self.version.name}"


def detect(root: Object) -> Detected:
    for version in reversed(versions.VERSIONS):
        shown = None if version.shape is None else version.shape(root)
        if shown is not None:
            return _in_draft(root, version, shown)
    other = other_language(root)
    if other is not None:
        return Detected(None, other[1], other_language=other[0])
    key, declared = _declared(root)
    found = _marks_of(root)
    version, against = _version(declared, found)
    if against is not None:
        return Detected(version, against.evidence, contradicts=against.history)
    shown = _showing(version, found)
    if shown is None and declared is not None:
        shown = VersionEvidence(key, root.where.key(key))
    return Detected(version, shown)


def _declared(root: Object) -> tuple[str, Version | None]:
    """Return the key with the version that *root* states, and that version, if it is known."""
    key = next((key for key in ("specVersion", "schemaVersion") if key in root), "")
    return key, versions.numbered(str(root[key])) if key else None


def _in_draft(root: Object, version: Version, evidence: VersionEvidence) -> Detected:
    key, declared = _declared(root)
    contradicts = declared is not None or key == "specVersion"
    return Detected(version, evidence, contradicts=f"belongs to {version.title}" if contradicts else "")


def version_problem(root: Object, detected: Detected, source: Source) -> Problem | None:
    """Return the problem, if any, with the version that *root* states or omits; it is read as *detected*."""
    version = detected.version
    if version is None:
        return None
    key, declared = _declared(root)
    if detected.contradicts and detected.evidence is not None:
        number, shown = str(root[key]), detected.evidence
        message = f"{key} says {number!r}, but {shown.key!r} in line {shown.position.line} {detected.contradicts}"
        correction = f"remove {key}" if version.number is None else f"write {version.number!r}"
        hint = f"replace {shown.key!r} by its equivalent in {number}"
        if version is not declared:
            hint = f"{correction}, or {hint}"
        message = f"{message}: the definition is read as {version.name}"
        return source.problem("spec-version", message, root.where.value(key), hint, Severity.WARNING)
    if version.number is None or declared is not None:
        return None
    reason = _NO_EVIDENCE if detected.evidence is None else f", as {detected.evidence.key!r} shows"
    if not key:
        if not version.must_say_number:
            return None
        message = f"the workflow has no specVersion: it is read as {version.name}{reason}"
        hint = f"write 'specVersion: \"{version.number}\"'"
        return source.problem("spec-version", message, root.where.position, hint, Severity.WARNING)
    said = repr(root[key]) if isinstance(root[key], str) else describe_value(root[key])
    message = f"{key} is {said}, which is not a known version: the definition is read as {version.name}{reason}"
    is_later = str(root[key]).removeprefix("v").startswith("1")
    hint = _LATER if is_later else f"write '{version.number}' if that is meant"
    return source.problem("spec-version", message, root.where.value(key), hint, Severity.WARNING)


def _version(declared: Version | None, found: Sequence[_Found]) -> tuple[Version, _Found | None]:
    """Return the version of a document that states *declared*, and the marker that contradicts it, if one does."""
    decisive = next((one for one in found if one.mark.is_decisive), None)
    if decisive is not None:
        return decisive.version, None if declared in (None, decisive.version) else decisive
    latest = max((one for one in found if not one.is_last), key=lambda one: one.rank, default=None)
    earliest = min((one for one in found if one.is_last), key=lambda one: one.rank, default=None)
    if declared is None:
        return _unsaid(earliest, latest), None
    if latest is not None and latest.rank > _rank(declared):
        if latest.version.number == declared.number:
            return latest.version, None
        # Keys of both kinds: the stated version decides.
        return (declared if earliest is not None else _at_least(latest)), latest
    if earliest is not None and earliest.rank < _rank(declared):
        return (declared, None) if declared.tolerates_older_words else (earliest.version, earliest)
    return declared, None


def _unsaid(earliest: _Found | None, latest: _Found | None) -> Version:
    if earliest is not None and (latest is None or latest.rank <= earliest.rank):
        return earliest.version
    return versions.PRESENT if latest is None else max(latest.version, versions.PRESENT, key=_rank)


def _at_least(latest: _Found) -> Version:
    """Return the version of a document that has the marker *latest*, but states an older version."""
    version = latest.version
    return max(version, versions.PRESENT, key=_rank) if version.tolerates_older_words else version


def _showing(version: Version, found: Sequence[_Found]) -> VersionEvidence | None:
    """Return the evidence for *version* only: the first of its markers in the document."""
    of_it = [one.evidence for one in found if one.version is version and version is not versions.PRESENT]
    return min(of_it, key=lambda one: (one.position.line, one.position.column), default=None)


def _rank(version: Version) -> int:
    return versions.VERSIONS.index(version)


@dataclass(frozen=True, slots=True)
class _MarkedObjects:
    """Objects at one path: the markers that they may have, each with its number, and the keys of nested objects."""

    marks: "dict[str, list[tuple[int, VersionMarker, Version, bool]]]" = field(default_factory=dict)
    inside: "dict[str, _MarkedObjects]" = field(default_factory=dict)


def _marks_of(root: Object) -> list[_Found]:
    """Return the markers in *root*, version by version, each with its first position."""
    found: dict[int, _Found] = {}
    _look(root, _places(versions.VERSIONS), found)
    return [found[number] for number in sorted(found)]


def _look(node: Object, place: _MarkedObjects, found: dict[int, _Found]) -> None:
    """Add the markers of *node* and the objects in it to *found*, by number."""
    for key in node:
        for number, mark, version, is_last in place.marks.get(key, ()):
            if number not in found and mark.holds(node[key]):
                found[number] = _Found(mark, version, is_last, VersionEvidence(key, node.where.key(key)))
        inside = place.inside.get(key)
        if inside is not None:
            for one in objects_under(node, key):
                _look(one, inside, found)


@cache
def _places(known: tuple[Version, ...]) -> _MarkedObjects:
    marks = [
        (mark, version, is_last)
        for version in known
        for of_it, is_last in ((version.first_keys, False), (version.last_keys, True))
        for mark in of_it
    ]
    root = _MarkedObjects()
    for number, (mark, version, is_last) in enumerate(marks):
        place = root
        for key in mark.path.split(".") if mark.path else ():
            place = place.inside.setdefault(key, _MarkedObjects())
        place.marks.setdefault(mark.key, []).append((number, mark, version, is_last))
    return root
