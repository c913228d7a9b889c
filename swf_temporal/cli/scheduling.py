"""What does the server do with the schedules of definitions?"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from temporalio.client import Client

from swf_temporal.cli.output import Form, print_data
from swf_temporal.cli.schedule_display import facts_of, row_of, show_facts, show_rows
from swf_temporal.data import JSON
from swf_temporal.errors import UsageError
from swf_temporal.temporal import schedules

if TYPE_CHECKING:
    from swf_temporal.languages.port import Definition


def families_in(paths: Iterable[Path], definitions: Sequence[Path]) -> "list[list[Definition]]":
    """Return the definitions with a schedule at *paths*, each with the sub-workflows that it can lead to."""
    from swf_temporal.cli.definitions import with_sub_workflows

    return [with_sub_workflows(workflow, file, definitions) for workflow, file in _read(paths)]


async def apply_all(
    client: Client, families: "Iterable[list[Definition]]", form: Form, *, data: JSON, task_queue: str, paused: bool
) -> int:
    """Make the schedule of the first of each of *families*, or change it."""
    rows = []
    for first, *others in families:
        applied = await schedules.apply(client, first, others, data=data, task_queue=task_queue, paused=paused)
        rows.append(row_of(first, applied))
    if form is Form.TEXT:
        show_rows(rows, ("definition", "outcome", "next"))
    else:
        print_data(rows, form)
    return 0


async def list_all(client: Client, form: Form) -> int:
    """Show all schedules."""
    rows = [await facts_of(one) async for one in schedules.list_all(client)]
    rows.sort(key=lambda row: str(row["definition"]))
    if form is Form.TEXT:
        show_rows(rows, ("definition", "paused", "next", "note"))
    else:
        print_data(rows, form)
    return 0


async def show_one(client: Client, definition_id: str, form: Form) -> int:
    """Show all that is known of a schedule."""
    facts = await facts_of(await schedules.describe(client, definition_id))
    if form is Form.TEXT:
        show_facts(facts)
    else:
        print_data(facts, form)
    return 0


async def pause_one(client: Client, definition_id: str, note: str | None) -> int:
    """Pause a schedule."""
    await schedules.pause(client, definition_id, note)
    return _said(f"paused the schedule of {definition_id}")


async def resume_one(client: Client, definition_id: str, note: str | None) -> int:
    """Resume a schedule."""
    await schedules.resume(client, definition_id, note)
    return _said(f"resumed the schedule of {definition_id}")


async def trigger_one(client: Client, definition_id: str) -> int:
    """Have an instance started."""
    await schedules.trigger(client, definition_id)
    return _said(f"asked for an instance: see `swf list --definition {definition_id}`")


async def delete_one(client: Client, definition_id: str) -> int:
    """Delete a schedule."""
    await schedules.delete(client, definition_id)
    return _said(f"deleted the schedule of {definition_id}")


def _said(text: str) -> int:
    typer.echo(text, err=True)
    return 0


def _read(paths: Iterable[Path]) -> "list[tuple[Definition, Path]]":
    """Return the definitions with a schedule that *paths* name, each with its file; a folder may have others, too.

    All are read before anything is changed. Raises UsageError where a file has none, or two are of the same id.
    """
    from swf_temporal.cli.definitions import files_in, load_given

    found: list[tuple[Definition, Path]] = []
    for path in paths:
        inside = [(load_given(file), file) for file in (files_in(path) if path.is_dir() else [path])]
        scheduled = [one for one in inside if not path.is_dir() or one[0].has_schedule]
        if not scheduled:
            raise UsageError(f"no definition in {path} has a schedule", "it is written under start: schedule:")
        found += scheduled
    by_id: dict[str, Path] = {}
    for workflow, file in found:
        workflow.schedule()
        if workflow.id in by_id:
            raise UsageError(f"{by_id[workflow.id]} and {file} both define {workflow.id!r}, which has one schedule")
        by_id[workflow.id] = file
    return found
