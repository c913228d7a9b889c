"""The report of a migration: as text, as JSON, and as an HTML page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final, Literal

from swf_temporal.base.grammar import counted

Kind = Literal["rewritten", "differs", "by hand"]
Task = Literal["files", "definitions", "functions", "settings", "secrets"]
TASKS: Final[tuple[Task, ...]] = ("files", "definitions", "functions", "settings", "secrets")
"""The subjects of manual work, in the order in which it is done."""
KINDS: Final[tuple[Kind, ...]] = ("rewritten", "differs", "by hand")
"""Same meaning in another form; left unchanged, with other behaviour; needs manual work. From best to worst."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing in one file."""

    file: str
    """Its path, relative to the project."""
    line: int | None
    kind: Kind
    message: str
    hint: str | None = None
    """Advice on what to write or to check."""
    start: str | None = None
    """The beginning of what to write or to run, to be copied."""
    task: Task = "settings"
    """Its subject, if it needs manual work."""
    written: str | None = None
    """The path of the file that is written, if the line is one of that file."""

    @property
    def place(self) -> str:
        """Its file, which may be the one that is written, and the line if that is known."""
        file = self.written or self.file.partition("#")[0]
        return file if self.line is None else f"{file}:{self.line}"


@dataclass(frozen=True, slots=True)
class MigratedFile:
    """A file that replaces another one, or is new."""

    path: str
    """Relative to the folder that is written."""
    content: bytes


@dataclass(frozen=True, slots=True)
class Migration:
    """The findings in a project, and the files that replace it."""

    definitions: tuple[str, ...]
    """The files, or parts of files, that contain definitions."""
    findings: tuple[Finding, ...]
    files: tuple[MigratedFile, ...]

    def worst(self, definition: str) -> Kind | None:
        """Return the worst kind of finding in *definition*; None if it runs unchanged."""
        kinds = [one.kind for one in self.findings if one.file == definition]
        return max(kinds, key=KINDS.index, default=None)

    def of(self, kind: Kind) -> Sequence[Finding]:
        """Return the findings of a *kind*."""
        return [one for one in self.findings if one.kind == kind]

    @property
    def would_change(self) -> Sequence[str]:
        """The definitions that are rewritten."""
        files = {one.file for one in self.of("rewritten")}
        return [one for one in self.definitions if one in files]

    @property
    def tasks(self) -> Sequence[Finding]:
        """The manual work, in the order in which it is done; work that several files need is listed once."""
        found: dict[tuple[str, str], Finding] = {}
        for one in sorted(self.of("by hand"), key=lambda one: TASKS.index(one.task)):
            found.setdefault((one.place, one.message), one)
        return [*found.values()]


