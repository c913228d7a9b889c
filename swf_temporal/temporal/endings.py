"""Waiting for the end of a workflow by an activity, when no history event reports it.

Each attempt checks once. While the workflow is running, the attempt fails and says when the next is due: so a wait of
days adds nothing to the history of the waiting run, and occupies no activity slot of a worker.
"""

import time  # noqa: TID251 - for the activity
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Final

from temporalio import activity
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import RetryPolicy
from temporalio.exceptions import (
    ApplicationError,
    ApplicationErrorCategory,
    CancelledError,
    FailureError,
    TerminatedError,
    TimeoutType,
)
from temporalio.exceptions import (
    TimeoutError as EngineTimeout,
)
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record
from swf_temporal.temporal.constants import ENDING
from swf_temporal.temporal.statuses import is_closed

ATTEMPT: Final = timedelta(seconds=30)
"""The time limit of one check."""
_PART: Final = 0.05
"""The pause before the next check, as a fraction of the time since the workflow began."""
_MIN_PAUSE, _MAX_PAUSE = 1.0, 30.0
"""Seconds."""
POLICY: Final = RetryPolicy(
    initial_interval=timedelta(seconds=_MIN_PAUSE),
    maximum_interval=timedelta(seconds=_MAX_PAUSE),
    non_retryable_error_types=["PayloadsTooLarge"],
)
"""For attempts that could not check, because a server or a worker was unavailable."""

_RUNNING: Final = "StillRunning"


@dataclass(frozen=True, slots=True)
class AwaitedRecord(Record):
    WHAT: ClassVar[str] = "a wait for the end of a workflow"

    id: str
    run: str
    """Its first execution: a later workflow of the same id is another one."""
    since: float
    """The time since which it has been awaited, in seconds of the epoch."""
    brief: bool = False
    """True if it matters only that it has ended, not how."""
    call: bool = False
    """True if it makes a call for the waiting execution, and gives up once that has ended."""


@dataclass(frozen=True, slots=True)
class EndingRecord(Record):
    WHAT: ClassVar[str] = "the end of a workflow"

    how: str
    """`completed`, `failed`, `cancelled`, `terminated`, `timed out`, `gone` if the server no longer knows it,
    or only `ended`."""
    output: JSON = None
    type: str | None = None
    message: str = ""
    details: Sequence[Any] = ()
    """The details of a failure."""


_GONE: Final = EndingRecord("gone", type="NotFound", message="the server no longer knows it")


class Endings:
    """The activity, on a worker."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @activity.defn(name=ENDING)
    async def ending(self, of: dict[str, Any]) -> dict[str, Any]:
        """Return how a workflow ended, across all its executions: an `EndingRecord`."""
        return (await self._ending(AwaitedRecord.from_json(of))).to_json()

    async def _ending(self, of: AwaitedRecord) -> EndingRecord:
        try:
            found = await self._client.get_workflow_handle(of.id).describe()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return _GONE
        first = found.raw_description.workflow_execution_info.first_run_id
        is_another = bool(first) and first != of.run
        if not is_another and not is_closed(found):
            raise _still_running(of)
        if of.brief:
            return EndingRecord("ended")
        handle = self._client.get_workflow_handle(of.id, run_id=of.run if is_another else found.run_id)
        try:
            return EndingRecord("completed", await handle.result())
        except WorkflowFailureError as error:
            return _ending_of(error.cause)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return _GONE


def cause_of(ending: EndingRecord) -> FailureError | None:
    """Return the cause with which the engine reports the failure of a child; None if it completed."""
    match ending.how:
        case "completed":
            return None
        case "cancelled":
            return CancelledError("Cancelled")
        case "terminated":
            return TerminatedError("Terminated")
        case "timed out":
            return EngineTimeout("Timed out", type=TimeoutType.START_TO_CLOSE, last_heartbeat_details=[])
    return ApplicationError(ending.message, *ending.details, type=ending.type, non_retryable=True)


def _still_running(of: AwaitedRecord) -> ApplicationError:
    pause = min(max(_PART * (time.time() - of.since), _MIN_PAUSE), _MAX_PAUSE)
    return ApplicationError(
        f"{of.id} is still running",
        of.id,  # the id by which the status of the waiting run names it
        type=_RUNNING,
        next_retry_delay=timedelta(seconds=pause),
        category=ApplicationErrorCategory.BENIGN,  # which is not logged
    )


def _ending_of(cause: BaseException) -> EndingRecord:
    match cause:
        case CancelledError():
            return EndingRecord("cancelled")
        case TerminatedError():
            return EndingRecord("terminated")
        case EngineTimeout():
            return EndingRecord("timed out")
        case ApplicationError():
            return EndingRecord("failed", type=cause.type, message=cause.message, details=cause.details)
    return EndingRecord("failed", type=type(cause).__name__, message=str(cause))
