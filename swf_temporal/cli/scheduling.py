"""The commands of `swf schedule`."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from swf_temporal.base.calendars.moments import InvalidTime, in_zone, parse_time, zone_of
from swf_temporal.base.calendars.previewing import preview
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.cli.output import OutputFormat, in_columns, print_data
from swf_temporal.operations.client import Client
from swf_temporal.operations.schedules import apply, facts_of, listed, still_scheduled
from swf_temporal.temporal import schedules
from swf_temporal.temporal.connecting import why_unserved

if TYPE_CHECKING:
    from swf_temporal.sdk.definitions import Scheduled

_SHOWN = 5
"""The number of upcoming times, and of started instances, that are shown."""


async def apply_all(
    client: Client,
    found: "Scheduled",
    form: OutputFormat,
    *,
    data: JSON,
    task_queue: str | None,
    paused: bool,
) -> int:
    """Create or update the schedules of *found*, and report definitions that still have one on the server."""
    task_queue = task_queue or client.task_queue
    rows = [
        await apply(client, first, others, data=data, task_queue=task_queue, paused=paused)
        for first, *others in found.families
    ]
    if form is OutputFormat.TEXT:
        _show_rows(rows, ("definition", "outcome", "next"))
    else:
        print_data(rows, form)
    for definition_id in await still_scheduled(client, found.others):
        message = f"{definition_id} no longer has a schedule, but the server still starts the text that it had"
        typer.echo(f"warning: {message} (`swf schedule delete {definition_id}` ends that)", err=True)
    if (why := await why_unserved(client.temporal, task_queue)) is not None:
        typer.echo(why, err=True)
    return 0


async def list_all(client: Client, form: OutputFormat) -> int:
    """Show all schedules."""
    rows = await listed(client)
    if form is OutputFormat.TEXT:
        _show_rows(rows, ("definition", "paused", "next", "note"))
    else:
        print_data(rows, form)
    return 0


async def show_one(client: Client, definition_id: str, form: OutputFormat) -> int:
    """Show the facts about a schedule."""
    facts = await facts_of(client, definition_id)
    if form is OutputFormat.TEXT:
        _show_facts(facts)
    else:
        print_data(facts, form)
    return 0


async def pause_one(client: Client, definition_id: str, note: str | None) -> int:
    """Pause a schedule."""
    await schedules.pause(client.temporal, definition_id, note)
    return _done(f"paused the schedule of {definition_id}")


async def resume_one(client: Client, definition_id: str, note: str | None) -> int:
    """Resume a schedule."""
    await schedules.resume(client.temporal, definition_id, note)
    return _done(f"resumed the schedule of {definition_id}")


async def trigger_one(client: Client, definition_id: str) -> int:
    """Let the server start an instance."""
    await schedules.trigger(client.temporal, definition_id)
    return _done(f"asked for an instance: see `swf list --definition {definition_id}`")


async def delete_one(client: Client, definition_id: str) -> int:
    """Delete a schedule."""
    await schedules.delete(client.temporal, definition_id)
    return _done(f"deleted the schedule of {definition_id}")


def show_times(file: Path, count: int, after: str | None, form: OutputFormat) -> None:
    """Show the next *count* times after *after*, or after now. Raises UsageError."""
    from swf_temporal.sdk.definitions import load_given

    workflow = load_given(file)
    spec = workflow.schedule()
    zone = zone_of(workflow.schedule_timezone or spec.timezone)
    try:
        begin = datetime.now(UTC) if after is None else in_zone(parse_time(after), zone)
    except InvalidTime as error:
        raise UsageError(f"--from: {error.message}", error.hint) from None
    times = [time.astimezone(zone).isoformat() for time in preview(spec, begin, count)]
    if form is OutputFormat.TEXT:
        typer.echo("".join(f"{time}\n" for time in times), nl=False)
    else:
        print_data(times, form)
    if not times:
        typer.echo(f"it starts nothing after {begin.isoformat(timespec='seconds')}", err=True)


def _show_rows(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> None:
    for line in in_columns(columns, [[_cell(row, column) for column in columns] for row in rows]):
        typer.echo(line)


def _show_facts(facts: dict[str, Any]) -> None:
    version = f" {facts['version']}" if facts["version"] else ""
    stands = "paused" if facts["paused"] else "active"
    typer.echo(f"{facts['id']}: starts {facts['definition']}{version}, {stands}")
    typer.echo(f"  note: {facts['note'] or 'none'}")
    typer.echo(f"  {facts['started']} started, {facts['missed']} missed")
    for one in facts["recent"][-_SHOWN:]:
        typer.echo(f"  {one['at']}  {one['instance']}")
    for time in facts["upcoming"][:_SHOWN]:
        typer.echo(f"  {time}  to come{', once it is resumed' if facts['paused'] else ''}")


def _cell(row: dict[str, Any], column: str) -> str:
    value = row[column]
    if column == "next":
        text = value or "never"
        return f"{text} (paused)" if row["paused"] else text
    if column == "paused":
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _done(text: str) -> int:
    typer.echo(text, err=True)
    return 0
