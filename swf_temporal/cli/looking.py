"""What does the server, and the worker that runs an instance, tell of it?"""

import asyncio
import sys
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import typer
from temporalio.client import Client, WorkflowExecution, WorkflowExecutionStatus, WorkflowHandle
from temporalio.service import RPCError

from swf_temporal.cli.instances import Status
from swf_temporal.cli.output import Form, print_data
from swf_temporal.cli.pending import lines_of, under_way
from swf_temporal.cli.progress import hints, line_of
from swf_temporal.cli.remembering import remember
from swf_temporal.cli.terminal import in_columns
from swf_temporal.errors import UsageError
from swf_temporal.temporal.client import RunEnded, has_ended, not_there, query
from swf_temporal.temporal.client import result as result_of

PATIENCE = 5.0
"""Seconds in which a worker should have answered a query."""

_ALL = 200
"""A list of so many has all that somebody would choose from."""
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


@dataclass(frozen=True, slots=True)
class Look:
    """How instances are shown, and by which options the server was named."""

    form: Form
    address: str | None
    namespace: str | None

    async def at_one(self, client: Client, workflow_id: str, *, with_trace: bool) -> int:
        """Show where an instance is."""
        facts = await _facts(client, workflow_id, with_trace=with_trace)
        remember([(facts["id"], facts["definition"])], self.address, self.namespace)
        if self.form is Form.TEXT:
            _show(facts, how_to_connect(self.address, self.namespace))
        else:
            print_data(facts, self.form)
        return 0

    async def at_many(self, client: Client, wanted: str, limit: int) -> int:
        """Show a line for each of the instances that are *wanted*, the latest of them, and how many more there are."""
        rows = [_row(execution) async for execution in client.list_workflows(wanted, limit=limit)]
        is_complete = not wanted and (len(rows) < limit or limit >= _ALL)
        seen = [(row["id"], row["definition"]) for row in rows]
        remember(seen, self.address, self.namespace, all_of_them=is_complete)
        if self.form is Form.TEXT:
            head = ("id", "definition", "status", "started")
            for line in in_columns(head, [[row[name] or "" for name in head] for row in rows]):
                typer.echo(line)
        else:
            print_data(rows, self.form)
        if len(rows) == limit:
            more = (await client.count_workflows(wanted)).count - limit
            if more > 0:
                typer.echo(f"{more} more: --limit {limit + more} shows all", err=True)
        return 0


async def show_result(client: Client, workflow_id: str, form: Form) -> int:
    """Print the output of an instance, once it has ended."""
    try:
        print_data(await result_of(client.get_workflow_handle(workflow_id)), form)
    except RunEnded as ended:
        typer.echo(f"error: {ended.message}", err=True)
        return 1
    return 0


async def cancel_one(client: Client, workflow_id: str) -> int:
    """Ask an instance to end."""
    handle = await _running(client, workflow_id)
    try:
        await handle.cancel()
    except RPCError as error:
        raise not_there(error, workflow_id) from None
    typer.echo(f"asked {workflow_id} to end", err=True)
    return 0


async def terminate_one(client: Client, workflow_id: str, reason: str | None) -> int:
    """End an instance at once."""
    handle = await _running(client, workflow_id)
    try:
        await handle.terminate(reason=reason)
    except RPCError as error:
        raise not_there(error, workflow_id) from None
    typer.echo(f"terminated {workflow_id}", err=True)
    return 0


def filter_of(status: Status | None, definition: str | None, query: str | None) -> str:
    """Return the list filter of the engine that finds what all of them describe."""
    wanted = []
    if status is not None:
        wanted.append(f'ExecutionStatus = "{_IN_THE_ENGINE[status]}"')
    if definition is not None:
        quoted = definition.replace("\\", "\\\\").replace('"', '\\"')
        wanted.append(f'WorkflowType = "{quoted}"')
    if query is not None:
        wanted.append(f"({query})" if wanted else query)
    return " AND ".join(wanted)


def how_to_connect(address: str | None, namespace: str | None) -> str:
    """Return the options that another command needs to find the same server."""
    options = (("--address", address), ("--namespace", namespace))
    return "".join(f" {option} {value}" for option, value in options if value)


async def _running(client: Client, workflow_id: str) -> WorkflowHandle[Any, Any]:
    handle = client.get_workflow_handle(workflow_id)
    try:
        if (await handle.describe()).status is not WorkflowExecutionStatus.RUNNING:
            raise has_ended(workflow_id)
    except RPCError as error:
        raise not_there(error, workflow_id) from None
    return handle


async def _facts(client: Client, workflow_id: str, *, with_trace: bool) -> dict[str, Any]:
    try:
        execution = await client.get_workflow_handle(workflow_id).describe()
    except RPCError as error:
        raise not_there(error, workflow_id) from None
    facts = _row(execution) | under_way(execution)
    if facts["status"] in _WITH_A_REASON:
        facts["reason"] = await _reason(client, workflow_id)
    try:
        async with asyncio.timeout(PATIENCE):
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
    return {
        "id": execution.id,
        "runId": execution.run_id,
        "definition": execution.workflow_type,
        "status": status_of(execution),
        "started": _time(execution.start_time),
        "ended": _time(execution.close_time),
    }


def status_of(execution: WorkflowExecution) -> str | None:
    """Return how an instance stands."""
    return None if execution.status is None else str(_HERE[execution.status.name.replace("_", "")])


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="milliseconds")


def _show(facts: dict[str, Any], connecting: str) -> None:
    typer.echo(f"{facts['id']}: {facts['definition']}, {facts['status']}")
    for line in (facts.get("reason") or "").splitlines():
        typer.echo(f"  {line}")
    if facts.get("state") and facts["status"] == Status.RUNNING:
        typer.echo(f"  in state {facts['state']}")
        for line in hints(facts["id"], facts, connecting):
            typer.echo(line)
    for line in lines_of(facts):
        typer.echo(line)
    if "note" in facts:
        typer.echo(f"  {facts['note']}")
    for entry in facts.get("trace", ()):
        line = line_of(entry, sys.stdout)
        if line is not None:
            typer.echo(line)
