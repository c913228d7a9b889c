"""The effects of a changed definition on running instances, on new ones, and on callers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from swf_temporal.base.data import JSON, identity
from swf_temporal.base.errors import Severity, UsageError
from swf_temporal.drawing.outline import WorkflowRef
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition, EventUse
from swf_temporal.text.origin import plain
from swf_temporal.text.parsing import read_object

_KEYS = ("name", "id")
"""The keys that identify the objects of a list."""

_MISSING = object()


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """A difference between two definitions at one place."""

    path: tuple[str, ...]
    kind: str
    """`added`, `removed`, `changed` or `renamed`."""
    old: JSON = None
    """The old value; the former name of what was renamed."""
    new: JSON = None

    def to_json(self) -> dict[str, JSON]:
        """Return it as JSON, without fields that do not apply."""
        facts: dict[str, JSON] = {"path": list(self.path), "kind": self.kind}
        if self.kind != "added":
            facts["old"] = self.old
        if self.kind in ("added", "changed"):
            facts["new"] = self.new
        return facts


@dataclass(frozen=True, slots=True)
class Consequence:
    """An effect of a changed definition on running instances, senders of events or callers."""

    code: str
    severity: Severity
    message: str

    def to_json(self) -> dict[str, JSON]:
        return {"code": self.code, "severity": str(self.severity), "message": self.message}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two definitions, their differences, and the consequences."""

    old: Definition
    new: Definition
    changes: tuple[DefinitionChange, ...]
    consequences: tuple[Consequence, ...]

    def to_json(self) -> dict[str, JSON]:
        return {
            "old": _facts(self.old),
            "new": _facts(self.new),
            "changes": [one.to_json() for one in self.changes],
            "consequences": [one.to_json() for one in self.consequences],
        }


def compare(old: Definition, new: Definition) -> Comparison:
    """Return the differences between two definitions, and their consequences."""
    changes = tuple(_with_renamed(_differences(_data_of(old), _data_of(new), ())))
    return Comparison(old, new, changes, tuple(_consequences(old, new)))


def named(catalogue: Catalogue, name: str) -> Definition:
    """Return the definition in a catalogue that `ID` or `ID@VERSION` refers to. Raises UsageError."""
    ids = {one.id for one in catalogue}
    workflow_id, version = (name, None) if name in ids or "@" not in name else name.rsplit("@", 1)
    found = [one for one in catalogue if one.id == workflow_id]
    if not found:
        raise UsageError(f"{name!r} is not a file, and no definition has that id", "give a file, or --definitions")
    if version is not None and version not in {one.version for one in found}:
        raise UsageError(f"there is no version {version!r} of {workflow_id!r}")
    return catalogue.find(workflow_id, version)


def _facts(definition: Definition) -> dict[str, JSON]:
    return {
        "id": definition.id,
        "version": definition.version,
        "file": definition.source.name,
        "digest": definition.digest,
    }


def _data_of(definition: Definition) -> Any:
    return plain(read_object(definition.source)[0])


def _differences(old: Any, new: Any, path: tuple[str, ...]) -> Iterator[DefinitionChange]:
    old, new = _by_name(old), _by_name(new)
    if isinstance(old, dict) and isinstance(new, dict):
        for key in (*old, *(key for key in new if key not in old)):
            yield from _differences(old.get(key, _MISSING), new.get(key, _MISSING), (*path, key))
    elif old is _MISSING:
        yield DefinitionChange(path, "added", new=new)
    elif new is _MISSING:
        yield DefinitionChange(path, "removed", old=old)
    elif identity(old) != identity(new):
        yield DefinitionChange(path, "changed", old, new)


def _by_name(value: Any) -> Any:
    """Return a list of named objects as an object, and everything else as it is."""
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        return value
    for key in _KEYS:
        names = [one.get(key) for one in value]
        if all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
            return {one[key]: {other: part for other, part in one.items() if other != key} for one in value}
    return value


def _with_renamed(changes: Iterable[DefinitionChange]) -> Iterator[DefinitionChange]:
    """Yield *changes*, with an addition beside an equal removal merged into a rename."""
    found = list(changes)
    removed = [one for one in found if one.kind == "removed" and len(one.path) > 1]
    for change in found:
        twins = [
            one
            for one in removed
            if change.kind == "added"
            and one.path[:-1] == change.path[:-1]
            and isinstance(change.new, dict)
            and one.old == change.new
        ]
        if twins:
            removed.remove(twins[0])
            found[found.index(change)] = DefinitionChange(change.path, "renamed", old=twins[0].path[-1])
            found.remove(twins[0])
    yield from found


