"""The state of an instance, as the server and its worker report it, and following it until it ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from temporalio.api.enums.v1 import PendingActivityState, PendingWorkflowTaskState
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowExecutionDescription, WorkflowExecutionStatus
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from swf_temporal.base.client_errors import (
    InstanceNotFoundError,
    InstancePausedError,
    NoAnswerError,
    RunEnded,
    ServerUnavailableError,
)
from swf_temporal.base.errors import UsageError
from swf_temporal.operations.listing import is_open, row_of, status_of, time_text
from swf_temporal.runtime.ids import WORKFLOW_TYPES
from swf_temporal.temporal import client as engine
from swf_temporal.temporal import start_options
from swf_temporal.temporal.client import Handle, query, result
from swf_temporal.temporal.client_errors import has_ended, not_there
from swf_temporal.temporal.constants import ENDING, GIVE_WAY
from swf_temporal.temporal.place_records import LOOK
from swf_temporal.temporal.statuses import is_closed, is_paused, why_task_failed

if TYPE_CHECKING:
    from swf_temporal.operations.client import Client
    from swf_temporal.operations.instance_history import RunHistory
    from swf_temporal.temporal.replaying import ReplayedRun

PATIENCE = timedelta(seconds=5)
"""The time within which a worker should have answered a query."""
_AT_WORK = timedelta(seconds=15)
"""The same for a worker in a workflow task, which local calls hold open for up to ten seconds."""

_OWN_CALLS = (ENDING, GIVE_WAY, LOOK)
"""The engine's own activities, which are not calls of the definition."""
_WITH_A_REASON = ("failed", "terminated", "timed-out")


async def facts_of(client: "Client", workflow_id: str, *, with_trace: bool = False) -> dict[str, Any]:
    """Return the status of an instance, its work in progress, and *with_trace* what happened in it."""
    execution = await execution_of(client, workflow_id)
    facts: dict[str, Any] = row_of(execution) | await _under_way(client, execution)
    if key := await execution.memo_value(start_options.BUSINESS_KEY, None):
        facts["businessKey"] = key
    info = execution.raw_description.workflow_extended_info
    if info.HasField("pause_info"):
        pause = info.pause_info
        facts["paused"] = _paused(pause.paused_time.ToDatetime(tzinfo=UTC), pause.identity, pause.reason)
    if facts["status"] in _WITH_A_REASON:
        facts["reason"] = await _reason(client, workflow_id)
    facts["started"] = await _start(client, execution) or facts["started"]
    if not is_open(facts["status"]):
        return facts | await _by_history(client, execution, with_trace=with_trace)
    try:
        facts |= await query(client.temporal, workflow_id, "status", _patience(execution))
        if with_trace:
            facts["trace"] = await query(client.temporal, workflow_id, "trace", _patience(execution))
        if facts.get("state") is None:  # nothing has begun: a worker may fail at it
            await _note_failed_task(client, execution, facts, has_begun=False)
    except InstancePausedError:
        facts |= await _by_history(client, execution, with_trace=with_trace)
        is_known = facts.get("state") is not None
        facts["note"] = f"{'its data' if is_known else 'where it is'} can be seen once it is resumed"
    except UsageError:
        facts |= await _by_history(client, execution, with_trace=with_trace)
        shown = ": its history shows where it is" if facts.get("state") else ""
        facts["note"] = f"no worker is currently responding{shown}"
        await _note_failed_task(client, execution, facts)
    if local := facts.pop("localCalls", None):
        facts["calls"] = [*facts.get("calls", ()), *local]
    return facts


async def trace_of(client: "Client", workflow_id: str) -> list[dict[str, Any]]:
    """Return what happened in an instance: from its history, if it has ended or is paused, else from a worker.

    Raises UsageError if there is no such instance, and NoAnswerError if no worker answers.
    """
    trace = (await view_instance(client, workflow_id)).trace
    if isinstance(trace, UsageError):
        raise trace
    return trace


