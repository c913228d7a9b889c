"""The client: starts workflows, sends them events, reads their results."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from temporalio.client import (
    Client,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowQueryFailedError,
    WorkflowQueryRejectedError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import (
    ApplicationError,
    CancelledError,
    TerminatedError,
    WorkflowAlreadyStartedError,
)
from temporalio.exceptions import (
    TimeoutError as EngineTimeout,
)
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.client_errors import (
    AlreadyStartedError,
    InboxFullError,
    InvalidEventError,
    InvalidInputError,
    NeverTakenError,
    NoAnswerError,
    RunEnded,
)
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, json_from
from swf_temporal.base.errors import UsageError, WorkflowFault
from swf_temporal.base.strict_json import NotJSON
from swf_temporal.settings.values import TASK_QUEUE
from swf_temporal.temporal import statuses, summaries  # noqa: F401 - the SDK then reads every status
from swf_temporal.temporal.client_errors import has_ended, is_paused, not_there, refused_by_server
from swf_temporal.temporal.constants import CHANGE_DATA, DELIVER, EVENT, EVENT_REFUSED, INBOX_FULL
from swf_temporal.temporal.converter import sendable
from swf_temporal.temporal.start_options import StartOptions
from swf_temporal.temporal.statuses import answer_of

if TYPE_CHECKING:
    from swf_temporal.languages.port import Definition

Handle = WorkflowHandle[Any, Any]

PATIENCE = timedelta(seconds=10)
"""The time limit for a worker's answer to an event."""

_UNANSWERED: Final = (RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED, RPCStatusCode.FAILED_PRECONDITION)
"""The server's answers to a query for which there is no worker, or none in time."""

SENT = "sent"
"""The outcome of an event that was sent without waiting for a worker's answer."""


async def start(  # noqa: PLR0913 - what may be said of a start, most of it optional
    client: Client,
    workflows: "Sequence[Definition]",
    data: object = None,
    *,
    workflow_id: str,
    task_queue: str = TASK_QUEUE,
    events: Sequence[Mapping[str, Any]] = (),
    others: Mapping[str, JSON] | None = None,
    options: StartOptions | None = None,
) -> Handle:
    """Start an instance of the first of *workflows*; the others are its sub-workflows.

    The definitions are pinned: the run keeps them, even if the files change. *events* are there from the start.
    *others* are extra fields of the run's record, for a custom worker of the caller.
    Raises AlreadyStartedError if an instance of that id is running or, where the *options* say so, has ended; and
    UsageError if the data or an event is not JSON.
    """
    from swf_temporal.temporal.records import pin_of, pinned  # noqa: PLC0415 - heavy, and for definitions alone

    first = workflows[0]
    pin = pin_of(pinned(workflows), first.version)
    pin.start.events, pin.others = _ready(events), dict(others or {})
    arguments = {"an input": _input(data), "the definitions and events": cast("JSON", pin.to_json())}
    wanted = _options(options, summaries.of_instance(first))
    return await _start(client, first.id, arguments, workflow_id, task_queue, wanted)


async def start_known(  # noqa: PLR0913 - as above
    client: Client,
    definition_id: str,
    data: object = None,
    *,
    workflow_id: str,
    task_queue: str = TASK_QUEUE,
    events: Sequence[Mapping[str, Any]] = (),
    version: str | None = None,
    options: StartOptions | None = None,
) -> Handle:
    """Start an instance of a definition that the workers know by its id, as any Temporal client can.

    It is the latest that they have, or the one of that *version*.

    Raises AlreadyStartedError and UsageError as `start` does.
    """
    arguments = {"an input": _input(data)}
    if events or version is not None:
        from swf_temporal.temporal.records import Pin, StartRecord  # noqa: PLC0415 - as above

        pin = Pin(version=version, start=StartRecord(_ready(events)))
        arguments["events"] = cast("JSON", pin.to_json())
    summary = summaries.of_instance_by_id(definition_id)
    wanted = _options(options, summary)
    return await _start(client, definition_id, arguments, workflow_id, task_queue, wanted)


async def send_data(client: Client, workflow_id: str, name: str, data: object = None) -> None:
    """Send the data of an event that the definition knows as *name*.

    Raises InvalidEventError if it is not JSON, and UsageError if the instance is not there.
    """
    try:
        [value] = sendable(client, {f"data for {name!r}": json_from(data)})
        await client.get_workflow_handle(workflow_id).signal(name, value)
    except NotJSON as error:
        raise InvalidEventError(f"the data of the event {name!r} is not JSON: {error}") from None
    except RPCError as error:
        raise not_there(error, workflow_id) from None


