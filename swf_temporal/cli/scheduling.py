"""The commands of `swf schedule`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from swf_temporal.app.client import Client
from swf_temporal.app.schedules import apply, facts_of, listed
from swf_temporal.cli.output import Form, print_data
from swf_temporal.cli.schedule_display import show_facts, show_rows
from swf_temporal.data import JSON
from swf_temporal.temporal import schedules

if TYPE_CHECKING:
    from swf_temporal.languages.port import Definition


async def apply_all(
    client: Client, families: "Iterable[list[Definition]]", form: Form, *, data: JSON, task_queue: str, paused: bool
) -> int:
    """Make the schedule of the first of each of *families*, or change it."""
    rows = [
        await apply(client, first, others, data=data, task_queue=task_queue, paused=paused)
        for first, *others in families
    ]
    if form is Form.TEXT:
        show_rows(rows, ("definition", "outcome", "next"))
    else:
        print_data(rows, form)
    return 0


async def list_all(client: Client, form: Form) -> int:
    """Show all schedules."""
    rows = await listed(client)
    if form is Form.TEXT:
        show_rows(rows, ("definition", "paused", "next", "note"))
    else:
        print_data(rows, form)
    return 0


async def show_one(client: Client, definition_id: str, form: Form) -> int:
    """Show all that is known of a schedule."""
    facts = await facts_of(client, definition_id)
    if form is Form.TEXT:
        show_facts(facts)
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
    """Have an instance started."""
    await schedules.trigger(client.temporal, definition_id)
    return _done(f"asked for an instance: see `swf list --definition {definition_id}`")


async def delete_one(client: Client, definition_id: str) -> int:
    """Delete a schedule."""
    await schedules.delete(client.temporal, definition_id)
    return _done(f"deleted the schedule of {definition_id}")


def _done(text: str) -> int:
    typer.echo(text, err=True)
    return 0
