"""What becomes of the definitions in a folder: `python -m tests.migration FOLDER`.

Each is run as it is, in the mode of SonataFlow, and as `swf migrate --write` writes it, in a simulation in which every
function answers with an object, and every event comes: whether it is accepted, and whether it comes to the same
output, calls and produced events in the mode and written. Exits with 1 if one does not, and no finding says why.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from swf_temporal import Definition, InvalidDefinition, SwfError, check, load, simulate
from swf_temporal.base.files import DEFINITIONS
from swf_temporal.migration.contents import Part
from swf_temporal.migration.migrate import migrate, write
from swf_temporal.migration.project import project_at
from swf_temporal.migration.report import Migration
from swf_temporal.text.fetching.resources import Resources, in_mode

_ENDINGS: Final = (".json", ".yaml", ".yml")
_EVENTS: Final = 3
"""How many of each event come."""


def outcome(definition: Definition, others: Iterable[Definition] = ()) -> tuple[Any, ...]:
    """Return how a simulation ends, with which data, calls and produced events; *others* may be sub-workflows."""
    beside = {one.id: one for one in others if one.id != definition.id}
    known = (definition, *beside.values())
    ended = simulate(
        definition,
        {},
        functions={one.function.name: {"answer": 1} for each in known for one in each.functions},
        events=[
            {"id": f"{one.type}-{number}", "type": one.type, "source": one.source or "test", "data": {"told": number}}
            for each in known
            for one in each.consumed_events
            for number in range(_EVENTS)
            if one.type
        ],
        definitions=beside.values(),
        secrets={name: "made-up" for each in known for name in each.secrets},
        max_steps=500,
    )
    error = None if ended.error is None else (ended.error.name, ended.error.state)
    produced = [(one["type"], one.get("data")) for one in ended.produced_events]
    return ended.status, error, ended.output if error is None else None, sorted(map(repr, ended.calls)), produced


def readable(path: Path, mode: Any = None) -> Definition | None:
    with suppress(InvalidDefinition, SwfError):
        return load(path, resources=in_mode(mode))
    return None


def tried(folder: Path) -> tuple[Counter[str], list[str]]:
    """Return counts, and the definitions that come to something else without a finding."""
    counts, wrong = Counter[str](), []
    for project in projects(folder):
        with tempfile.TemporaryDirectory() as place:
            try:
                migration = migrate(project)
                write(migration, Path(place))
            except SwfError:
                counts["projects that are not written"] += 1
                continue
            found, without = _compared(project, migration, Path(place))
            counts += found
            wrong += [str(project / name) for name in without]
    return counts, wrong


def projects(folder: Path) -> list[Path]:
    """Return what is migrated as one: each folder with `src/main/resources`, and each other folder with definitions."""
    files = [one for one in sorted(folder.rglob("*")) if one.suffix in _ENDINGS and one.is_file()]
    return list(
        dict.fromkeys(_project_of(one, folder) for one in files if one.name.endswith(DEFINITIONS) or _is_manifest(one))
    )


def _is_manifest(file: Path) -> bool:
    return file.suffix != ".json" and "kind: SonataFlow" in file.read_text(errors="replace")


def _project_of(file: Path, folder: Path) -> Path:
    for parent in file.parents:
        if (parent / "src/main/resources") in file.parents:
            return parent
        if parent == folder:
            break
    return file.parent


def _compared(project: Path, migration: Migration, written: Path) -> tuple[Counter[str], list[str]]:
    found = project_at(project)
    parts = {part.name: part for part in found.parts if part.path.parent == project or found.root != project}
    as_is = dict(_read(parts.values(), found.root, None))
    in_the_mode = dict(_read(parts.values(), found.root, "sonataflow"))
    migrated = {name: one for name, part in parts.items() if (one := readable(written / part.place)) is not None}
    counts = Counter({
        "definitions": len(parts),
        "accepted as they are": len(as_is),
        "accepted in the mode": len(in_the_mode),
        "accepted once written": len(migrated),
    })  # fmt: skip
    wrong = []
    for name in in_the_mode.keys() & migrated.keys():
        there = outcome(in_the_mode[name], in_the_mode.values())
        here = outcome(migrated[name], migrated.values())
        if name in as_is and there == outcome(as_is[name], as_is.values()):
            counts["the same as they are"] += 1
        if there == here:
            counts["the same once written"] += 1
        elif migration.worst(name) in ("differs", "by hand"):
            counts["different with a finding"] += 1
        else:
            counts["different without a finding"] += 1
            wrong.append(name)
    return counts, wrong


def _read(parts: Iterable[Part], root: Path, mode: Any) -> Iterator[tuple[str, Definition]]:
    resources = Resources(folders=(root,), mode=mode)
    for part in parts:
        with suppress(SwfError):
            definition = check(part.text, name=part.name, folder=part.path.parent, resources=resources).definition
            if definition is not None:
                yield part.name, definition


def lines(counts: Mapping[str, int], wrong: Iterable[str], seconds: float) -> Iterator[str]:
    for what in (
        "definitions", "accepted as they are", "accepted in the mode", "accepted once written",
        "the same as they are", "the same once written", "different with a finding", "different without a finding",
        "projects that are not written",
    ):  # fmt: skip
        yield f"{what}: {counts.get(what, 0)}"
    yield from wrong
    yield f"{seconds:.1f} s"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.migration", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    began = time.monotonic()
    found, without = tried(parser.parse_args().folder)
    sys.stdout.write("\n".join([*lines(found, without, time.monotonic() - began), ""]))
    sys.exit(bool(without))
