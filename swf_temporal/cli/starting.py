"""How is an instance started that the workers then run?"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import typer
from temporalio.client import Client, WorkflowExecutionStatus

from swf_temporal.cli.output import Form, print_data
from swf_temporal.cli.remembering import remember
from swf_temporal.data import JSON
from swf_temporal.temporal.client import Handle, RunEnded, result, start, start_known
from swf_temporal.temporal.reaching import server_of

if TYPE_CHECKING:
    from swf_temporal.languages.port import Definition

_PATIENCE = 2.0
"""Seconds in which a worker should have taken up what was started."""


@dataclass(frozen=True, slots=True)
class Start:
    """What is to be started, and how that is told."""

    what: str
    """The id of the definition, where there are no *workflows*."""
    workflows: "list[Definition]"
    data: JSON
    events: Sequence[Mapping[str, Any]]
    workflow_id: str | None
    task_queue: str
    wait: bool
    form: Form
    address: str | None
    namespace: str | None


async def start_one(client: Client, order: Start) -> int:
    """Start the instance, tell its id, and wait for its output if that is asked for."""
    definition_id = order.workflows[0].id if order.workflows else order.what
    options: dict[str, Any] = {
        "workflow_id": order.workflow_id or f"{definition_id}-{uuid4().hex[:8]}",
        "task_queue": order.task_queue,
        "events": order.events,
    }
    if order.workflows:
        handle = await start(client, order.workflows, order.data, **options)
    else:
        handle = await start_known(client, definition_id, order.data, **options)
    remember([(handle.id, definition_id)], order.address, order.namespace)
    return await _follow(client, handle, order)


async def _follow(client: Client, handle: Handle, order: Start) -> int:
    link = server_of(client).link(handle.id, handle.result_run_id)
    if link:
        typer.echo(link, err=True)
    facts: dict[str, JSON] = {"id": handle.id, "runId": handle.result_run_id, "link": link}
    if not order.wait:
        typer.echo(handle.id) if order.form is Form.TEXT else print_data(facts, order.form)
    try:
        if not await _taken_up(handle):
            queue = repr(order.task_queue)
            typer.echo(f"no worker has taken it up yet: is one serving the task queue {queue}?", err=True)
        if order.wait:
            typer.echo(handle.id, err=True)
            output = await result(handle)
            print_data(output if order.form is Form.TEXT else {**facts, "output": output}, order.form)
    except RunEnded as ended:
        typer.echo(f"error: {ended.message}", err=True)
        return 1
    return 0


async def _taken_up(handle: Handle) -> bool:
    """Tell whether a worker took the instance up within a short time. Raises RunEnded if that was its end."""
    taken_up = 4  # events of the history: the first task of a worker is done
    for _ in range(int(_PATIENCE / 0.05)):
        found = await handle.describe()
        if found.status is WorkflowExecutionStatus.FAILED:
            await result(handle)
        if (found.history_length or 0) >= taken_up:
            return True
        await asyncio.sleep(0.05)
    return False