def _consequences(old: Definition, new: Definition) -> Iterator[Consequence]:
    if old.digest == new.digest:
        yield _note("same-text", "the text is the same: nothing changes")
        return
    if old.id != new.id:
        yield _warning(
            "other-id",
            f"{new.id!r} is not the same definition as {old.id!r}: its instances are started by its own id, and "
            f"callers and schedules of {old.id!r} do not find it",
        )
        return
    yield _note(
        "running-instances",
        f"instances of {_named(old)} that are running keep the text that they carry until they end, also when they "
        "continue as new, in what they continue as, and in their sub-workflows; one that is to have the new text is "
        "started again",
    )
    yield from _of_version(old, new)
    yield from _of_schedule(old, new)
    yield from _of_schemas(old, new)
    yield from _of_events(old, new)
    yield from _of_functions(old, new)
    yield from _of_references(old, new)


def _of_version(old: Definition, new: Definition) -> Iterator[Consequence]:
    if old.version == new.version:
        which = f"both texts say version {old.version}" if old.version else "neither text says a version"
        yield _warning(
            "same-version",
            f"{which}: workers that have the one start other instances than workers that have the other, and a caller "
            "that asks for this version gets either; give the new text a higher version",
        )
    elif Catalogue([old, new]).find(old.id) is not new:
        yield _warning(
            "not-the-latest",
            f"version {new.version} comes before {old.version}: a worker that has both starts {old.version} where no "
            "version is asked for",
        )
    else:
        yield _note(
            "new-instances",
            f"instances that are started by the id {new.id!r}, without a version, have the new text once the workers "
            f"have it; callers that ask for version {old.version} need workers that have it still",
        )


def _of_schedule(old: Definition, new: Definition) -> Iterator[Consequence]:
    if old.has_schedule and new.has_schedule:
        what = "starts instances" if old.schedule() == new.schedule() else "keeps its times, and starts instances"
        yield _warning(
            "schedule", f"a schedule on the server {what} with the old text until `swf schedule apply` is run again"
        )
    elif old.has_schedule:
        yield _warning("schedule", f"a schedule on the server keeps the old text until `swf schedule delete {old.id}`")
    elif new.has_schedule:
        yield _note("schedule", "the schedule begins with `swf schedule apply`")


def _of_schemas(old: Definition, new: Definition) -> Iterator[Consequence]:
    if identity(old.input_schema) != identity(new.input_schema):
        yield _warning(
            "input-schema",
            "the input has another schema: clients, schedules, callers and instances that continue as this definition "
            "must provide what it asks for; a schedule passes the data that it was applied with",
        )
    if identity(old.output_schema) != identity(new.output_schema):
        yield _warning("output-schema", "the output has another schema: parents that read it must handle both for now")


def _of_events(old: Definition, new: Definition) -> Iterator[Consequence]:
    gone = _kinds(old, "consumed") - _kinds(new, "consumed")
    if gone:
        yield _warning(
            "events-consumed",
            f"running instances wait for {_listed(gone)}, and new ones do not: "
            "senders must send these until the last of them has ended",
        )
    unsent = _kinds(old, "produced") - _kinds(new, "produced")
    if unsent:
        yield _warning("events-produced", f"new instances no longer send {_listed(unsent)}, but running ones do")


def _of_functions(old: Definition, new: Definition) -> Iterator[Consequence]:
    before, after = ({one.function.name: one.function for one in each.functions} for each in (old, new))
    other = sorted(name for name, function in before.items() if after.get(name) != function)
    if other:
        yield _warning(
            "functions",
            f"running instances call {', '.join(map(repr, other))} as in the old text: keep what they call "
            "until the last of them has ended",
        )
    added, removed = set(new.secrets) - set(old.secrets), set(old.secrets) - set(new.secrets)
    if added:
        yield _warning("secrets", f"workers need the secrets {', '.join(sorted(added))} before instances start")
    if removed:
        yield _note("secrets", f"running instances still need the secrets {', '.join(sorted(removed))}")


def _of_references(old: Definition, new: Definition) -> Iterator[Consequence]:
    for what, before, after in (
        ("calls", old.sub_workflows, new.sub_workflows),
        ("continues as", old.continuations, new.continuations),
    ):
        added = [ref for ref in after if ref not in before]
        if added:
            yield _note(
                "references", f"it {what} {', '.join(map(_reference, added))}: workers, or who starts it, need these"
            )


def _kinds(definition: Definition, kind: str) -> set[EventUse]:
    return {one for one in definition.events if one.kind == kind}


def _listed(events: Iterable[EventUse]) -> str:
    listed = sorted(f"{one.type or one.name!r}" + (f" of {one.source}" if one.source else "") for one in events)
    return ", ".join(listed)


def _named(definition: Definition) -> str:
    return f"{definition.id} {definition.version}" if definition.version else definition.id


def _reference(ref: WorkflowRef) -> str:
    return f"{ref.id} {ref.version}" if ref.version else ref.id


def _note(code: str, message: str) -> Consequence:
    return Consequence(code, Severity.NOTE, message)


def _warning(code: str, message: str) -> Consequence:
    return Consequence(code, Severity.WARNING, message)