async def send_event(client: Client, workflow_id: str, event: Mapping[str, Any]) -> None:
    """Send a CloudEvent to a running instance. Raises UsageError if it is not an event, or there is no instance."""
    try:
        given: Any = json_from(event)
        cloud_event = CloudEvent.from_json(given, default_id="")
    except ValueError as error:
        raise InvalidEventError(str(error)) from None
    try:
        [value] = sendable(client, {"an event": cloud_event.to_json()})
        await client.get_workflow_handle(workflow_id).signal(EVENT, value)
    except RPCError as error:
        raise not_there(error, workflow_id) from None


async def deliver(client: Client, workflow_id: str, event: Mapping[str, Any], patience: timedelta = PATIENCE) -> str:
    """Give an event to a running instance; return the outcome: `taken`, `kept` or `duplicate`.

    *event* is a CloudEvent, or has the `name` that the definition gives to an event, and its `data`. The outcome is
    `sent` if it was sent by a signal, because the run is paused, or has reached the server's limit of updates.
    Raises NeverTakenError if the definition describes no such event, InboxFullError if the instance has no room for it
    now, NoAnswerError if no worker answers in time, and UsageError if it is not an event, or there is no instance.
    """
    handle = client.get_workflow_handle(workflow_id)
    try:
        [value] = sendable(client, {"an event": json_from(event)})
    except NotJSON as error:
        raise InvalidEventError(f"an event is one JSON object: {error}") from None
    try:
        answer = await handle.execute_update(DELIVER, value, rpc_timeout=patience)
    except WorkflowUpdateFailedError as error:
        raise _refusal_of(error, workflow_id, event) or UsageError(
            f"{workflow_id!r} refuses the event: {error.cause}"
        ) from None
    except WorkflowUpdateRPCTimeoutOrCancelledError:
        raise _not_answered(workflow_id, patience) from None
    except RPCError as error:
        refuses_updates = error.status == RPCStatusCode.FAILED_PRECONDITION and "paused" in error.message
        if error.status != RPCStatusCode.RESOURCE_EXHAUSTED and not refuses_updates:
            raise not_there(error, workflow_id) from None
    else:
        return str(answer["status"])
    await send(client, workflow_id, event)
    return SENT


async def change_data(
    client: Client, workflow_id: str, patch: Mapping[str, Any], patience: timedelta = PATIENCE
) -> None:
    """Change the data of an instance's running state by a JSON merge patch, once its calls in progress have ended.

    Raises UsageError if there is no such instance, or it is ending or has not begun, and NoAnswerError on a timeout.
    """
    try:
        [value] = sendable(client, {"a patch": json_from(patch)})
        handle = client.get_workflow_handle(workflow_id)
        await handle.execute_update(CHANGE_DATA, value, rpc_timeout=patience)
    except NotJSON as error:
        raise UsageError(f"a patch is one JSON object: {error}") from None
    except WorkflowUpdateFailedError as error:
        raise UsageError(f"{workflow_id!r} {getattr(error.cause, 'message', error.cause)}") from None
    except WorkflowUpdateRPCTimeoutOrCancelledError:
        raise _not_answered(workflow_id, patience) from None
    except RPCError as error:
        raise not_there(error, workflow_id) from None