MEANINGS: Final = {
    "rewritten": "has the same meaning, in the form of the specification",
    "differs": "is left unchanged, and behaves differently here",
    "by hand": "has no counterpart, and needs manual work",
}
"""The meaning of each kind of finding."""
_VERDICTS: Final = {
    None: "runs as it is",
    "rewritten": "runs once it is rewritten",
    "differs": "runs, with differences",
    "by hand": "needs a hand",
}
_SEVERAL: Final = (("runs", "run"), ("needs", "need"), ("it is", "they are"))
"""The words of a verdict on one definition, and on several."""
_STYLE: Final = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid #8884; padding: .3rem .6rem; text-align: left; vertical-align: top; }
td:first-child { white-space: nowrap; }
.differs { color: light-dark(#8a5a00, #f0b84a); }
.by-hand { color: light-dark(#a40000, #ff8a80); }
.rewritten { color: light-dark(#2c5e2e, #8fcf91); }
.hint { opacity: .75; }
"""


def verdicts(migration: Migration) -> dict[str, str]:
    """Return the verdict on each definition."""
    return {name: _VERDICTS[migration.worst(name)] for name in migration.definitions}


def summary(migration: Migration) -> str:
    """Return how many definitions run, and how many findings there are of each kind."""
    counts = Counter(verdicts(migration).values())
    told = ", ".join(_counted(counts[verdict], verdict) for verdict in _VERDICTS.values() if counts[verdict])
    return f"{counted(len(migration.definitions), 'definition')}: {told}"


def _counted(number: int, verdict: str) -> str:
    for one, several in () if number == 1 else _SEVERAL:
        verdict = verdict.replace(one, several)
    return f"{number} {verdict}"


def as_text(migration: Migration, written: Path | None = None) -> str:
    """Return one line for each finding, below its file, a summary, and what is left to do in the folder *written*."""
    told = verdicts(migration)
    files = dict.fromkeys([*migration.definitions, *(one.file for one in migration.findings)])
    lines = []
    for file in files:
        lines.append(f"{file}: {told[file]}" if file in told else file)
        lines += [f"  {_line(one)}" for one in migration.findings if one.file == file]
    return "\n".join([*lines, "", summary(migration), *_tasks(migration, written), ""])


def as_check(migration: Migration) -> str:
    """Return which definitions would change, a summary, and what is left to do."""
    changed = [f"{name} would be rewritten" for name in migration.would_change]
    return "\n".join([*changed, summary(migration), *_tasks(migration), ""])


def _tasks(migration: Migration, written: Path | None = None) -> list[str]:
    """Return lines with what is left to do, in order, each with its place and the beginning of it."""
    lines, tasks = [], migration.tasks
    last = {one.start: one for one in tasks}
    for number, one in enumerate(tasks, 1):
        place = one.place
        if one.written is not None:
            place = f"{place} once written" if written is None else f"{written.as_posix()}/{place}"
        lines.append(f"{number:3}. {place}: {one.message}{f' ({one.hint})' if one.hint else ''}")
        if last[one.start] is one:  # several properties are one secret
            lines += [f"       {line}" for line in (one.start or "").splitlines()]
    return ["", "What is left to do:", *lines] if lines else []


def _line(one: Finding) -> str:
    place = "" if one.line is None else f"line {one.line}: " if one.written is None else f"written line {one.line}: "
    hint = f" ({one.hint})" if one.hint else ""
    return f"{one.kind:9}  {place}{one.message}{hint}"


def as_data(migration: Migration) -> dict[str, Any]:
    """Return the report as JSON."""
    return {
        "definitions": [{"file": name, "verdict": verdict} for name, verdict in verdicts(migration).items()],
        "findings": [
            {
                "file": one.file, "kind": one.kind, "message": one.message,
                **({} if one.line is None else {"line": one.line}),
                **({} if one.hint is None else {"hint": one.hint}),
                **({} if one.start is None else {"start": one.start}),
                **({} if one.written is None else {"written": one.written}),
            }
            for one in migration.findings
        ],
        "tasks": [
            {
                "task": one.task, "place": one.place, "message": one.message,
                **({} if one.start is None else {"start": one.start}),
            }
            for one in migration.tasks
        ],
        "files": [one.path for one in migration.files],
    }  # fmt: skip


def as_html(migration: Migration) -> str:
    """Return the report as an HTML page."""
    told = verdicts(migration)
    files = dict.fromkeys([*migration.definitions, *(one.file for one in migration.findings)])
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Migration report</title>',
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>Migration report</h1>\n<p>{escape(summary(migration))}</p>",
        "<dl>" + "".join(f"<dt>{kind}</dt><dd>{MEANINGS[kind]}</dd>" for kind in KINDS) + "</dl>",
    ]
    for file in files:
        verdict = f": {told[file]}" if file in told else ""
        parts.append(f"<h2>{escape(file)}{escape(verdict)}</h2>")
        found = [one for one in migration.findings if one.file == file]
        if found:
            rows = "".join(map(_row, found))
            parts.append(f"<table><thead><tr><th>kind<th>line<th>finding</thead><tbody>{rows}</tbody></table>")
    if migration.tasks:
        tasks = "".join(map(_task, migration.tasks))
        parts.append(f"<h2>What is left to do</h2>\n<ol>{tasks}</ol>")
    return "\n".join([*parts, "</body>\n</html>\n"])


def _task(one: Finding) -> str:
    hint = f' <span class="hint">{escape(one.hint)}</span>' if one.hint else ""
    start = f"<pre>{escape(one.start)}</pre>" if one.start else ""
    return f"<li>{escape(one.place)}: {escape(one.message)}{hint}{start}"


def _row(one: Finding) -> str:
    hint = f' <span class="hint">{escape(one.hint)}</span>' if one.hint else ""
    line = "" if one.line is None else one.line
    kind = one.kind.replace(" ", "-")
    return f'<tr><td class="{kind}">{one.kind}<td>{line}<td>{escape(one.message)}{hint}'
