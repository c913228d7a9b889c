"""The command `swf start`."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from swf_temporal.base.client_errors import RunEnded
from swf_temporal.base.data import JSON
from swf_temporal.cli.instance_display import how_to_connect
from swf_temporal.cli.output import OutputFormat, print_data
from swf_temporal.cli.recent_instances import remember
from swf_temporal.operations.client import Client, Instance, RetriedRequests, was_taken_up
from swf_temporal.temporal.logger_names import QUEUES
from swf_temporal.temporal.start_options import StartOptions

if TYPE_CHECKING:
    from swf_temporal.languages.port import Definition


@dataclass(frozen=True, slots=True)
class Start:
    """The instance to start, and the format of the output."""

    what: str
    """The id of the definition, if there are no *workflows*."""
    workflows: "list[Definition]"
    data: JSON
    events: Sequence[Mapping[str, Any]]
    workflow_id: str | None
    task_queue: str | None
    options: StartOptions
    keep: bool
    wait: bool
    form: OutputFormat
    address: str | None
    namespace: str | None


async def start_one(client: Client, order: Start) -> int:
    """Start the instance, print its id, and wait for its output if requested."""
    logging.getLogger(QUEUES).setLevel(logging.CRITICAL)  # it is reported below, unless a worker takes it up
    definition_id = order.workflows[0].id if order.workflows else order.what
    instance = await client.start(
        order.workflows[0] if order.workflows else order.what,
        order.data,
        workflow_id=order.workflow_id,
        task_queue=order.task_queue,
        events=order.events,
        sub_workflows=order.workflows[1:],
        keep=True,  # until it has been printed
        **order.options,
    )
    remember([(instance.id, definition_id)], order.address, order.namespace)
    return await _follow(client, instance, order)


async def _follow(client: Client, instance: Instance, order: Start) -> int:
    link = instance.link
    if link:
        typer.echo(link, err=True)
    facts: dict[str, JSON] = {"id": instance.id, "runId": instance.run_id, "link": link}
    if not order.wait:
        typer.echo(instance.id) if order.form is OutputFormat.TEXT else print_data(facts, order.form)
    retried = RetriedRequests(client, instance.id, how_to_connect(order.address, order.namespace))
    try:
        if not await retried(partial(was_taken_up, client, instance.id, keeps_unknown=order.keep)):
            queue = repr(order.task_queue or client.task_queue)
            typer.echo(f"no worker has started it yet: is one serving the task queue {queue}?", err=True)
        if order.wait:
            typer.echo(instance.id, err=True)
            output = await retried(instance.result)
            print_data(output if order.form is OutputFormat.TEXT else {**facts, "output": output}, order.form)
    except RunEnded as ended:
        typer.echo(f"error: {ended}", err=True)
        return 1
    return 0
