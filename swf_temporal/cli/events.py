"""`swf events`: explain the destinations of events, and send events."""

from pathlib import Path
from typing import Annotated, Any

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.base.files import STDIN, is_folder
from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.lazy import HABITS, QuickCommand, QuickGroup
from swf_temporal.cli.options import Address, Namespace, Output, ResourceFolders, TaskQueue, ask, not_empty
from swf_temporal.cli.output import OutputFormat
from swf_temporal.cli.shell_completion import instance_ids

EXAMPLES = {
    "events": "Example: swf events explain workflows/ paid.json",
    "explain": "Example: swf events explain workflows/ paid.json",
    "send": "Example: swf events send workflows/ paid.json",
}


def events() -> None:
    """Explain the destinations of events, and send events."""


def explain(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A definition, or a folder of them.")],
    event: Annotated[
        str, typer.Argument(metavar="EVENT", help="A CloudEvent: JSON, a file that holds it, or - for stdin.")
    ],
    *,
    resources: ResourceFolders = None,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Show which definitions and instances an event reaches, and why it does not reach the others.

    Nothing is sent. Of several versions of a definition the latest is used. If a server answers, the instances that
    would get the event are shown; a server that is given by --address must answer. Exits with 1 if no definition
    consumes such an event.
    """
    if file == STDIN:
        raise UsageError("definitions are not read from stdin here", "give a file or a folder")
    with default_sigint():
        from swf_temporal.base.cloud_event import CloudEvent
        from swf_temporal.base.stopping import run_until_stopped
        from swf_temporal.cli.arguments import given_events
        from swf_temporal.cli.event_destinations import explained
        from swf_temporal.sdk.definitions import catalogue_of, resources_of
    given = given_events(event)
    if len(given) != 1:
        raise UsageError(f"{event} holds {len(given)} events", "give one event")
    catalogue = catalogue_of([file], resources_of(resources))
    work = explained(CloudEvent.from_json(given[0]), catalogue, form, address, namespace)
    raise typer.Exit(run_until_stopped(work))


def send(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A definition, or a folder of them.")],
    event: Annotated[
        str, typer.Argument(metavar="EVENT", help="CloudEvents: JSON, a file that holds them, or - for stdin.")
    ],
    *,
    instance: Annotated[
        str | None,
        typer.Option(
            "--instance",
            metavar="ID",
            callback=not_empty,
            help="An instance that also gets the events.",
            autocompletion=instance_ids,
        ),
    ] = None,
    trust_instance: Annotated[
        bool,
        typer.Option(
            "--trust-instance", help="Let each event name that instance itself, by its attribute swfinstance."
        ),
    ] = False,
    resources: ResourceFolders = None,
    task_queue: TaskQueue = None,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Send events to the instances that they start, and to those that wait for them.

    This needs neither the id of an instance nor a running worker. The same event, identified by source and id, takes
    effect once, however often it is sent. Exits with 1 if an event has no destination.
    """
    if file == STDIN:
        raise UsageError("definitions are not read from stdin here", "give a file or a folder")
    if instance is not None and trust_instance:
        raise UsageError("--instance and --trust-instance exclude each other", "give one of them")
    with default_sigint():
        from swf_temporal.cli.arguments import given_events
        from swf_temporal.cli.event_destinations import send_all
        from swf_temporal.cli.output import warn
        from swf_temporal.languages.catalogue import Catalogue
        from swf_temporal.sdk.definitions import catalogue_of, read_related, resources_of
    given = given_events(event)
    readable = resources_of(resources)
    if is_folder(file):
        catalogue = catalogue_of([file.resolve()], readable)
    else:
        first, *others = read_related(file, (), readable, warn=warn)
        catalogue = Catalogue([first], others)
    options: dict[str, Any] = {"instance": instance, "trusts_instance": trust_instance}
    ask(
        lambda client: send_all(client, given, catalogue, task_queue, form, **options),
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
