"""The commands `swf tasks list`, `show` and `complete`."""

import typer

from swf_temporal.base.client_errors import NeverTakenError, NoAnswerError
from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import show_json
from swf_temporal.cli.output import OutputFormat, in_columns, print_data
from swf_temporal.operations.client import Client
from swf_temporal.operations.tasks import DataRefusedError, NoSuchTaskError, complete_task, find_task, list_tasks

_HEAD = ("instance", "definition", "state", "event", "until")


async def show_tasks(client: Client, definition: str | None, limit: int, form: OutputFormat) -> int:
    """Print a line for each event that instances wait for."""
    found = await list_tasks(client, [definition], limit=limit)
    rows = [task.facts() for task in found.tasks]
    if form is OutputFormat.TEXT:
        for line in in_columns(_HEAD, [[row[name] or "" for name in _HEAD] for row in rows]):
            typer.echo(line)
    else:
        print_data(rows, form)
    if found.silent:
        why = "no worker answers for them, or they are paused"
        typer.echo(f"nothing is known of {', '.join(found.silent)}: {why}", err=True)
    if found.more:
        typer.echo(f"{found.more} more instances were not queried: --limit {limit + found.more} queries all", err=True)
    return 0


async def show_task(client: Client, workflow_id: str, event: str | None, form: OutputFormat) -> int:
    """Print the event that an instance waits for, and its schema."""
    try:
        task = await find_task(client, workflow_id, event)
    except NoSuchTaskError as error:
        return _refused(error)
    if form is not OutputFormat.TEXT:
        print_data({**task.facts(), "schema": task.schema()}, form)
        return 0
    kind = f" ({task.kind})" if task.kind else ""
    typer.echo(f"{task.instance}: {task.definition}")
    typer.echo(f"  {task.state}{kind} waits for event {task.event!r}{f' until {task.until}' if task.until else ''}")
    typer.echo(f"  {show_json(task.schema())}")
    return 0


async def complete_one(client: Client, workflow_id: str, event: str | None, data: JSON, form: OutputFormat) -> int:
    """Send an instance the event that it waits for."""
    try:
        status = await complete_task(client, workflow_id, event, data)
    except (NoSuchTaskError, DataRefusedError, NeverTakenError, NoAnswerError) as error:
        return _refused(error)
    typer.echo(f"{workflow_id} {'took' if status == 'taken' else 'was sent'} the event", err=True)
    if form is not OutputFormat.TEXT:
        print_data({"id": workflow_id, "status": status}, form)
    return 0


def _refused(error: Exception) -> int:
    typer.echo(f"error: {error}", err=True)
    return 1