async def data_of(
    client: "Client", workflow_id: str, patience: timedelta = engine.PATIENCE, *, result_type: type | None = None
) -> Any:
    """Return the data of an instance's running state; of one that has ended its output, or else its latest data.

    What is asked of a worker or the server is of *result_type*, if one is given; else it is JSON.

    Raises UsageError if there is no such instance or it ended before it began, and NoAnswerError if no worker answers.
    """
    execution = await execution_of(client, workflow_id)
    if not is_closed(execution):
        return await query(client.temporal, workflow_id, "data", patience, result_type=result_type)
    if execution.status is WorkflowExecutionStatus.COMPLETED:
        handle: Handle = client.temporal.get_workflow_handle(
            workflow_id, run_id=execution.run_id, result_type=result_type
        )
        return await result(handle)
    run = await _replayed(client, execution)
    if run.failure is not None:
        raise UsageError(f"this release cannot follow the history of {workflow_id!r}: {run.failure}")
    if not run.status:
        raise UsageError(f"{workflow_id!r} ended before a worker took it up: it has no data beside its input")
    return run.data


async def _by_history(client: "Client", execution: WorkflowExecutionDescription, *, with_trace: bool) -> dict[str, Any]:
    """Return the status of a run from its history, without a worker, and *with_trace* what happened in it."""
    try:
        run = await _replayed(client, execution)
    except UsageError as error:
        return {"note": f"its history cannot be read: {error}"} | ({"trace": []} if with_trace else {})
    return facts_by_history(run, with_trace=with_trace)


async def _replayed(client: "Client", execution: WorkflowExecutionDescription) -> "ReplayedRun":
    from swf_temporal.operations.instance_history import history_of_run  # noqa: PLC0415 - heavy, and for these alone

    [run] = (await history_of_run(client, execution.id, execution.run_id)).runs
    return await run.replayed(client.temporal.data_converter)


def facts_by_history(run: "ReplayedRun", *, with_trace: bool) -> dict[str, Any]:
    """Return what a worker would report of *run*: its status and, *with_trace*, what happened in it."""
    from swf_temporal.temporal.continuing import trace_to_json  # noqa: PLC0415 - as above

    facts = {name: value for name, value in run.status.items() if name != "localCalls"}
    if run.failure is not None:
        facts["note"] = f"this release cannot follow its history: {run.failure}"
    if with_trace:
        facts["trace"] = trace_to_json(run.trace)
    return facts


async def _start(client: "Client", execution: WorkflowExecutionDescription) -> str | None:
    """Return when the instance began whose latest run this is."""
    from swf_temporal.operations.instance_history import first_start  # noqa: PLC0415 - as above

    with suppress(RPCError):  # its history is no longer kept, or reading it is not allowed
        found = await first_start(client, execution.id, execution.run_id)
        return time_text(found.event_time.ToDatetime(tzinfo=UTC))
    return None


async def _note_failed_task(
    client: "Client", execution: WorkflowExecutionDescription, facts: dict[str, Any], *, has_begun: bool = True
) -> None:
    why = await why_task_failed(client.temporal, execution, has_begun=has_begun)
    if why is not None:
        facts["note"] = f"it does not continue: {why}"


def _patience(execution: WorkflowExecutionDescription) -> timedelta:
    """Return the time that a worker may take to answer: local calls in progress delay it."""
    task = execution.raw_description.pending_workflow_task
    is_at_work = task.state == PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_STARTED
    return _AT_WORK if is_at_work else PATIENCE


class InstanceView(NamedTuple):
    """A snapshot of an instance: its status, and the trace or why it is missing."""

    status: str | None
    trace: list[dict[str, Any]] | UsageError


async def view_instance(client: "Client", workflow_id: str) -> InstanceView:
    """Return the status of an instance, and what happened in it. Raises UsageError if there is no such instance."""
    return await view_of(client, await execution_of(client, workflow_id))


