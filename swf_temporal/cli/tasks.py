"""`swf tasks`: show the events that instances wait for, and send them."""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swf_temporal.base.client_errors import NeverTakenError, NoAnswerError
from swf_temporal.base.strict_json import show_json
from swf_temporal.cli.instance_filters import Definition
from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.lazy import HABITS, QuickCommand, QuickGroup
from swf_temporal.cli.options import Address, Namespace, Output, ask, not_empty
from swf_temporal.cli.output import OutputFormat, in_columns, print_data
from swf_temporal.cli.shell_completion import instance_ids

if TYPE_CHECKING:
    from swf_temporal.base.data import JSON
    from swf_temporal.operations.client import Client
    from swf_temporal.operations.tasks import TaskFilter

EXAMPLES = {
    "tasks": "Example: swf tasks list --definition visa",
    "list": "Example: swf tasks list --definition visa",
    "show": "Example: swf tasks show visa-7 Decided",
    "complete": "Example: swf tasks complete visa-7 Decided --data '{\"granted\": true}'",
}

_HEAD = ("instance", "definition", "at", "event", "until")

InstanceArgument = Annotated[
    str, typer.Argument(metavar="WORKFLOW_ID", help="The id of the instance.", autocompletion=instance_ids)
]
Event = Annotated[
    str | None,
    typer.Argument(
        metavar="EVENT", help="The name of the event, if the instance waits for several.", show_default=False
    ),
]


def tasks() -> None:
    """Show the events that instances wait for, and send them."""


def list_(
    *,
    definition: Definition = None,
    role: Annotated[
        str | None,
        typer.Option("--role", metavar="NAME", callback=not_empty, help="Only tasks that this role may answer."),
    ] = None,
    assignee: Annotated[
        str | None,
        typer.Option("--assignee", metavar="NAME", callback=not_empty, help="Only tasks of this person."),
    ] = None,
    waiting: Annotated[
        str | None,
        typer.Option("--waiting", metavar="DURATION", help="Only tasks that have waited at least as long."),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            "--limit", metavar="NUMBER", min=1, help="The maximum number of instances to query, the latest first."
        ),
    ] = 200,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """List the events that running instances wait for.

    This needs a running worker for each instance.
    """
    with default_sigint():
        from swf_temporal.cli.arguments import length_of
        from swf_temporal.operations.tasks import TaskFilter
    at_least = length_of(waiting, "--waiting") or timedelta()
    wanted = TaskFilter(None if definition is None else [definition], role, assignee, at_least)
    ask(lambda client: _show_tasks(client, wanted, limit, form), address, namespace)


def show(
    workflow_id: InstanceArgument,
    event: Event = None,
    *,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Show an event that an instance waits for, with the JSON Schema of the events that it accepts.

    Exits with 1 if the instance does not wait for it.
    """
    ask(lambda client: _show_task(client, workflow_id, event, form), address, namespace)


def complete(
    workflow_id: InstanceArgument,
    event: Event = None,
    *,
    data: Annotated[
        str | None, typer.Option("--data", metavar="DATA", help="The event's data: JSON, @FILE, or - for stdin.")
    ] = None,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Send an instance the event that it waits for.

    Data that does not match the schema of the event is rejected. Exits with 1 in that case, and if the instance does
    not wait for the event, or no longer.
    """
    with default_sigint():
        from swf_temporal.cli.arguments import json_value
    value: Any = json_value(data, "--data")
    ask(lambda client: _complete(client, workflow_id, event, value, form), address, namespace)


async def _show_tasks(client: "Client", wanted: "TaskFilter", limit: int, form: OutputFormat) -> int:
    """Print a line for each event that instances wait for."""
    from swf_temporal.operations.tasks import list_tasks

    found = await list_tasks(client, wanted, limit=limit)
    rows = [task.facts() for task in found.tasks]
    if form is OutputFormat.TEXT:
        head = _HEAD + (("assignee",) if any(row["assignee"] for row in rows) else ())
        shown = [[row[{"at": "state"}.get(name, name)] or "" for name in head] for row in rows]
        for line in in_columns(head, shown):
            typer.echo(line)
    else:
        print_data(rows, form)
    if found.silent:
        why = "no worker answers for them, or they are paused"
        typer.echo(f"nothing is known of {', '.join(found.silent)}: {why}", err=True)
    if found.more:
        typer.echo(f"{found.more} more instances were not queried: --limit {limit + found.more} queries all", err=True)
    return 0


async def _show_task(client: "Client", workflow_id: str, event: str | None, form: OutputFormat) -> int:
    """Print the event that an instance waits for, and its schema."""
    from swf_temporal.operations.tasks import NoSuchTaskError, find_task

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


async def _complete(client: "Client", workflow_id: str, event: str | None, data: "JSON", form: OutputFormat) -> int:
    """Send an instance the event that it waits for."""
    from swf_temporal.operations.tasks import DataRefusedError, NoSuchTaskError, complete_task

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


def _group() -> typer.Typer:
    plain: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False, "add_completion": False}
    group = typer.Typer(
        name="tasks", epilog=EXAMPLES["tasks"], no_args_is_help=True, context_settings=HABITS, cls=QuickGroup, **plain
    )
    group.callback()(tasks)
    for command in (list_, show, complete):
        name = command.__name__.rstrip("_")
        group.command(name=name, epilog=EXAMPLES[name], context_settings=HABITS, cls=QuickCommand)(command)
    return group


GROUP = _group()
