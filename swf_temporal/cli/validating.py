"""The report of `swf validate`.

The command imports it when it runs, so that its help is shown at once.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer

from swf_temporal.base.errors import Problem, Severity, UsageError
from swf_temporal.base.files import STDIN, is_folder
from swf_temporal.base.grammar import counted
from swf_temporal.base.strict_json import show_json
from swf_temporal.cli.output import Progress, print_yaml, styled
from swf_temporal.cli.validate import ReportFormat
from swf_temporal.languages.loading import conflicting, files_in
from swf_temporal.languages.port import Checked
from swf_temporal.sdk.definitions import check_given, resources_of
from swf_temporal.sdk.documents import missing_from_files
from swf_temporal.text.fetching.resources import Resources

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_MANY_FILES, _MANY_BYTES = 20, 500_000
"""The number of files, and of bytes in them, from which progress is shown."""


def validate_all(paths: Iterable[Path], form: ReportFormat, resources: Iterable[Path] | None, *, strict: bool) -> int:
    """Print all problems of the definitions at *paths*; return the exit code."""
    groups = list(_groups(paths))
    if sum(group.count(STDIN) for group in groups) > 1:
        raise UsageError("- is given twice", "stdin has one definition")
    readable = resources_of(resources)
    checked = _checked(groups, readable)
    # Several definitions may name one document, whose problems are reported once.
    problems = list(dict.fromkeys(problem for group in checked for problem in _problems(group, readable)))
    files = [file for group in groups for file in group]
    notes = dict(_notes(files, [one for group in checked for one in group]))
    everything = [*notes, *problems]
    if form is ReportFormat.TEXT:
        _show(everything)
    elif form is ReportFormat.GITHUB:
        from swf_temporal.cli.annotations import github_commands

        typer.echo(github_commands(everything), nl=False)
    elif form is ReportFormat.SARIF:
        from swf_temporal.cli.annotations import sarif_of_problems

        typer.echo(show_json(sarif_of_problems(everything), indent=2))
    else:
        facts = [*({**_facts(note), **more} for note, more in notes.items()), *map(_facts, problems)]
        print_yaml(facts) if form is ReportFormat.YAML else typer.echo(show_json(facts, indent=2))
    typer.echo(_summary(sum(map(len, groups)), problems), err=True)
    return int(any(strict or problem.severity is Severity.ERROR for problem in problems))


def _checked(groups: list[list[Path]], readable: Resources) -> list[list[Checked]]:
    """Return the result of checking each file. With many files, show the progress on stderr."""
    files = [file for group in groups for file in group]
    sizes = {file: _size(file) for file in files}
    progress = Progress() if len(files) >= _MANY_FILES or sum(sizes.values()) >= _MANY_BYTES else None
    checked = []
    number = 0
    for group in groups:
        found = []
        for file in group:
            number += 1
            if progress is not None:
                progress.tell(f"validating {number} of {len(files)}: {file} ({sizes[file] / 1000:,.0f} kB)")
            found.append(check_given(file, readable))
        checked.append(found)
    if progress is not None:
        progress.clear()
    return checked


def _notes(files: Iterable[Path], checked: Iterable[Checked]) -> Iterator[tuple[Problem, dict[str, Any]]]:
    """Yield a note for each definition in a version other than the default, with further facts for programs."""
    for file, one in zip(files, checked, strict=True):
        found = one.written_in
        if found is not None:
            name = "<stdin>" if file == STDIN else str(file)
            message = f"this is {found.title}, which {found.key!r} shows"
            note = Problem("language-version", message, found.position, Severity.NOTE, file=name)
            yield note, {"version": found.version, "key": found.key}


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # reported when it is read
        return 0


def _problems(checked: list[Checked], readable: Resources) -> Iterator[Problem]:
    for one in checked:
        yield from one.problems
    workflows = [one.definition for one in checked if one.definition is not None]
    yield from conflicting(workflows)
    yield from missing_from_files(workflows, readable)


def _groups(paths: Iterable[Path]) -> Iterator[list[Path]]:
    """Yield files that are served together: those of a folder, and each that is given by itself."""
    for path in paths:
        if is_folder(path):
            inside = files_in(path)
            if not inside:
                raise UsageError(f"there is no definition in {path}", "definitions are JSON or YAML files with states")
            yield inside
        else:
            yield [path]


def _show(problems: list[Problem]) -> None:
    for problem in problems:
        word = f"  {problem.severity}  "
        coloured = styled(word, sys.stdout, fg=_COLOURS[problem.severity], bold=True)
        typer.echo(str(problem).replace(word, coloured, 1))


def _summary(files: int, problems: list[Problem]) -> str:
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    counts = [counted(files, "definition"), counted(errors, "error"), counted(len(problems) - errors, "warning")]
    return ", ".join(counts)


def _facts(problem: Problem) -> dict[str, Any]:
    return {
        "file": problem.file,
        "line": problem.position.line,
        "column": problem.position.column,
        "severity": str(problem.severity),
        "code": problem.code,
        "message": problem.message,
        "hint": problem.hint,
    }
