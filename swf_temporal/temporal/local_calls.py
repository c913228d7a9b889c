"""Calls that are made within the workflow task, as local activities: the history has a marker of each, and no more.

A local activity holds the workflow task open: until it ends, or the SDK renews the task after eight seconds, nothing
else reaches the run. So a local call has a bound. What would take longer *goes on* as an ordinary activity, under the
same id and with the same idempotency key: a pause before another attempt that would come too late, an answer that does
not come, a result or a failure that is too large to be sent with all else that the task comes to, and a call that its
worker does not let be local. The marker says so, and how many attempts were made.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    ApplicationErrorCategory,
    CancelledError,
    FailureError,
)
from temporalio.worker import Interceptor, WorkflowInboundInterceptor, WorkflowInterceptorClassInput
from temporalio.workflow import ActivityCancellationType

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import TimedOut
from swf_temporal.base.records import Record
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.runtime.ids import shortened_id
from swf_temporal.runtime.local_calls import MAX_ATTEMPT
from swf_temporal.temporal import summaries
from swf_temporal.temporal.call_records import CallRecord, LocalRecord
from swf_temporal.temporal.failures import carried, size_of_failure
from swf_temporal.temporal.markers import is_recorded
from swf_temporal.temporal.outgoing import Outgoing, Room
from swf_temporal.temporal.retry_policies import ONCE

LIMIT: Final = MAX_ATTEMPT + timedelta(seconds=5)
"""When the engine takes a local call for one that does not end. What has a limit of its own has met that before."""

MIN_RESULT_BYTES: Final = 256 * 1024
"""The room that a local call has at least for its result, beside however many others: twelve are made at once."""

_GOES_ON: Final = "GoesOnAsActivity"
_CHOOSES: Final = "swf_chooses_local_calls"
_CHOSEN: Final = "local calls"
"""The marker of a run whose worker makes calls locally for which the definition does not ask."""


@dataclass(frozen=True, slots=True)
class GoesOn(Record):
    """What a local call came to that goes on as an ordinary activity."""

    made: int = 0
    """How many attempts were made."""
    delay: timedelta = timedelta()
    """How long until the next may be made."""
    cause: str = ""
    """What the last one failed with."""
    is_refused: bool = False
    """Whether its worker lets no call of this function be local."""

    def to_error(self) -> ApplicationError:
        return ApplicationError(
            "goes on as an ordinary activity",
            self.to_json(),
            type=_GOES_ON,
            non_retryable=True,
            category=ApplicationErrorCategory.BENIGN,  # it is no failure that a log or a metric should have
        )

    @staticmethod
    def from_error(error: ApplicationError) -> "GoesOn | None":
        """Return what *error* says of a call that goes on; None if the call has failed for good."""
        return GoesOn.from_json(error.details[0]) if error.type == _GOES_ON else None


class LocalCallsInterceptor(Interceptor):
    """Lets workflow code know that its worker makes calls locally for which no definition asks."""

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002 - the SDK's name
    ) -> type[WorkflowInboundInterceptor] | None:
        """Hand it over; nothing is intercepted."""
        input.unsafe_extern_functions[_CHOOSES] = lambda: True
        return None


class LocalCalls:
    """The local calls of one run."""

    def __init__(self, outgoing: Outgoing, *, makes_any: bool) -> None:
        self._outgoing = outgoing
        self._makes_any = makes_any
        self._are_chosen: bool | None = None
        """Whether the operator has calls made locally for which the definition does not ask; None if nobody asked."""
        self._refused: set[str] = set()
        """The functions that a worker has refused to call locally."""
        self.in_progress: dict[str, str] = {}
        """The functions that are called, by the ids of their calls."""
        self._count = 0
        """How many are made, or are about to be."""
        self._timers: dict[object, datetime] = {}
        """When the timers of the run are due."""

    @contextmanager
    def timer(self, due: datetime) -> Iterator[None]:
        """Know of a timer that is due then, for as long as the context lasts: no local call is to delay it."""
        key = object()
        self._timers[key] = due
        try:
            yield
        finally:
            del self._timers[key]

    @contextmanager
    def beside_others(self) -> Iterator[None]:
        """Count a call for as long as the context lasts: those that are made at once share the room for results."""
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1

    def want(self, call: FunctionCall) -> bool:
        """Tell whether *call* is to be local, if it can be."""
        if call.local is False or not self._makes_any:
            return False
        if not call.local and self._are_chosen is None:
            self._are_chosen = is_recorded(_CHOSEN, wanted=_CHOOSES in workflow.extern_functions())
        return bool(call.local or self._are_chosen)

    async def can_be(self, call: FunctionCall, now: datetime) -> bool:
        """Tell whether *call*, which is wanted local, can be."""
        if call.function.name in self._refused:
            return False
        await workflow.wait_condition(lambda: True)  # the timers of what limits the call are set after it has begun
        return not self._timers or min(self._timers.values()) - now > MAX_ATTEMPT

    async def make(self, call: FunctionCall, record: CallRecord) -> JSON | GoesOn:
        """Return the result of *call*, or how it goes on. Raises its fault if it has failed for good."""
        async with self._outgoing.reserved(MIN_RESULT_BYTES, self._count) as room:
            local = replace(record, local=LocalRecord(most=room.size, asked=bool(call.local)))
            payload = self._outgoing.written(local.to_json())
            limit = LIMIT if call.timeout is None else min(call.timeout, LIMIT)
            self.in_progress[call.id] = call.function.name
            try:
                raw: RawValue = await workflow.execute_local_activity(
                    call.function.name,
                    args=[RawValue(payload)],
                    result_type=RawValue,
                    activity_id=shortened_id(call.id),
                    schedule_to_close_timeout=limit,
                    retry_policy=ONCE,  # the activity makes further attempts itself
                    cancellation_type=ActivityCancellationType.TRY_CANCEL,
                    summary=summaries.of_call(call),
                )
            except FailureError as error:
                return self._went_wrong(call, error, limit, room)
            finally:
                del self.in_progress[call.id]
            room.used = len(raw.payload.data)
        result: JSON = workflow.payload_converter().from_payload(raw.payload)
        return result

    def _went_wrong(self, call: FunctionCall, error: FailureError, limit: timedelta, room: Room) -> GoesOn:
        """Return how *call* goes on after *error*. Raises its fault if it has failed for good."""
        # What was raised is handed out as it is, a timeout within an ActivityError: but by a replay, as it is, too.
        cause = error.cause if isinstance(error, ActivityError) else error
        if isinstance(cause, CancelledError):
            raise asyncio.CancelledError from None
        if isinstance(cause, ApplicationError):
            outcome = GoesOn.from_error(cause)
            if outcome is None:
                room.used = size_of_failure(cause)
                raise carried(cause) from None
        elif limit == call.timeout:
            raise TimedOut(f"action {call.action!r} took longer than it may") from None
        else:
            outcome = GoesOn(made=1, is_refused=True)
        if outcome.is_refused:
            self._refused.add(call.function.name)
        return outcome
