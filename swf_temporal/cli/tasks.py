"""`swf tasks`: show the events that instances wait for, and send them."""

from typing import Annotated, Any

import typer

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.lazy import HABITS, QuickCommand, QuickGroup
from swf_temporal.cli.options import Address, Namespace, Output, ask, not_empty
from swf_temporal.cli.output import OutputFormat
from swf_temporal.cli.shell_completion import definition_ids, instance_ids

EXAMPLES = {
    "tasks": "Example: swf tasks list --definition visa",
    "list": "Example: swf tasks list --definition visa",
    "show": "Example: swf tasks show visa-7 Decided",
    "complete": "Example: swf tasks complete visa-7 Decided --data '{\"granted\": true}'",
}

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
    definition: Annotated[
        str | None,
        typer.Option(
            "--definition",
            metavar="ID",
            callback=not_empty,
            help="Only instances of the definition with this id.",
            autocompletion=definition_ids,
        ),
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
        from swf_temporal.cli.task_completion import show_tasks
    ask(lambda client: show_tasks(client, definition, limit, form), address, namespace)


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
    with default_sigint():
        from swf_temporal.cli.task_completion import show_task
    ask(lambda client: show_task(client, workflow_id, event, form), address, namespace)


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
        from swf_temporal.cli.task_completion import complete_one
    value: Any = json_value(data, "--data")
    ask(lambda client: complete_one(client, workflow_id, event, value, form), address, namespace)


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
