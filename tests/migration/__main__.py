"""What becomes of the definitions in a folder: `python -m tests.migration FOLDER`.

Each is tried as it is, in the mode of SonataFlow, and as `swf migrate` writes it: whether it can run, and whether a
simulation, in which every function returns an object, comes to the same in the mode and migrated. Exits with 1 if one
comes to something else without a finding.
"""

import argparse
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from swf_temporal import Definition, InvalidDefinition, SwfError, check, load, simulate
from swf_temporal.fetching.resources import in_mode
from swf_temporal.migration.migrate import migrate
from swf_temporal.migration.project import project_at


def outcome(definition: Definition) -> tuple[str, Any]:
    """Return how a simulation ends, and with which data; functions answer with the same object."""
    functions = {one.function.name: {"answer": 1} for one in definition.functions}
    ended = simulate(definition, {}, functions=functions, max_steps=500)
    error = None if ended.error is None else (ended.error.name, ended.error.state)
    return ended.status, ended.output if error is None else error


def readable(path: Path, mode: Any = None) -> Definition | None:
    """Return the definition in the file at *path*, if it can run."""
    with suppress(InvalidDefinition, SwfError):
        return load(path, resources=in_mode(mode))
    return None


def tried(folder: Path) -> tuple[Counter[str], list[str]]:
    """Return counts, and the files that come to something else without a finding."""
    counts, wrong = Counter[str](), []
    for file in sorted(folder.rglob("*.sw.*")):
        if file.suffix not in (".json", ".yaml", ".yml"):
            continue
        counts["files"] += 1
        migration = migrate(file)
        counts["accepted as they are"] += readable(file) is not None
        in_the_mode = readable(file, "sonataflow")
        counts["accepted in the mode"] += in_the_mode is not None
        migrated = _migrated(migration, file)
        counts["accepted once migrated"] += migrated is not None
        if in_the_mode is None or migrated is None:
            continue
        if outcome(in_the_mode) == outcome(migrated):
            counts["the same in both"] += 1
        elif migration.of("differs") or migration.of("by hand"):
            counts["different with a finding"] += 1
        else:
            counts["different without a finding"] += 1
            wrong.append(str(file))
    return counts, wrong


def _migrated(migration: Any, file: Path) -> Definition | None:
    [part] = project_at(file).parts
    text = next(one.content for one in migration.files if one.path == part.place).decode()
    return check(text, name=str(file), folder=file.parent).definition


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.migration", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    began = time.monotonic()
    found, without = tried(parser.parse_args().folder)
    lines = [*(f"{what}: {count}" for what, count in found.items()), *without, f"{time.monotonic() - began:.1f} s"]
    sys.stdout.write("\n".join([*lines, ""]))
    sys.exit(bool(without))
