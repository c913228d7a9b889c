"""The work and the output of `swf compat`."""

import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Severity
from swf_temporal.base.files import STDIN
from swf_temporal.base.strict_json import show_json
from swf_temporal.cli.output import OutputFormat, in_columns, print_data, styled
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.operations.compat import Comparison, DefinitionChange, compare, named
from swf_temporal.operations.instance_history import replay_files, replay_found
from swf_temporal.sdk.definitions import catalogue_of, load_given, resources_of
from swf_temporal.sdk.logs import be_quiet
from swf_temporal.temporal.client_errors import refusals_as_usage_errors
from swf_temporal.temporal.replaying import ReplayedRun
from swf_temporal.text.fetching.resources import Resources

_LONG = 60
_COLOURS = {Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """The arguments of a comparison, and the format of its output."""

    old: str | None
    new: str | None
    definitions: Sequence[Path]
    histories: Path | None
    query: str | None
    limit: int
    strict: bool
    resources: Iterable[Path] | None
    form: OutputFormat
    address: str | None
    namespace: str | None


async def look(wanted: ComparisonRequest) -> int:
    """Compare definitions and replay histories; print the results, and return the exit code."""
    be_quiet()
    readable = resources_of(wanted.resources)
    comparison = None
    if wanted.old is not None and wanted.new is not None:
        old, new = (_definition(one, wanted.definitions, readable) for one in (wanted.old, wanted.new))
        comparison = compare(old, new)
    replayed = [one async for one in _replayed(wanted)]
    is_looked_at = wanted.histories is not None or wanted.query is not None
    if wanted.form is OutputFormat.TEXT:
        for line in _text(comparison, replayed if is_looked_at else None):
            typer.echo(line)
    else:
        facts = {} if comparison is None else comparison.to_json()
        if is_looked_at:
            facts["instances"] = [_facts(one, comparison) for one in replayed]
        print_data(facts, wanted.form)
    warnings = comparison is not None and any(one.severity is Severity.WARNING for one in comparison.consequences)
    return int(any(one.failure for one in replayed) or (wanted.strict and warnings))


def _definition(name: str, folders: Sequence[Path], resources: Resources) -> Definition:
    path = Path(name)
    if path == STDIN or path.is_file() or not folders:
        return load_given(path, resources)
    return named(catalogue_of(folders, resources), name)


async def _replayed(wanted: ComparisonRequest) -> AsyncIterator[ReplayedRun]:
    if wanted.histories is not None:
        async for one in replay_files(wanted.histories):
            yield one
    if wanted.query is not None:
        client = await Client.connect(wanted.address, namespace=wanted.namespace)
        with refusals_as_usage_errors():
            async for one in replay_found(client, wanted.query, wanted.limit):
                yield one


def _text(comparison: Comparison | None, replayed: list[ReplayedRun] | None) -> Iterator[str]:
    if comparison is not None:
        yield from _of_definitions(comparison)
    if replayed is None:
        return
    if comparison is not None:
        yield ""
    yield from _of_instances(replayed, comparison)


def _of_definitions(comparison: Comparison) -> Iterator[str]:
    yield f"{_title(comparison.old)} → {_title(comparison.new)}"
    for change in comparison.changes:
        yield f"  {_change_text(change)}"
    yield ""
    for one in comparison.consequences:
        word = styled(f"{one.severity!s:7}", sys.stdout, fg=_COLOURS[one.severity], bold=True)
        yield f"{word}  {one.message}  [{one.code}]"


def _of_instances(replayed: list[ReplayedRun], comparison: Comparison | None) -> Iterator[str]:
    head = ("id", "definition", "version", "text", "state", "semantics", "format", "written by", "can continue")
    rows = [[_cell(_row(one, comparison)[name]) for name in head] for one in replayed]
    if rows:
        yield from in_columns(head, rows)
    failed = [one for one in replayed if one.failure is not None]
    for one in failed:
        yield f"{one.workflow_id} ({one.run_id}): {one.failure}"
    count = Counter(one.failure is None for one in replayed)
    yield f"{count[True]} of {len(replayed)} can continue with this release"


def _row(one: ReplayedRun, comparison: Comparison | None) -> dict[str, Any]:
    return {
        "id": one.workflow_id,
        "definition": one.workflow_type,
        "version": one.version,
        "text": _which(one, comparison) or (one.digest or "")[:_DIGITS],
        "state": one.state if one.has_begun else "(not begun)",
        "semantics": one.semantics,
        "format": one.format,
        "written by": ", ".join(one.builds),
        "can continue": "no" if one.failure else "yes",
    }


def _facts(one: ReplayedRun, comparison: Comparison | None) -> dict[str, JSON]:
    facts: dict[str, JSON] = {
        "id": one.workflow_id,
        "runId": one.run_id,
        "definition": one.workflow_type,
        "version": one.version,
        "digest": one.digest,
        "state": one.state,
        "semantics": one.semantics,
        "format": one.format,
        "builds": list(one.builds),
        "replays": one.failure is None,
    }
    if comparison is not None:
        facts["text"] = _which(one, comparison)
    if one.failure is not None:
        facts["failure"] = one.failure
    return facts


def _which(one: ReplayedRun, comparison: Comparison | None) -> str | None:
    """Return which of the two texts an instance has, `old` or `new`; None if it has another."""
    if comparison is None or one.digest is None:
        return None
    return {comparison.new.digest: "new", comparison.old.digest: "old"}.get(one.digest)


def _title(definition: Definition) -> str:
    version = f" {definition.version}" if definition.version else ""
    return f"{definition.id}{version} ({definition.source.name})"


def _change_text(change: DefinitionChange) -> str:
    place = " › ".join(change.path)
    match change.kind:
        case "changed":
            return f"{place}: {_short(change.old)} → {_short(change.new)}"
        case "renamed":
            return f"{place}: renamed from {change.old}"
        case _:
            return f"{place}: {change.kind}"


def _short(value: JSON) -> str:
    text = show_json(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def _cell(value: Any) -> str:
    return "" if value is None else str(value)