async def view_of(client: "Client", execution: WorkflowExecutionDescription) -> InstanceView:
    """Return the status of an instance, and what happened in this run of it."""
    workflow_id = execution.id
    status, patience = status_of(execution), _patience(execution)
    if is_closed(execution) or is_paused(execution):
        try:
            run = await _replayed(client, execution)
        except UsageError as error:
            return InstanceView(status, error)
        return InstanceView(status, facts_by_history(run, with_trace=True)["trace"])
    try:
        trace: list[dict[str, Any]] | UsageError = await query(
            client.temporal, workflow_id, "trace", patience, run_id=execution.run_id
        )
    except ServerUnavailableError:
        raise
    except InstancePausedError as error:
        trace = error
    except UsageError:
        trace = NoAnswerError(
            f"no worker answers for {workflow_id!r}, and its trace needs one",
            f"start one for the task queue {execution.task_queue!r} with `swf worker`",
            instance=workflow_id,
            patience=patience,
        )
    return InstanceView(status, trace)


async def described(client: "Client", workflow_id: str) -> dict[str, Any]:
    """Return what the server knows of an instance. Raises UsageError if it does not exist."""
    return row_of(await execution_of(client, workflow_id))


async def refuse_ended(client: "Client", workflow_id: str) -> str | None:
    """Return the status of an instance. Raises UsageError if no instance of that id is running."""
    found = await execution_of(client, workflow_id)
    if is_closed(found):
        raise has_ended(workflow_id)
    return status_of(found)


async def with_sub_workflows(client: "Client", workflow_id: str) -> AsyncIterator[str]:
    """Yield the ids of an instance and of its running sub-workflows, nested ones included."""
    found = [workflow_id]
    for member in found:
        yield member
        try:
            description = await client.temporal.get_workflow_handle(member).describe()
        except RPCError:
            continue  # it has just ended
        found += await _sub_workflows(client, description)


async def resting(client: "Client", workflow_id: str) -> list[int]:
    """Return the history lengths of an instance and its sub-workflows if all of them are waiting; else an empty list.

    They wait for events or timers. One with a call or a workflow task in progress does not.
    """
    try:
        execution = await execution_of(client, workflow_id)
    except InstanceNotFoundError:
        return []  # a sub-workflow that is about to start
    under_way = await _under_way(client, execution)
    if execution.raw_description.HasField("pending_workflow_task") or "calls" in under_way:
        return []
    inner = [await resting(client, one) for one in under_way.get("subflows", ())]
    return [execution.history_length or 0, *(one for each in inner for one in each)] if all(inner) else []


async def execution_of(client: "Client", workflow_id: str) -> WorkflowExecutionDescription:
    """Return the server's description of an instance's latest run. Raises InstanceNotFoundError if there is none."""
    handle: Handle = client.temporal.get_workflow_handle(workflow_id)
    try:
        return await handle.describe()
    except RPCError as error:
        raise not_there(error, workflow_id) from None


async def _reason(client: "Client", workflow_id: str) -> str | None:
    """Return why an instance has ended without output."""
    try:
        await result(client.temporal.get_workflow_handle(workflow_id))
    except RunEnded as ended:
        return str(ended)
    return None  # it was started again meanwhile


async def _under_way(client: "Client", execution: WorkflowExecutionDescription) -> dict[str, list[Any]]:
    """Return the calls without a result yet and the ids of running sub-workflows, leaving out empty lists."""
    pending = execution.raw_description.pending_activities
    found: dict[str, list[Any]] = {
        "calls": [await _call(client, one) for one in pending if one.activity_type.name not in _OWN_CALLS],
        "subflows": await _sub_workflows(client, execution),
    }
    return {kind: those for kind, those in found.items() if those}


def _paused(at: datetime, by: str, reason: str) -> dict[str, str]:
    """Return when an instance or a call was paused, by which identity, and why if that is known."""
    facts = {"at": at.isoformat(timespec="seconds"), "by": by, "reason": reason}
    return {name: value for name, value in facts.items() if value}


async def _sub_workflows(client: "Client", execution: WorkflowExecutionDescription) -> list[str]:
    """Return the ids of the running sub-workflows, including those that an earlier execution began."""
    described = execution.raw_description
    found = [one.workflow_id for one in described.pending_children if one.workflow_type_name not in WORKFLOW_TYPES]
    for pending in described.pending_activities:
        if pending.activity_type.name == ENDING and pending.HasField("last_failure"):
            failure = await client.temporal.data_converter.decode_failure(pending.last_failure)
            if isinstance(failure, ApplicationError):
                # A workflow that makes a single call names its parent in the same way.
                found += [one for one in failure.details if one != execution.parent_id]
    return found


