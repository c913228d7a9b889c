"""`swf schedule`: manage the schedules by which the server starts instances."""

from pathlib import Path
from typing import Annotated, Any

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.base.files import STDIN
from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.lazy import HABITS, QuickCommand, QuickGroup
from swf_temporal.cli.options import Address, Definitions, Input, Namespace, Output, TaskQueue, ask
from swf_temporal.cli.output import OutputFormat
from swf_temporal.cli.shell_completion import definition_ids

EXAMPLES = {
    "schedule": "Example: swf schedule apply orders.yaml",
    "apply": "Example: swf schedule apply workflows/ --paused",
    "list": "Example: swf schedule list --output json",
    "show": "Example: swf schedule show orders",
    "pause": "Example: swf schedule pause orders --note 'until the audit is over'",
    "resume": "Example: swf schedule resume orders",
    "trigger": "Example: swf schedule trigger orders",
    "delete": "Example: swf schedule delete orders",
    "preview": "Example: swf schedule preview orders.yaml --number 5 --from 2030-01-01",
}


def _named(value: str) -> str:
    if not value.strip():
        raise typer.BadParameter("it is empty")
    return value


DefinitionId = Annotated[
    str,
    typer.Argument(metavar="ID", help="The id of the definition.", callback=_named, autocompletion=definition_ids),
]
Note = Annotated[str | None, typer.Option("--note", metavar="TEXT", help="The reason; it is stored with the schedule.")]


def schedule() -> None:
    """Manage the schedules by which the server starts instances."""


def apply(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Definitions with a schedule, folders of them, and - for stdin."),
    ],
    *,
    input_: Input = None,
    definitions: Definitions = None,
    task_queue: TaskQueue = None,
    paused: Annotated[bool, typer.Option("--paused", help="Create new schedules paused.")] = False,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Create or update the schedules of definitions.

    Instances run the text that the file has now, until it is applied again. Paused schedules stay paused.
    """
    if STDIN in files and input_ == "-":
        raise UsageError("the definition and --input cannot both be on stdin", "give one of them as a file")
    with default_sigint():
        from swf_temporal.cli.arguments import json_value
        from swf_temporal.cli.output import warn
        from swf_temporal.cli.scheduling import apply_all
        from swf_temporal.sdk.definitions import scheduled_in
    data = json_value(input_, "--input")
    found = scheduled_in(files, definitions or (), warn=warn)
    ask(
        lambda client: apply_all(client, found, form, data=data, task_queue=task_queue, paused=paused),
        address,
        namespace,
    )


def list_(form: Output = OutputFormat.TEXT, address: Address = None, namespace: Namespace = None) -> None:
    """List the schedules on the server."""
    with default_sigint():
        from swf_temporal.cli.scheduling import list_all
    ask(lambda client: list_all(client, form), address, namespace)


def show(
    definition_id: DefinitionId,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Show the next start times, the latest instances, and the definition that is started."""
    with default_sigint():
        from swf_temporal.cli.scheduling import show_one
    ask(lambda client: show_one(client, definition_id, form), address, namespace)


def pause(definition_id: DefinitionId, note: Note = None, address: Address = None, namespace: Namespace = None) -> None:
    """Start nothing until the schedule is resumed."""
    with default_sigint():
        from swf_temporal.cli.scheduling import pause_one
    ask(lambda client: pause_one(client, definition_id, note), address, namespace)


def resume(
    definition_id: DefinitionId, note: Note = None, address: Address = None, namespace: Namespace = None
) -> None:
    """Start instances again after a pause. Missed starts are not made up for."""
    with default_sigint():
        from swf_temporal.cli.scheduling import resume_one
    ask(lambda client: resume_one(client, definition_id, note), address, namespace)


def trigger(definition_id: DefinitionId, address: Address = None, namespace: Namespace = None) -> None:
    """Start an instance now, even if the schedule is paused."""
    with default_sigint():
        from swf_temporal.cli.scheduling import trigger_one
    ask(lambda client: trigger_one(client, definition_id), address, namespace)


def delete(definition_id: DefinitionId, address: Address = None, namespace: Namespace = None) -> None:
    """Delete a schedule. Instances that it started continue."""
    with default_sigint():
        from swf_temporal.cli.scheduling import delete_one
    ask(lambda client: delete_one(client, definition_id), address, namespace)


def preview(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A definition with a schedule, or - for stdin.")],
    count: Annotated[
        int, typer.Option("--number", "-n", metavar="NUMBER", min=1, help="The number of times to show.")
    ] = 10,
    after: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Show times after this one. Default: now.")
    ] = None,
    form: Output = OutputFormat.TEXT,
) -> None:
    """Show when the server would start instances, without contacting it.

    Times are in the timezone of the schedule, with the offset from UTC.
    """
    with default_sigint():
        from swf_temporal.cli.scheduling import show_times
    show_times(file, count, after, form)


def _group() -> typer.Typer:
    plain: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False, "add_completion": False}
    group = typer.Typer(
        name="schedule",
        epilog=EXAMPLES["schedule"],
        no_args_is_help=True,
        context_settings=HABITS,
        cls=QuickGroup,
        **plain,
    )
    group.callback()(schedule)
    for command in (apply, list_, show, pause, resume, trigger, delete, preview):
        name = command.__name__.rstrip("_")
        group.command(name=name, epilog=EXAMPLES[name], context_settings=HABITS, cls=QuickCommand)(command)
    return group


GROUP = _group()