def _not_answered(workflow_id: str, patience: timedelta) -> NoAnswerError:
    """Return the error of an update that no worker answered. Raises CancelledError if the caller was cancelled."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError from None
    text = f"no worker answered for {workflow_id!r} within {patience.total_seconds():g} seconds"
    return NoAnswerError(text, instance=workflow_id, patience=patience)


async def send(client: Client, workflow_id: str, event: Mapping[str, Any]) -> None:
    """Send an event, as `deliver` takes it, by a signal, which does not wait for a worker. Raises UsageError."""
    if "type" in event or "name" not in event:
        await send_event(client, workflow_id, event)
    else:
        await send_data(client, workflow_id, event["name"], event.get("data"))


async def query(
    client: Client,
    workflow_id: str,
    name: str,
    patience: timedelta = PATIENCE,
    *,
    result_type: type | None = None,
    run_id: str | None = None,
) -> Any:
    """Return an instance's answer to a query (`status`, `data` or `trace`), as a *result_type* if one is given.

    It is that of its latest run, or of the one with the *run_id*.

    Raises InstancePausedError if it is paused, and NoAnswerError if no worker answers within *patience*: immediately
    if the server knows of none.
    """
    handle = client.get_workflow_handle(workflow_id, run_id=run_id)
    try:
        return await answer_of(partial(handle.query, name, result_type=result_type, rpc_timeout=patience))
    except WorkflowQueryFailedError as error:
        raise UsageError(f"{workflow_id!r} does not answer {name!r}: {error.message}") from None
    except RPCError as error:
        if error.status not in _UNANSWERED:
            raise not_there(error, workflow_id) from None
        text, hint = f"no worker answers for {workflow_id!r}", "start one with `swf worker`, or a Worker"
        raise NoAnswerError(text, hint, instance=workflow_id, patience=patience) from None
    except WorkflowQueryRejectedError:  # by the server, which does not pass queries on to a paused instance
        raise is_paused(workflow_id) from None


async def result(handle: Handle) -> JSON:
    """Return the output of an instance, once it has ended. Raises RunEnded if it has no output."""
    try:
        output: JSON = await handle.result()
    except WorkflowFailureError as error:
        raise _ended(error.cause, handle.id) from None
    except RPCError as error:
        raise not_there(error, handle.id) from None
    return output


async def _start(
    client: Client,
    workflow_type: str,
    arguments: Mapping[str, JSON],
    workflow_id: str,
    task_queue: str,
    options: StartOptions,
) -> Handle:
    values = sendable(client, arguments)
    try:
        # A worker of this process on the same connection gets the first workflow task with the answer.
        return await client.start_workflow(
            workflow_type, args=values, id=workflow_id, task_queue=task_queue, request_eager_start=True, **options
        )
    except WorkflowAlreadyStartedError:
        is_any = options["id_reuse_policy"] == WorkflowIDReusePolicy.ALLOW_DUPLICATE
        what = "is running already" if is_any else "was started before"
        message = f"an instance {workflow_id!r} {what}"
        raise AlreadyStartedError(message, "choose another workflow_id", instance=workflow_id) from None
    except RPCError as error:
        raise refused_by_server(error, f"the server did not start {workflow_id!r}") from None


def _options(given: StartOptions | None, summary: str) -> StartOptions:
    return {
        "id_conflict_policy": WorkflowIDConflictPolicy.FAIL,
        "id_reuse_policy": WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        "static_summary": summary,
        **(given or {}),
    }


def _ready(events: Sequence[Mapping[str, Any]]) -> list[CloudEvent]:
    try:
        given: list[Any] = [json_from(event) for event in events]
    except NotJSON as error:
        raise InvalidEventError(f"an event is one JSON object: {error}") from None
    return [CloudEvent.from_json(event, default_id=f"start-{n}") for n, event in enumerate(given)]


def _input(data: object) -> JSON:
    try:
        return {} if data is None else json_from(data)
    except NotJSON as error:
        raise InvalidInputError(f"the input of a workflow is one JSON value: {error}") from None


def _refusal_of(error: WorkflowUpdateFailedError, workflow_id: str, event: Mapping[str, Any]) -> UsageError | None:
    """Return the error of an event that was refused; None if the reason is not known."""
    cause = error.cause
    kind = cause.type if isinstance(cause, ApplicationError) else None
    message = cause.message if isinstance(cause, ApplicationError) else str(cause)
    if kind == EVENT_REFUSED and isinstance(cause, ApplicationError):
        hint = cause.details[0] if cause.details else None
        return NeverTakenError(f"{workflow_id!r} {message}", hint, instance=workflow_id, event=event)
    if kind == INBOX_FULL:
        hint = "send it again later; its status says what it waits for"
        return InboxFullError(f"{workflow_id!r} {message}", hint, instance=workflow_id)
    if kind == "AcceptedUpdateCompletedWorkflow":
        return has_ended(workflow_id)
    if "expected but not found" in message:
        return UsageError(f"{workflow_id!r} is not an instance of a definition: it takes no events")
    return None


def _ended(cause: BaseException | None, instance: str) -> RunEnded:
    match cause:
        case ApplicationError():
            facts = cause.details[0] if cause.details else None
            fault = WorkflowFault.from_json(facts) if isinstance(facts, dict) and "kind" in facts else None
            return RunEnded(cause.message, "failed", fault, instance=instance)
        case CancelledError():
            return RunEnded("the workflow was cancelled", "cancelled", instance=instance)
        case TerminatedError():
            return RunEnded(f"the workflow was terminated: {cause}", "terminated", instance=instance)
        case EngineTimeout():
            return RunEnded("the workflow took longer than its start allowed", "timed-out", instance=instance)
    return RunEnded(f"the workflow failed: {cause}", "failed", instance=instance)