async def _call(client: "Client", pending: PendingActivityInfo) -> dict[str, Any]:
    call: dict[str, Any] = {
        "id": pending.activity_id,
        "function": pending.activity_type.name,
        "attempt": pending.attempt,
    }
    rests = pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED and pending.attempt > 1
    if rests and pending.HasField("scheduled_time"):
        call["next"] = pending.scheduled_time.ToDatetime(tzinfo=UTC).isoformat(timespec="seconds")
    if pending.paused:
        pause = pending.pause_info
        told = pause.rule if pause.HasField("rule") else pause.manual
        call["paused"] = _paused(pause.pause_time.ToDatetime(tzinfo=UTC), told.identity, told.reason)
    if pending.HasField("last_failure"):
        failure = await client.temporal.data_converter.decode_failure(pending.last_failure)
        call["lastFailure"] = getattr(failure, "message", str(failure))
    return call


_INTERVAL = 0.3
"""Seconds between two queries of an instance's trace."""


async def follow(client: "Client", workflow_id: str) -> AsyncIterator[dict[str, Any]]:
    """Yield the entries of an instance's trace: those of its latest run so far, and then each, until it ends.

    Raises InstanceNotFoundError if there is no such instance.
    """
    run_id: str | None = None
    last: dict[str, Any] | None = None
    was_paused = False
    while True:
        found = await execution_of(client, workflow_id)
        if run_id not in (None, found.run_id):
            traces, goes_on = await _up_to(client, workflow_id, str(run_id), found.run_id)
            for trace in traces:
                for entry in news(trace, last):
                    yield entry
                last = None
            if not goes_on:
                return
        run_id = found.run_id
        if not (was_paused and is_paused(found)):  # its history would be read again
            seen = (await view_of(client, found)).trace
            for entry in [] if isinstance(seen, UsageError) else news(seen, last):
                last = entry
                yield entry
        if is_closed(found) and found.status is not WorkflowExecutionStatus.CONTINUED_AS_NEW:
            return
        was_paused = is_paused(found)
        await asyncio.sleep(_INTERVAL)


async def _up_to(
    client: "Client", workflow_id: str, since: str, latest: str
) -> tuple[list[list[dict[str, Any]]], bool]:
    """Return the traces of the runs from *since* to the one before the *latest*, and whether that belongs to them.

    It does not if another instance has the id by now.
    """
    # Heavy, and for instances of several runs alone.
    from swf_temporal.operations.instance_history import history_of_run, runs_back  # noqa: PLC0415 - as said

    found: list[RunHistory] = []
    goes_on = False
    async for run in runs_back(client, workflow_id, latest):
        if run.run_id != latest:
            found.insert(0, run)
        elif run.start.original_execution_run_id != latest:  # a reset repeats what was
            return [], True
        if run.run_id == since:
            goes_on = True
            break
    if not goes_on:
        found = list((await history_of_run(client, workflow_id, since)).runs)
    replayed = [await run.replayed(client.temporal.data_converter) for run in found]
    return [facts_by_history(one, with_trace=True)["trace"] for one in replayed], goes_on


def news(trace: list[dict[str, Any]], last: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the entries after *last*. A run that continues as new begins its trace again.

    If a worker has replayed the run, the first entries may have other times than before: an entry after a local
    activity then has the time of the workflow task, which is earlier.
    """
    if last is None or last in trace:
        start = 0 if last is None else len(trace) - trace[::-1].index(last)
        return trace[start:]
    if not trace or datetime.fromisoformat(trace[0]["at"]) > datetime.fromisoformat(last["at"]):
        return trace
    same = [{**entry, "at": last["at"]} == last for entry in trace]
    return trace[len(trace) - same[::-1].index(True) :] if any(same) else trace
