"""`swf start`: start an instance, which workers run."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swf_temporal.base.client_errors import RunEnded
from swf_temporal.base.errors import UsageError
from swf_temporal.base.files import ENDINGS, STDIN
from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import (
    Address,
    Definitions,
    Events,
    IdOrFile,
    Input,
    Mode,
    Namespace,
    NewWorkflowId,
    Output,
    Strict,
    TaskQueue,
    ask,
    not_empty,
)
from swf_temporal.cli.output import OutputFormat, print_data

if TYPE_CHECKING:
    from swf_temporal.base.data import JSON
    from swf_temporal.languages.port import Definition
    from swf_temporal.operations.client import Client, Instance
    from swf_temporal.temporal.start_options import StartOptions

EXAMPLES = {"start": "Example: swf start orders --input @order.json --wait"}


def start(
    what: IdOrFile,
    *,
    input_: Input = None,
    event: Events = None,
    definitions: Definitions = None,
    strict: Strict = False,
    mode: Mode = None,  # noqa: ARG001 - its callback has the effect
    workflow_id: NewWorkflowId = None,
    business_key: Annotated[
        str | None,
        typer.Option("--business-key", metavar="KEY", callback=not_empty, help="The business key that it keeps."),
    ] = None,
    task_queue: TaskQueue = None,
    priority: Annotated[
        int | None,
        typer.Option("--priority", min=1, max=5, help="The priority of its tasks: 1 is the highest, the default is 3."),
    ] = None,
    fairness_key: Annotated[
        str | None,
        typer.Option("--fairness-key", metavar="KEY", callback=not_empty, help="The key for fair scheduling of tasks."),
    ] = None,
    fairness_weight: Annotated[
        float | None,
        typer.Option("--fairness-weight", min=0.001, max=1000, help="The weight of its key; the default is 1."),
    ] = None,
    version: Annotated[
        str | None,
        typer.Option(
            "--version",
            metavar="VERSION",
            callback=not_empty,
            help="The version of the definition with that id. Default: the latest that the workers serve.",
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep an instance whose definition the workers do not know yet.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the end and print the output.")] = False,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Start an instance, which workers run, and print its id.

    With a FILE, the instance runs the text of that file; with the id of a definition, it runs the definition that the
    workers have now. If they do not know the id, the instance is terminated.
    """
    is_file = _names_file(what)
    _refuse_contradictions(what, input_, definitions if not is_file else None, strict=strict and not is_file)
    with default_sigint():
        from swf_temporal.cli.arguments import json_value, read_events
        from swf_temporal.temporal.start_options import BUSINESS_KEY, turns_of
    options = turns_of(priority, fairness_key, fairness_weight)
    if business_key is not None:
        options["memo"] = {BUSINESS_KEY: business_key}
    data, events = json_value(input_, "--input"), read_events(event or ())
    workflows = []
    if is_file:
        with default_sigint():
            from swf_temporal.cli.output import warn
            from swf_temporal.sdk.definitions import read_related, refuse_unfit
        workflows = read_related(Path(what), definitions or (), warn=warn, strict=strict)
        refuse_unfit(workflows[0], data)
    order = _Start(
        what, version, workflows, data, events, workflow_id, task_queue, options, keep, wait, form, address, namespace
    )
    ask(lambda client: _start_one(client, order), address, namespace, waits=wait)


@dataclass(frozen=True, slots=True)
class _Start:
    """The instance to start, and the format of the output."""

    what: str
    """The id of the definition, if there are no *workflows*."""
    version: str | None
    """Its version; None is the latest."""
    workflows: "list[Definition]"
    data: "JSON"
    events: Sequence[Mapping[str, Any]]
    workflow_id: str | None
    task_queue: str | None
    options: "StartOptions"
    keep: bool
    wait: bool
    form: OutputFormat
    address: str | None
    namespace: str | None


async def _start_one(client: "Client", order: _Start) -> int:
    """Start the instance, print its id, and wait for its output if requested."""
    from swf_temporal.cli.recent_instances import remember
    from swf_temporal.temporal.constants import QUEUES

    logging.getLogger(QUEUES).setLevel(logging.CRITICAL)  # it is reported below, unless a worker takes it up
    definition_id = order.workflows[0].id if order.workflows else order.what
    instance = await client.start(
        order.workflows[0] if order.workflows else order.what,
        order.data,
        workflow_id=order.workflow_id,
        task_queue=order.task_queue,
        events=order.events,
        sub_workflows=order.workflows[1:],
        version=order.version,
        keep=True,  # until it has been printed
        **order.options,
    )
    remember([(instance.id, definition_id)], order.address, order.namespace)
    return await _follow(client, instance, order)


async def _follow(client: "Client", instance: "Instance", order: _Start) -> int:
    from swf_temporal.cli.instance_display import how_to_connect
    from swf_temporal.operations.client import RetriedRequests, was_taken_up

    link = instance.link
    if link:
        typer.echo(link, err=True)
    facts: dict[str, JSON] = {"id": instance.id, "runId": instance.run_id, "link": link}
    if order.wait:
        typer.echo(instance.id, err=True)  # before anything can fail
    else:
        typer.echo(instance.id) if order.form is OutputFormat.TEXT else print_data(facts, order.form)
    retried = RetriedRequests(client, instance.id, how_to_connect(order.address, order.namespace))
    try:
        if not await retried(partial(was_taken_up, client, instance.id, keeps_unknown=order.keep)):
            queue = repr(order.task_queue or client.task_queue)
            typer.echo(f"no worker has started it yet: is one serving the task queue {queue}?", err=True)
        if order.wait:
            output = await retried(instance.result)
            print_data(output if order.form is OutputFormat.TEXT else {**facts, "output": output}, order.form)
    except RunEnded as ended:
        typer.echo(f"error: {ended}", err=True)
        return 1
    return 0


def _names_file(what: str) -> bool:
    """Return True if *what* is a file name, even of a missing file, and not the id of a definition."""
    if what == str(STDIN) or Path(what).is_file():
        return True
    # The ids of Direktiv workflows are paths from the root of their namespace, such as `/billing/invoice.yaml`.
    is_id = what.startswith("/") and (what.count("/") == 1 or not Path(what).parent.is_dir())
    return what.endswith(ENDINGS) and not is_id


def _refuse_contradictions(what: str, input_: str | None, definitions: list[Path] | None, *, strict: bool) -> None:
    """Raise UsageError for contradictory arguments; the last two parameters are set if they were given with an id."""
    if not what.strip():
        raise UsageError("the id of the definition is empty")
    if (what == "." or "/" in what) and Path(what).is_dir():  # any other name may be both a folder's and an id
        raise UsageError(f"{what} is a folder", "give the file of a definition, or the id of one")
    if definitions:
        raise UsageError(
            "--definitions is for a definition that is given as a FILE",
            f"the workers have the definitions that belong to {what!r}",
        )
    if strict:
        raise UsageError(
            "--strict is for a definition that is given as a FILE",
            f"the workers have read {what!r}: they take --strict, too",
        )
    if what == str(STDIN) and input_ == "-":
        raise UsageError("the definition and --input cannot both be on stdin", "give one of them as a file")
