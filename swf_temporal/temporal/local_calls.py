"""Calls made within the workflow task, as local activities: the history has only a marker of each.

A local activity holds the workflow task open: until it ends, or the SDK renews the task after eight seconds, nothing
else reaches the run. So a local call has a time limit. Beyond that it *continues* as an ordinary activity, with the
same id and idempotency key. So does a call whose pause before the next attempt would be too long, that gets no answer,
whose result or failure is too large to be sent with the other commands of the task, or that its worker does not allow
to be local. The marker says so, and how many attempts were made.
"""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from temporalio import workflow
from temporalio.api.common.v1 import RetryPolicy as RetryPolicyRecord
from temporalio.common import RawValue, RetryPolicy
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
from swf_temporal.base.errors import CallFailed, TimedOut
from swf_temporal.base.records import Record
from swf_temporal.runtime.external_activities import ExternalRetryPolicy
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.runtime.ids import shortened_id
from swf_temporal.runtime.retrying import CATCH_ALL, GRPC_STATUSES, MAX_DELAY, ErrorName, RetryRule
from swf_temporal.runtime.variables import MAX_ATTEMPT
from swf_temporal.temporal import summaries
from swf_temporal.temporal.call_records import CallRecord, LocalRecord, carried, size_of_failure
from swf_temporal.temporal.markers import is_recorded
from swf_temporal.temporal.outgoing import Outgoing, Room

ONCE = RetryPolicy(maximum_attempts=1)

_MIN_INTERVAL = 0.001
"""Seconds. The engine takes a delay of zero as unset, and falls back on its own policy."""

_MAX_PAUSE = 100.0
"""Seconds before a lost attempt is repeated if the definition sets no limit."""

_TIMEOUTS = {"Timeout": "TemporalTimeout:StartToClose", "Lost": "TemporalTimeout:Heartbeat"}
"""The server's timeout types, by the codes of the faults that they cause."""


def policy_of(policy: ExternalRetryPolicy) -> RetryPolicy:
    """Return the retry policy that a function's own metadata asks for."""
    maximum = policy.maximum_interval
    usual = timedelta(seconds=1)
    return RetryPolicy(
        # The engine refuses a first pause that is longer than the longest.
        initial_interval=policy.initial_interval or min(usual, maximum or usual),
        backoff_coefficient=2.0 if policy.backoff_coefficient is None else policy.backoff_coefficient,
        maximum_interval=maximum,
        maximum_attempts=policy.maximum_attempts or 0,
        non_retryable_error_types=list(policy.never),
    )


class _Policy(RetryPolicy):
    """A retry policy that is serialized once, not for every call."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._written = RetryPolicyRecord()
        super().apply_to_proto(self._written)

    def apply_to_proto(self, proto: RetryPolicyRecord) -> None:
        proto.CopyFrom(self._written)


def policy_of_lost(retry: RetryRule | None) -> RetryPolicy:
    """Return the retry policy for lost attempts, which cannot set the delay of the next one themselves."""
    return _policy_of_lost(retry.delay if retry else 1.0, (retry and retry.max_delay) or _MAX_PAUSE)


@lru_cache(maxsize=512)
def _policy_of_lost(delay: float, longest: float) -> RetryPolicy:
    first = max(_MIN_INTERVAL, delay)
    return _Policy(
        initial_interval=timedelta(seconds=first),
        # The engine refuses a policy whose first pause is longer than its longest.
        maximum_interval=timedelta(seconds=max(first, longest)),
        non_retryable_error_types=["PayloadsTooLarge"],
    )


def policy_for(rule: RetryRule | None) -> RetryPolicy | None:
    """Return the policy with the same delays, for the same errors, as *rule*; None if no policy can express it."""
    if rule is None:
        return ONCE
    if any(name in CATCH_ALL or code in CATCH_ALL for name, code in rule.never):
        return ONCE
    names_too_little = rule.only or rule.condition is not None or any(map(_is_by_message, rule.never))
    if rule.increment or rule.jitter or rule.multiplier < 1 or names_too_little:
        return None
    longest = MAX_DELAY if rule.max_delay is None else min(rule.max_delay, MAX_DELAY)
    first = min(rule.delay, longest)
    # A delay of zero never grows, so neither must the minimum that replaces it.
    is_nothing = first < _MIN_INTERVAL
    return RetryPolicy(
        initial_interval=timedelta(seconds=_MIN_INTERVAL if is_nothing else first),
        backoff_coefficient=1.0 if is_nothing else rule.multiplier,
        maximum_interval=timedelta(seconds=_MIN_INTERVAL if is_nothing else longest),
        maximum_attempts=rule.max_attempts or 0,
        non_retryable_error_types=list(dict.fromkeys(_types(rule))),
    )


def _is_by_message(error: ErrorName) -> bool:
    """Return whether an error is matched by its message, since its code is not a single word."""
    code = error[1]
    return code is not None and re.fullmatch(r"[\w.:-]+", code) is None


def _types(rule: RetryRule) -> Iterator[str]:
    """Yield the error types that *rule* does not retry."""
    for word in (word for error in rule.never for word in error if word is not None):
        yield word
        yield word.removeprefix("HTTP:")
        if word in GRPC_STATUSES:
            yield str(GRPC_STATUSES.index(word))
        elif word.isdecimal() and int(word) < len(GRPC_STATUSES):
            yield GRPC_STATUSES[int(word)]
    for code, name in _TIMEOUTS.items():
        if not rule.covers(CallFailed(code=code)):
            yield name


LIMIT: Final = MAX_ATTEMPT + timedelta(seconds=5)
"""The time after which the engine gives up a local call. Calls with their own limit reach that one earlier."""

MIN_RESULT_BYTES: Final = 256 * 1024
"""The minimum room for a local call's result, however many others there are: twelve run at once."""

