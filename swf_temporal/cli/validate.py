"""`swf validate`: what is wrong with these definitions?"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from swf_temporal.cli.definitions import files_in, resources_of
from swf_temporal.cli.documents import missing_from_files
from swf_temporal.cli.options import ResourceFolders, Strict
from swf_temporal.errors import Problem, Severity, UsageError
from swf_temporal.fetching.resources import Resources
from swf_temporal.loading import check_file, conflicting

EXAMPLES = {"validate": "Example: swf validate workflows/ --strict"}

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


class Format(StrEnum):
    """How problems are written."""

    TEXT = "text"
    JSON = "json"


def validate(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Definitions, and folders of definitions.")],
    form: Annotated[Format, typer.Option("--format", help="How to write the problems, on stdout.")] = Format.TEXT,
    strict: Strict = False,
    resources: ResourceFolders = None,
) -> None:
    """Say everything that is wrong with definitions.

    Documents of functions are looked at where they are files on this machine; nothing is fetched. Exits with 0 if the
    definitions can run, with 1 if they cannot, and with 2 if a file cannot be read.
    """
    groups = list(_groups(paths))
    readable = resources_of(resources)
    # Several definitions may name one document: what is wrong with that is told once.
    problems = list(dict.fromkeys(problem for group in groups for problem in _problems(group, readable)))
    if form is Format.JSON:
        typer.echo(json.dumps([_as_json(problem) for problem in problems], indent=2, ensure_ascii=False))
    else:
        _show(problems)
    typer.echo(_summary(sum(map(len, groups)), problems), err=True)
    if any(strict or problem.severity is Severity.ERROR for problem in problems):
        raise typer.Exit(1)


def _problems(group: Iterable[Path], readable: Resources) -> Iterator[Problem]:
    checked = [check_file(file, resources=readable) for file in group]
    for one in checked:
        yield from one.problems
    workflows = [one.workflow for one in checked if one.workflow is not None]
    yield from conflicting(workflows)
    yield from missing_from_files(workflows, readable)


def _groups(paths: Iterable[Path]) -> Iterator[list[Path]]:
    """Yield files that are served together: those of a folder, and each that is named by itself."""
    for path in paths:
        if path.is_dir():
            inside = files_in(path)
            if not inside:
                raise UsageError(f"there is no definition in {path}", "definitions are JSON or YAML files with states")
            yield inside
        else:
            yield [path]


def _show(problems: list[Problem]) -> None:
    coloured = sys.stdout.isatty()
    for problem in problems:
        text = str(problem)
        if coloured:
            word = f"  {problem.severity}  "
            text = re.sub(re.escape(word), typer.style(word, fg=_COLOURS[problem.severity], bold=True), text, count=1)
        typer.echo(text)


def _summary(files: int, problems: list[Problem]) -> str:
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    counts = [_count(files, "definition"), _count(errors, "error"), _count(len(problems) - errors, "warning")]
    return ", ".join(counts)


def _count(number: int, thing: str) -> str:
    return f"{number or 'no'} {thing}{'' if number == 1 else 's'}"


def _as_json(problem: Problem) -> dict[str, Any]:
    return {
        "file": problem.file,
        "line": problem.position.line,
        "column": problem.position.column,
        "severity": str(problem.severity),
        "code": problem.code,
        "message": problem.message,
        "hint": problem.hint,
    }
