"""`swf status`, `result`, `list` and `cancel`: what has become of instances?"""

import asyncio
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from temporalio.client import Client, WorkflowExecution, WorkflowExecutionStatus
from temporalio.service import RPCError

from swf_temporal.cli.options import Address, AsJson, Namespace, WorkflowId
from swf_temporal.cli.output import print_json
from swf_temporal.cli.pending import lines_of, under_way
from swf_temporal.cli.progress import hints, line_of
from swf_temporal.cli.serving import quiet_client
from swf_temporal.cli.stopping import run_until_stopped
from swf_temporal.errors import UsageError
from swf_temporal.temporal.client import RunEnded, has_ended, not_there, query
from swf_temporal.temporal.client import result as result_of

EXAMPLES = {
    "status": "Example: swf status order-42 --trace",
    "result": "Example: swf result order-42",
    "list": "Example: swf list --status running --definition orders",
    "cancel": "Example: swf cancel order-42",
}

_PATIENCE = 5.0
"""Seconds in which a worker should have answered a query."""


class Status(StrEnum):
    """How an instance stands."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TERMINATED = "terminated"
    TIMED_OUT = "timed-out"
    CONTINUED = "continued"


_IN_THE_ENGINE = {
    Status.RUNNING: "Running",
    Status.COMPLETED: "Completed",
    Status.FAILED: "Failed",
    Status.CANCELLED: "Canceled",
    Status.TERMINATED: "Terminated",
    Status.TIMED_OUT: "TimedOut",
    Status.CONTINUED: "ContinuedAsNew",
}
_WITH_A_REASON = (Status.FAILED, Status.TERMINATED, Status.TIMED_OUT)
_HERE = {name.upper(): status for status, name in _IN_THE_ENGINE.items()}


def status(
    workflow_id: WorkflowId,
    as_json: AsJson = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show what happened so far, too.")] = False,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Show where an instance is and what it waits for."""

    async def work() -> int:
        client = await quiet_client(address=address, namespace=namespace)
        facts = await _facts(client, workflow_id, with_trace=trace)
        if as_json:
            print_json(facts)
        else:
            _show(facts, f" --address {address}" if address else "")
        return 0

    run_until_stopped(work())


def result(workflow_id: WorkflowId, address: Address = None, namespace: Namespace = None) -> None:
    """Wait for an instance to end and print its output.

    Exits with 1, and the reason, if it has no output to give.
    """

    async def work() -> int:
        client = await quiet_client(address=address, namespace=namespace)
        try:
            print_json(await result_of(client.get_workflow_handle(workflow_id)))
        except RunEnded as ended:
            typer.echo(f"error: {ended.message}", err=True)
            return 1
        return 0

    run_until_stopped(work())


def list_(
    status: Annotated[Status | None, typer.Option("--status", help="Only those that stand so.")] = None,
    definition: Annotated[
        str | None, typer.Option("--definition", help="Only those of the definition with this id.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many.")] = 20,
    as_json: AsJson = False,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """List instances, the latest first."""

    async def work() -> int:
        client = await quiet_client(address=address, namespace=namespace)
        rows = [_row(execution) async for execution in client.list_workflows(_filter(status, definition), limit=limit)]
        if as_json:
            print_json(rows)
        else:
            _show_table(rows)
        return 0

    run_until_stopped(work())


def cancel(workflow_id: WorkflowId, address: Address = None, namespace: Namespace = None) -> None:
    """Ask an instance to end.

    It may still do what its definition asks for in that case.
    """

    async def work() -> int:
        client = await quiet_client(address=address, namespace=namespace)
        handle = client.get_workflow_handle(workflow_id)
        try:
            if (await handle.describe()).status is not WorkflowExecutionStatus.RUNNING:
                raise has_ended(workflow_id)
            await handle.cancel()
        except RPCError as error:
            raise not_there(error, workflow_id) from None
        typer.echo(f"asked {workflow_id} to end", err=True)
        return 0

    run_until_stopped(work())


async def _facts(client: Client, workflow_id: str, *, with_trace: bool) -> dict[str, Any]:
    try:
        execution = await client.get_workflow_handle(workflow_id).describe()
    except RPCError as error:
        raise not_there(error, workflow_id) from None
    facts = _row(execution) | under_way(execution)
    if facts["status"] in _WITH_A_REASON:
        facts["reason"] = await _reason(client, workflow_id)
    try:
        async with asyncio.timeout(_PATIENCE):
            facts |= await query(client, workflow_id, "status")
            if with_trace:
                facts["trace"] = await query(client, workflow_id, "trace")
    except (TimeoutError, UsageError):
        facts["note"] = "no worker answers for it now"
    return facts


async def _reason(client: Client, workflow_id: str) -> str | None:
    """Return why an instance that has ended gave no output."""
    try:
        await result_of(client.get_workflow_handle(workflow_id))
    except RunEnded as ended:
        return ended.message
    return None  # it was started anew meanwhile


def _row(execution: WorkflowExecution) -> dict[str, Any]:
    stands = execution.status and _HERE[execution.status.name.replace("_", "")]
    return {
        "id": execution.id,
        "runId": execution.run_id,
        "definition": execution.workflow_type,
        "status": stands and str(stands),
        "started": _time(execution.start_time),
        "ended": _time(execution.close_time),
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="milliseconds")


def _filter(status: Status | None, definition: str | None) -> str:
    wanted = []
    if status is not None:
        wanted.append(f'ExecutionStatus = "{_IN_THE_ENGINE[status]}"')
    if definition is not None:
        quoted = definition.replace("\\", "\\\\").replace('"', '\\"')
        wanted.append(f'WorkflowType = "{quoted}"')
    return " AND ".join(wanted)


def _show(facts: dict[str, Any], how_to_connect: str) -> None:
    console = _console()
    console.print(f"{escape(facts['id'])}: {escape(facts['definition'])}, {facts['status']}")
    for line in (facts.get("reason") or "").splitlines():
        console.print(f"  {escape(line)}")
    if facts.get("state") and facts["status"] == Status.RUNNING:
        console.print(f"  in state {escape(facts['state'])}")
        for line in hints(facts["id"], facts, how_to_connect):
            console.print(escape(line))
    for line in lines_of(facts):
        console.print(escape(line))
    if "note" in facts:
        console.print(f"  {facts['note']}")
    for line in filter(None, map(line_of, facts.get("trace", ()))):
        console.print(line)


def _show_table(rows: list[dict[str, Any]]) -> None:
    table = Table("id", "definition", "status", "started", box=None, pad_edge=False)
    for row in rows:
        table.add_row(escape(row["id"]), escape(row["definition"]), row["status"], row["started"])
    _console().print(table)


def _console() -> Console:
    """Return a console for stdout; what is not a terminal is as wide as need be."""
    console = Console(highlight=False, soft_wrap=True)
    return console if console.is_terminal else Console(highlight=False, soft_wrap=True, width=1000)
