"""The status of a workflow, including statuses that the SDK does not know, such as paused.

A workflow whose latest workflow task failed, and is being retried, is running for the server. Why its task failed is
read from its history.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

from temporalio.api.common.v1 import WorkflowExecution as ExecutionName
from temporalio.api.enums.v1 import EventType
from temporalio.api.enums.v1 import WorkflowExecutionStatus as StatusNumber
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryReverseRequest
from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowHandle,
    WorkflowHistoryEventAsyncIterator,
    WorkflowHistoryEventFilterType,
    WorkflowQueryFailedError,
)
from temporalio.exceptions import FailureError
from temporalio.service import RPCError, RPCStatusCode

_PREFIX: Final = "WORKFLOW_EXECUTION_STATUS_"
_CLOSING: Final = frozenset(
    EventType.Value(f"EVENT_TYPE_WORKFLOW_EXECUTION_{how}")
    for how in ("COMPLETED", "FAILED", "TIMED_OUT", "CANCELED", "TERMINATED", "CONTINUED_AS_NEW")
)
_PAUSED: Final = "PAUSED"
"""The server's status of a paused workflow, which the SDK lacks."""
_PAUSE: Final = 1.0
"""Seconds between two checks whether a paused workflow has ended."""

OPEN: Final = "CloseTime IS NULL"
"""The list filter for open workflows: running, paused, or with a status unknown here."""


async def running_execution(handle: WorkflowHandle[Any, Any]) -> WorkflowExecutionDescription | None:
    """Return the server's description of the workflow of *handle*; None if there is none, or it has ended."""
    try:
        found = await handle.describe()
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return None
        raise
    return None if is_closed(found) else found


def is_closed(execution: WorkflowExecution) -> bool:
    """Return whether it has ended: one that is paused, or has a status unknown here, has not."""
    return execution.close_time is not None


def is_paused(execution: WorkflowExecution) -> bool:
    """Return whether it is paused until it is resumed."""
    return execution.status is not None and execution.status.name == _PAUSED


def _member_of_unknown(cls: Any, number: int) -> Any:
    member = int.__new__(cls, number)
    known = StatusNumber.DESCRIPTOR.values_by_number.get(number)
    member._name_ = str(number) if known is None else known.name.removeprefix(_PREFIX)
    member._value_ = number
    return member


# The SDK raises ValueError for every description and list with a status newer than itself.
setattr(WorkflowExecutionStatus, "_missing_", classmethod(_member_of_unknown))  # noqa: B010 - mypy knows no such method


def _has_end(events: Any) -> bool:
    return any(one.event_type in _CLOSING for one in events.current_page or ())


async def _fetch_next_page(events: Any, *, page_size: int | None = None) -> None:
    asked = events._input  # noqa: SLF001 - nothing else tells what is waited for
    is_for_end = asked.wait_new_event and asked.event_filter_type == WorkflowHistoryEventFilterType.CLOSE_EVENT
    may_wait = is_for_end and not _has_end(events)
    await _fetched(events, page_size=page_size)
    while may_wait and events.next_page_token is None and not _has_end(events):
        await asyncio.sleep(_PAUSE)
        await _fetched(events, page_size=page_size)


_fetched: Final = WorkflowHistoryEventAsyncIterator.fetch_next_page
# A server does not wait for the end of a paused workflow, but answers with another event. When asked for the result,
# the SDK would repeat the request without a pause, or raise RuntimeError.
setattr(WorkflowHistoryEventAsyncIterator, "fetch_next_page", _fetch_next_page)  # noqa: B010 - mypy refuses the other


Answer = TypeVar("Answer")

ASK_AGAIN: Final = "the instance is about to take its next step: ask again"
"""The error of a query that was sent too early."""

_TRIES: Final = 50
_QUERY_PAUSE: Final = 0.1
"""Seconds until a query is repeated: by then the workflow task has usually begun."""


async def answer_of(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    """Return the answer to the query *ask*, repeated if it was sent too early. Raises what *ask* raises."""
    for _ in range(_TRIES):
        try:
            return await ask()
        except WorkflowQueryFailedError as error:
            if error.message != ASK_AGAIN:
                raise
        await asyncio.sleep(_QUERY_PAUSE)
    return await ask()


_LATEST = 10
"""The number of latest events to check: a failed task is among the last."""


async def why_task_failed(
    client: Client, described: WorkflowExecutionDescription, *, has_begun: bool = True
) -> str | None:
    """Return why the workflow task that is being retried failed; None if none is, or the reason is not known.

    A workflow that has not begun may have recorded what it looked up: its task was tried before.
    """
    error = await error_of_task(client, described, has_begun=has_begun)
    return error.message if isinstance(error, FailureError) else None if error is None else str(error)


async def error_of_task(
    client: Client, described: WorkflowExecutionDescription, *, has_begun: bool = True
) -> BaseException | None:
    """Return the error of the workflow task that is being retried, like `why_task_failed`."""
    task = described.raw_description.pending_workflow_task
    if not described.raw_description.HasField("pending_workflow_task") or (has_begun and task.attempt <= 1):
        return None
    request = GetWorkflowExecutionHistoryReverseRequest(
        namespace=client.namespace,
        execution=ExecutionName(workflow_id=described.id, run_id=described.run_id),
        maximum_page_size=_LATEST,
    )
    with suppress(RPCError):  # it has just ended, or the caller may not read histories
        found = await client.workflow_service.get_workflow_execution_history_reverse(request)
        for event in found.history.events:
            if event.HasField("workflow_task_failed_event_attributes"):
                return await client.data_converter.decode_failure(event.workflow_task_failed_event_attributes.failure)
    return None
