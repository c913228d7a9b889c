"""`swf events`: where events go, and sending them there."""

from pathlib import Path
from typing import Annotated, Any

import typer

from swf_temporal.cli.asking import ask
from swf_temporal.cli.coercion import QuickCommand, QuickGroup
from swf_temporal.cli.completing import instance_ids
from swf_temporal.cli.interrupts import ending_at_once
from swf_temporal.cli.lazy import HABITS
from swf_temporal.cli.options import STDIN, Address, Namespace, Output, ResourceFolders, TaskQueue, not_empty
from swf_temporal.cli.output import Form, form_of, print_data
from swf_temporal.errors import UsageError
from swf_temporal.temporal.constants import TASK_QUEUE

EXAMPLES = {
    "events": "Example: swf events explain workflows/ paid.json",
    "explain": "Example: swf events explain workflows/ paid.json",
    "send": "Example: swf events send workflows/ paid.json",
}


def events() -> None:
    """Say where events go, and send them there."""


def explain(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A definition, or a folder of them.")],
    event: Annotated[Path, typer.Argument(metavar="EVENT", help="A file with a CloudEvent, or - for stdin.")],
    resources: ResourceFolders = None,
    output: Output = None,
) -> None:
    """Say which definitions an event starts, which wait for it, and why it means nothing to the others.

    Nothing is sent, and no server is asked. Of a definition in several versions the latest is meant. Exits with 1 if no
    definition consumes such an event.
    """
    form = form_of(output)
    if file == STDIN:
        raise UsageError("definitions are not read from stdin here", "give a file or a folder")
    with ending_at_once():
        from swf_temporal.app.definitions import catalogue_of, resources_of
        from swf_temporal.app.event_routes import facts_of, latest_of, text_of
        from swf_temporal.cli.arguments import read_events
        from swf_temporal.cloud_event import CloudEvent
        from swf_temporal.routing.routes import route
    given = read_events([event])
    if len(given) != 1:
        raise UsageError(f"{event} holds {len(given)} events", "one is explained at a time")
    found = CloudEvent.from_json(given[0])
    where = route(found, latest_of(catalogue_of([file], resources_of(resources))))
    if form is Form.TEXT:
        typer.echo(text_of(found, where))
    else:
        print_data(facts_of(found, where), form)
    raise typer.Exit(int(where.leads_nowhere))


def send(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A definition, or a folder of them.")],
    event: Annotated[Path, typer.Argument(metavar="EVENT", help="A file with CloudEvents, or - for stdin.")],
    *,
    instance: Annotated[
        str | None,
        typer.Option(
            "--instance",
            metavar="ID",
            callback=not_empty,
            help="An instance that is to get the events besides.",
            autocompletion=instance_ids,
        ),
    ] = None,
    trust_instance: Annotated[
        bool,
        typer.Option("--trust-instance", help="Let each event name that instance, by its attribute swfinstance."),
    ] = False,
    resources: ResourceFolders = None,
    task_queue: TaskQueue = TASK_QUEUE,
    output: Output = None,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Send events where they go: to the instances that they start, and to those that wait for them.

    No instance need be named, and no worker need run. The same event, by its source and id, has its effect once,
    however often it is sent. Exits with 1 if an event goes nowhere.
    """
    form = form_of(output)
    if file == STDIN:
        raise UsageError("definitions are not read from stdin here", "give a file or a folder")
    with ending_at_once():
        from swf_temporal.app.definitions import catalogue_of, resources_of
        from swf_temporal.cli.arguments import read_events
        from swf_temporal.cli.sending import send_all
    given = read_events([event])
    catalogue = catalogue_of([file.resolve()], resources_of(resources))
    ask(
        lambda client: send_all(
            client, given, catalogue, task_queue, form, instance=instance, trusts_instance=trust_instance
        ),
        address,
        namespace,
    )


def _group() -> typer.Typer:
    plain: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False, "add_completion": False}
    group = typer.Typer(
        name="events", epilog=EXAMPLES["events"], no_args_is_help=True, context_settings=HABITS, cls=QuickGroup, **plain
    )
    group.callback()(events)
    for command in (explain, send):
        name = command.__name__
        group.command(name=name, epilog=EXAMPLES[name], context_settings=HABITS, cls=QuickCommand)(command)
    return group


GROUP = _group()
