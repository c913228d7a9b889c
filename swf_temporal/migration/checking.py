"""What is wrong with a migrated project, checked as it is written: in a folder, where a worker would read it."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.base.files import DEFINITIONS
from swf_temporal.functions.documents.local_documents import file_named
from swf_temporal.languages.loading import check_file, conflicting, files_in
from swf_temporal.languages.port import Definition
from swf_temporal.migration.contents import Part
from swf_temporal.migration.report import Finding, Kind, MigratedFile, Task
from swf_temporal.text.fetching.resources import Resources

_TOLD: Final = frozenset({"foreign-operation", "extension", "identity", "tolerated-spelling", "unused-definition"})
"""The codes of problems that have another finding already, or that change nothing."""

_MISSING: Final = frozenset({"external-missing", "function-document"})
"""The codes of problems that are files which are not there."""


_REPEATED: Final = frozenset({"expression-syntax", "secrets-in-expression"})
"""The codes of problems that repeat a finding of the same part, which is by hand already."""


def checked(
    files: Iterable[MigratedFile], definitions: Mapping[str, Part], told: Mapping[str, tuple[str, ...]]
) -> list[Finding]:
    """Return the problems of the definitions in *files*, of which *definitions* has the originals by path.

    *told* has what findings begin with that there are already, by path.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        for one in files:
            path = folder / one.path
            if path.resolve().is_relative_to(folder):  # others are refused when they are written
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(one.content)
        return [_finding(one, folder, definitions) for one in _problems(folder, definitions, told)]


def _problems(folder: Path, definitions: Mapping[str, Part], told: Mapping[str, tuple[str, ...]]) -> Iterator[Problem]:
    environment = {**os.environ, "SWF_RESOURCE_FOLDERS": str(folder), "SWF_MODE": ""}
    resources = Resources.from_environment(environment)
    found: list[Definition] = []
    for file in files_in(folder):
        place = file.relative_to(folder).as_posix()
        one = check_file(file, resources=resources, folder=folder)
        for each in one.problems if place in definitions else ():
            is_repeated = each.code in _REPEATED and each.message.startswith(told.get(place, ()))
            if each.code not in _TOLD and not is_repeated:
                yield each
        if place not in definitions and one.definition is None and not file.name.endswith(DEFINITIONS):
            message = "a worker takes this file for a definition, and refuses it"
            yield Problem("no-definition", message, Position(), hint="keep it elsewhere", file=str(file))
        if one.definition is not None:
            found.append(one.definition)
    yield from conflicting(found)
    for definition in found:
        yield from _missing(definition, folder)


def _missing(definition: Definition, folder: Path) -> Iterator[Problem]:
    """Yield a problem for each function whose document is a file that is not there."""
    base = str(Path(definition.source.name).parent)
    for use in definition.functions:
        path = file_named(use.function, base)
        if path is not None and not path.exists():
            name = os.path.relpath(path, folder)
            message = f"function {use.function.name!r}: its document {name!r} is not in the project"
            yield definition.problem("function-document", message, use.position, f"put the file at {name}")


def _finding(problem: Problem, folder: Path, definitions: Mapping[str, Part]) -> Finding:
    path = Path(problem.file)
    place = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else problem.file
    part = definitions.get(place)
    is_missing = problem.code in _MISSING
    kind: Kind = "by hand" if is_missing or problem.severity is Severity.ERROR else "differs"
    message = f"{problem.code}: {problem.message}".replace(f"{folder}/", "")
    hint = None if problem.hint is None else problem.hint.replace(f"{folder}/", "")
    name = place if part is None else part.name
    task: Task = "files" if is_missing else "definitions"
    return Finding(name, problem.position.line, kind, message, hint, task=task, written=place)
