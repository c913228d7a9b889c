"""`swf start`: start an instance and leave it to the workers."""

import asyncio
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer
from temporalio.client import WorkflowExecutionStatus

from swf_temporal.cli.arguments import json_value, read_events
from swf_temporal.cli.definitions import read_to_run, with_sub_workflows
from swf_temporal.cli.fitting import refuse_unfit
from swf_temporal.cli.logs import be_quiet
from swf_temporal.cli.options import (
    Address,
    AsJson,
    Definitions,
    Events,
    Input,
    InstanceId,
    Namespace,
    Strict,
    TaskQueue,
)
from swf_temporal.cli.output import print_json
from swf_temporal.cli.serving import known_server
from swf_temporal.cli.stopping import run_until_stopped
from swf_temporal.data import JSON
from swf_temporal.model.workflow import Workflow
from swf_temporal.temporal.client import Handle, RunEnded, result, start_known
from swf_temporal.temporal.client import start as start_pinned
from swf_temporal.temporal.server import Server
from swf_temporal.temporal.worker import TASK_QUEUE

EXAMPLES = {"start": "Example: swf start orders --input @order.json --wait"}

_ENDINGS = (".json", ".yaml", ".yml")
_PATIENCE = 2.0
"""Seconds in which a worker should have taken up what was started."""


def start(
    what: Annotated[
        str, typer.Argument(metavar="ID_OR_FILE", help="The id of a definition that the workers serve, or a file.")
    ],
    *,
    input_: Input = None,
    event: Events = None,
    definitions: Definitions = None,
    strict: Strict = False,
    workflow_id: InstanceId = None,
    task_queue: TaskQueue = TASK_QUEUE,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the end and print the output.")] = False,
    as_json: AsJson = False,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Start an instance, leave it to the workers, and print its id.

    Started from a FILE it runs the text of that file, whatever the workers have; started by the id of a definition
    it runs the one that the workers have now.
    """
    data, events = json_value(input_, "--input"), read_events(event or ())
    file = Path(what)
    is_file = what.endswith(_ENDINGS) or file.is_file()
    workflows = _with_sub_workflows(file, definitions or (), strict=strict) if is_file else []
    if workflows:
        refuse_unfit(workflows[0], data)
    definition_id = workflows[0].id if workflows else what
    chosen = workflow_id or f"{definition_id}-{uuid4().hex[:8]}"

    async def work() -> int:
        be_quiet()
        server = await known_server(address, namespace)
        if workflows:
            handle = await start_pinned(
                server.client, workflows, data, workflow_id=chosen, task_queue=task_queue, events=events
            )
        else:
            handle = await start_known(
                server.client, what, data, workflow_id=chosen, task_queue=task_queue, events=events
            )
        return await _follow(server, handle, task_queue, wait=wait, as_json=as_json)

    run_until_stopped(work())


def _with_sub_workflows(file: Path, folders: list[Path] | tuple[()], *, strict: bool) -> list[Workflow]:
    return with_sub_workflows(read_to_run(file, strict=strict), file, folders, strict=strict)


async def _follow(server: Server, handle: Handle, task_queue: str, *, wait: bool, as_json: bool) -> int:
    link = server.link(handle.id, handle.result_run_id)
    if link:
        typer.echo(link, err=True)
    facts: dict[str, JSON] = {"id": handle.id, "runId": handle.result_run_id, "link": link}
    if not wait:
        print_json(facts) if as_json else typer.echo(handle.id)
    try:
        if not await _taken_up(handle):
            typer.echo(f"no worker has taken it up yet: is one serving the task queue {task_queue!r}?", err=True)
        if wait:
            typer.echo(handle.id, err=True)
            output = await result(handle)
            print_json({**facts, "output": output} if as_json else output)
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