_GOES_ON: Final = "GoesOnAsActivity"
_CHOOSES: Final = "swf_chooses_local_calls"
_CHOSEN: Final = "local calls"
"""The marker of a run whose worker makes calls locally without the definition asking for it."""


@dataclass(frozen=True, slots=True)
class GoesOn(Record):
    """The outcome of a local call that continues as an ordinary activity."""

    made: int = 0
    """The number of attempts made."""
    delay: timedelta = timedelta()
    """The pause before the next attempt."""
    cause: str = ""
    """The failure of the last attempt."""
    is_refused: bool = False
    """Whether its worker does not allow local calls of this function."""

    def to_error(self) -> ApplicationError:
        return ApplicationError(
            "continues as an ordinary activity",
            self.to_json(),
            type=_GOES_ON,
            non_retryable=True,
            category=ApplicationErrorCategory.BENIGN,  # it is not a failure for logs or metrics
        )

    @staticmethod
    def from_error(error: ApplicationError) -> "GoesOn | None":
        """Return the outcome in *error* of a call that continues; None if the call has failed for good."""
        return GoesOn.from_json(error.details[0]) if error.type == _GOES_ON else None


class LocalCallsInterceptor(Interceptor):
    """Lets workflow code know that its worker makes calls locally without the definition asking for it."""

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002 - the SDK's name
    ) -> type[WorkflowInboundInterceptor] | None:
        """Pass the setting on; nothing is intercepted."""
        input.unsafe_extern_functions[_CHOOSES] = lambda: True
        return None


class LocalCalls:
    """The local calls of one run."""

    def __init__(self, outgoing: Outgoing, *, makes_any: bool) -> None:
        self._outgoing = outgoing
        self._makes_any = makes_any
        self._are_chosen: bool | None = None
        """Whether the operator has calls made locally without the definition asking for it; None until it is needed."""
        self._refused: set[str] = set()
        """The functions for which a worker has refused local calls."""
        self.in_progress: dict[str, str] = {}
        """The functions being called, by the ids of their calls."""
        self._count = 0
        """The number of local calls in progress or about to start."""
        self._timers: dict[object, datetime] = {}
        """The due times of the run's timers."""

    @contextmanager
    def timer(self, due: datetime) -> Iterator[None]:
        """Register a timer while the context lasts, so that no local call delays it."""
        key = object()
        self._timers[key] = due
        try:
            yield
        finally:
            del self._timers[key]

    @contextmanager
    def beside_others(self) -> Iterator[None]:
        """Count a call while the context lasts: concurrent calls share the room for results."""
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1

    def want(self, call: FunctionCall) -> bool:
        """Return whether *call* should be local, if it can be."""
        if call.local is False or not self._makes_any:
            return False
        if not call.local and self._are_chosen is None:
            self._are_chosen = is_recorded(_CHOSEN, wanted=_CHOOSES in workflow.extern_functions())
        return bool(call.local or self._are_chosen)

    async def can_be(self, call: FunctionCall, now: datetime) -> bool:
        """Return whether *call*, which should be local, can be."""
        if call.function.name in self._refused:
            return False
        await workflow.wait_condition(lambda: True)  # the timers that limit the call are set after it has begun
        return not self._timers or min(self._timers.values()) - now > MAX_ATTEMPT

    async def make(self, call: FunctionCall, record: CallRecord) -> JSON | GoesOn:
        """Return the result of *call*, or how it continues. Raises its fault if it has failed for good."""
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
        """Return how *call* continues after *error*. Raises its fault if it has failed for good."""
        # An error is passed on unwrapped, a timeout within an ActivityError; but on replay a timeout is unwrapped, too.
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
