"""How is the trace of an instance told, as it happens or after the fact?"""

import asyncio
import json
import sys
from typing import Any

import typer
from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus
from temporalio.service import RPCError

from swf_temporal.cli.looking import PATIENCE, status_of
from swf_temporal.cli.output import Form, print_yaml
from swf_temporal.cli.progress import line_of, news
from swf_temporal.errors import UsageError
from swf_temporal.temporal.client import not_there, query

_INTERVAL = 0.3
"""Seconds between two looks at an instance."""


async def show_trace(client: Client, workflow_id: str, form: Form, *, follow: bool) -> int:
    """Tell what happened in an instance and, if that is asked for, what happens until it ends."""
    last: dict[str, Any] | None = None
    is_told = False
    while True:
        execution = await _described(client, workflow_id)
        trace = await _trace(client, workflow_id)
        is_running = execution.status is WorkflowExecutionStatus.RUNNING
        if trace is None:
            if not (follow and is_running):
                raise UsageError(
                    f"no worker answers for {workflow_id!r}, and only one can tell what happened",
                    f"start one for the task queue {execution.task_queue!r} with `swf worker`",
                )
            if not is_told:
                typer.echo("no worker answers for it now", err=True)
            is_told = True
        for entry in news(trace or [], last):
            _tell(entry, form)
            last = entry
        if not (follow and is_running):
            if not is_running:
                typer.echo(f"{workflow_id}: {status_of(execution)}", err=True)
            return 0
        await asyncio.sleep(_INTERVAL)


async def _described(client: Client, workflow_id: str) -> WorkflowExecutionDescription:
    try:
        return await client.get_workflow_handle(workflow_id).describe()
    except RPCError as error:
        raise not_there(error, workflow_id) from None


async def _trace(client: Client, workflow_id: str) -> list[dict[str, Any]] | None:
    """Return the trace of an instance; None if nobody answers."""
    try:
        async with asyncio.timeout(PATIENCE):
            trace: list[dict[str, Any]] = await query(client, workflow_id, "trace")
    except (TimeoutError, UsageError):
        return None
    return trace


def _tell(entry: dict[str, Any], form: Form) -> None:
    if form is Form.JSON:
        typer.echo(json.dumps(entry, ensure_ascii=False))
    elif form is Form.YAML:
        typer.echo("---")
        print_yaml(entry)
    else:
        line = line_of(entry, sys.stdout)
        if line is not None:
            at = entry["at"][: len("2030-01-01T00:00:00")]
            typer.echo(f"{at}  {line}")
    sys.stdout.flush()
