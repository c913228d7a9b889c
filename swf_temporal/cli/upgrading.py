"""The command `swf upgrade`."""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from enum import Enum, auto
from functools import partial
from pathlib import Path
from typing import Any

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.base.files import STDIN, is_folder, read_bytes, refuse_outside, why_unreadable
from swf_temporal.base.grammar import listed
from swf_temporal.cli.output import OutputFormat, print_data, styled
from swf_temporal.languages.base import UpgradeChange, Upgraded
from swf_temporal.languages.known import upgrade
from swf_temporal.languages.loading import files_at
from swf_temporal.text.fetching.resources import Resources
from swf_temporal.text.origin import Source

_COLOURS = {"respelled": None, "changed": "cyan", "differs": "yellow", "inexpressible": "red"}
_LABELS = {"inexpressible": "cannot be expressed"}


class Mode(Enum):
    """The form in which a rewritten definition is output."""

    PRINT = auto()
    CHECK = auto()
    DIFF = auto()
    WRITE = auto()


@dataclass(frozen=True, slots=True)
class _Rewritten:
    """A file, and the result of rewriting it."""

    path: Path
    before: str
    result: Upgraded

    @property
    def name(self) -> str:
        return "<stdin>" if self.path == STDIN else str(self.path)

    @property
    def changes(self) -> Sequence[UpgradeChange]:
        """The changes in the order of their lines, before them those of the whole definition."""
        return sorted(self.result.changes, key=lambda change: change.line or 0)

    @property
    def is_changed(self) -> bool:
        return self.result.text != self.before


def upgrade_all(
    paths: Iterable[Path], to: str | None, mode: Mode, form: OutputFormat, namespace: str | None = None
) -> int:
    """Rewrite the definitions at *paths*, report the changes, and return the exit code."""
    found = [_rewritten(path, to, namespace) for path in _files(paths, mode)]
    if mode is Mode.PRINT and form is OutputFormat.TEXT and len(found) > 1:
        raise UsageError(
            f"there are {len(found)} definitions", "use --write, --diff or --check for more than one definition"
        )
    for one in found:
        if mode is Mode.WRITE and one.is_changed and one.result.is_complete:
            _replace(one)
    if form is OutputFormat.TEXT:
        for one in found:
            _show(one, mode)
    else:
        print_data([_facts(one, mode) for one in found], form)
    is_refused = mode is Mode.CHECK and any(one.is_changed for one in found)
    return int(is_refused or not all(one.result.is_complete for one in found))


def _files(paths: Iterable[Path], mode: Mode) -> list[Path]:
    """Return the definitions at *paths*. Raises UsageError for links by which files elsewhere would be replaced."""
    found: list[Path] = []
    for path in paths:
        inside = files_at(path)
        for file in inside if mode is Mode.WRITE else ():
            if file != STDIN:
                _refuse_outside(file, path if is_folder(path) else path.parent)
        if not inside:
            raise UsageError(f"there is no definition in {path}", "definitions are JSON or YAML files with states")
        found += inside
    return found


def _refuse_outside(file: Path, folder: Path) -> None:
    try:
        refuse_outside(file, folder)
    except OSError as error:
        raise UsageError(f"{file} is not replaced: {error.strerror}", "name the file itself") from None


def _rewritten(path: Path, to: str | None, namespace: str | None) -> _Rewritten:
    try:
        content = sys.stdin.buffer.read() if path == STDIN else read_bytes(path)
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {why_unreadable(error)}") from None
    if path == STDIN:
        return _Rewritten(path, text, upgrade(Source(text, "<stdin>"), to, namespace))
    fetch = partial(Resources.from_environment(os.environ).fetch, base=path.parent)
    return _Rewritten(path, text, upgrade(Source(text, str(path)), to, namespace, fetch))


def _replace(one: _Rewritten) -> None:
    if one.path == STDIN:
        raise UsageError("what is on stdin cannot be replaced", "leave --write out to print the definition")
    try:
        with one.path.open("w", encoding="utf-8", newline="") as file:
            file.write(one.result.text)
    except OSError as error:
        raise UsageError(f"{one.path} cannot be written: {error.strerror}") from None


def _show(one: _Rewritten, mode: Mode) -> None:
    if mode is Mode.PRINT:
        typer.echo(one.result.text, nl=not one.result.text.endswith("\n"))
    elif mode is Mode.DIFF:
        lines = (one.before.splitlines(keepends=True), one.result.text.splitlines(keepends=True))
        typer.echo("".join(unified_diff(*lines, one.name, one.name)), nl=False)
    for change in one.changes:
        word = styled(_LABELS.get(change.kind, change.kind), sys.stderr, fg=_COLOURS[change.kind])
        place = one.name if change.line is None else f"{one.name}:{change.line}"
        typer.echo(f"{place}: {word}: {change.message}{_also_in(change)}", err=True)
    typer.echo(f"{one.name}: {_outcome(one, mode)}", err=True)


def _also_in(change: UpgradeChange) -> str:
    if not change.also:
        return ""
    return f" (also in {'line' if len(change.also) == 1 else 'lines'} {listed([str(line) for line in change.also])})"


def _outcome(one: _Rewritten, mode: Mode) -> str:
    if not one.is_changed:
        return f"{one.result.version}, nothing to change"
    if not one.result.is_complete:
        return f"{one.result.version}, some of it cannot be expressed" + (
            ": not replaced" if mode is Mode.WRITE else ""
        )
    done = {Mode.PRINT: "rewritten", Mode.WRITE: "replaced", Mode.DIFF: "would change", Mode.CHECK: "would change"}
    versions = dict.fromkeys((one.result.version, one.result.to or one.result.version))
    return f"{' to '.join(versions)}, {done[mode]}"


def _facts(one: _Rewritten, mode: Mode) -> dict[str, Any]:
    return {
        "file": one.name,
        "from": one.result.version,
        "to": one.result.to,
        "changed": one.is_changed,
        "replaced": mode is Mode.WRITE and one.is_changed and one.result.is_complete,
        "changes": [
            {
                "kind": change.kind,
                "message": change.message,
                **({} if change.line is None else {"line": change.line}),
                **({"also": list(change.also)} if change.also else {}),
            }
            for change in one.changes
        ],
        **({"text": one.result.text} if mode is Mode.PRINT else {}),
    }
