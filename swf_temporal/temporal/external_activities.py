"""Running an activity or a workflow of another worker, for `temporal:ACTIVITY@QUEUE`.

The workflow schedules it itself: under its own name, on its task queue, with plain JSON, whatever language its worker
is written in. Such a worker knows nothing of our retry rules, so they cannot be applied where the attempt is made.

If the engine's retry policy can express the definition's rule exactly, the activity gets that policy: the history has
one activity, however many attempts there are. A policy cannot express an increment, jitter, a multiplier below one,
`retryableErrors`, or an error that is matched by its message. Then each attempt is a separate activity, and the pauses
are durable timers: some eight events per attempt. Exact delays are worth that price over the nearest policy: a
definition that needs them usually has few attempts. A run whose history grows long continues as new between two
attempts.
"""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any, cast

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    ChildWorkflowError,
    FailureError,
    RetryState,
    TimeoutType,
)
from temporalio.exceptions import TimeoutError as EngineTimeout
from temporalio.workflow import ActivityCancellationType, ChildWorkflowCancellationType, ParentClosePolicy

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, TimedOut, WorkflowFault
from swf_temporal.base.strict_json import NotJSON, read_json
from swf_temporal.expressions.guarding.deferring import Evaluation
from swf_temporal.expressions.guarding.helper import EngineAnswer
from swf_temporal.languages.performing import delay_after
from swf_temporal.runtime.external_activities import ActivityOptions
from swf_temporal.runtime.host import Attempts, CallAttempts, FunctionCall, TraceEntry, TraceKind, evaluated
from swf_temporal.runtime.ids import shortened_id
from swf_temporal.runtime.performing import ONE_STEP
from swf_temporal.runtime.retrying import jitter_of, repeat
from swf_temporal.runtime.trace import ActionRetried, failed_attempt
from swf_temporal.temporal.call_records import activity_facts, child_facts, fault_of_start
from swf_temporal.temporal.children import REUSE, output_of
from swf_temporal.temporal.local_calls import ONCE, policy_for, policy_of
from swf_temporal.temporal.outgoing import Outgoing, check_fits

MARK = "swf-engine-activity"
"""Metadata of the arguments, by which a worker of ours that gets such a task by mistake sees that it is not a call."""

_MIN_DELAY = 0.001
"""Seconds."""


def payloads_of(call: FunctionCall, outgoing: Outgoing) -> list[Payload]:
    """Return the arguments of the activity: the elements of an array, none for null, or else the one value.

    Raises PayloadTooLarge, also if their total is too large: they are sent together.
    """
    given = call.arguments if isinstance(call.arguments, list) else [call.arguments]
    payloads = [] if call.arguments is None else [outgoing.written(value) for value in given]
    for payload in payloads:
        payload.metadata[MARK] = b"1"
    check_fits(sum(payload.ByteSize() for payload in payloads), ONE_STEP, outgoing.limit)
    return payloads


class ExternalActivity:
    def __init__(
        self,
        call: FunctionCall,
        options: ActivityOptions,
        payloads: Sequence[Payload],
        emit: Callable[[TraceEntry], None],
        evaluate: Callable[[Evaluation], Awaitable[EngineAnswer]],
        id_of_child: Callable[[str], str],
    ) -> None:
        self.call = call
        self.options = options
        self.arguments = [RawValue(payload) for payload in payloads]
        self._emit = emit
        self._evaluate = evaluate
        self._id_of_child = id_of_child

    async def run(self, limit: timedelta) -> JSON:
        """Return the activity's result. *limit* is the default time limit of one attempt."""
        call, options = self.call, self.options
        total = min((one for one in (options.schedule_to_close, call.timeout) if one is not None), default=None)
        limit = options.start_to_close or total or limit
        policy = policy_of(options.policy) if options.policy else policy_for(call.retry)
        if policy is None:
            payload = await self._by_ourselves(limit, total, cast("Attempts", call.attempts))
        else:
            payload = await self._make(call.id, policy, limit, total)
        return _result(payload, f"the {options.word} '{options.activity}'")

    async def _by_ourselves(self, limit: timedelta, total: timedelta | None, attempts: Attempts) -> Payload:
        """Make one attempt after the other by the definition's rule, within the total time."""
        call, info = self.call, workflow.info()
        kept = attempts.kept or CallAttempts(
            f"{info.workflow_id}/{info.run_id}/{call.id}", None if total is None else _now() + total.total_seconds()
        )
        draw, end = jitter_of(kept.key), kept.end

        async def attempt() -> Payload:
            left = None if end is None else timedelta(seconds=max(end - _now(), _MIN_DELAY))
            return await self._make(f"{call.id}.{kept.made.number}", ONCE, limit, left)

        async def again_at(outcome: Payload | WorkflowFault) -> float | None:
            if not isinstance(outcome, CallFailed):
                return None
            number = kept.made.number
            outcome.attempt = number
            delay = await evaluated(
                lambda: delay_after(call, number, outcome, draw, slow_is_fatal=True), self._evaluate
            )
            if delay is None:
                return None
            again = _now() + max(delay.total_seconds(), _MIN_DELAY)
            if end is not None and again >= end:
                raise _too_late(call, outcome) from None
            attempts.keep(kept)
            self._note_retry(number, outcome, delay)
            return again

        async def pause(until: float) -> None:
            await attempts.pause(until, call.retry_timer())

        return await repeat(kept.made, attempt, again_at, pause)

    def _note_retry(self, attempt: int, fault: CallFailed, delay: timedelta) -> None:
        call = self.call
        detail: ActionRetried = {**failed_attempt(attempt, fault), "delay": delay.total_seconds()}
        self._emit(TraceEntry(TraceKind.ACTION_RETRIED, call.state, call.state, call.action, workflow.now(), detail))

    async def _make(self, activity_id: str, policy: RetryPolicy, limit: timedelta, total: timedelta | None) -> Payload:
        if self.options.is_workflow:
            return await self._run_child(activity_id, policy, total)
        try:
            raw: RawValue = await workflow.execute_activity(
                self.options.activity,
                args=self.arguments,
                result_type=RawValue,
                activity_id=shortened_id(activity_id),
                task_queue=self.options.task_queue,
                schedule_to_close_timeout=total,
                schedule_to_start_timeout=self.options.schedule_to_start,
                start_to_close_timeout=limit,
                heartbeat_timeout=self.options.heartbeat,
                retry_policy=policy,
                cancellation_type=ActivityCancellationType.TRY_CANCEL,
                **activity_facts(self.call),
            )
        except ActivityError as error:
            if isinstance(error.cause, CancelledError):
                raise asyncio.CancelledError from None
            raise self._fault(error) from None
        return raw.payload

    async def _run_child(self, child_id: str, policy: RetryPolicy, total: timedelta | None) -> Payload:
        try:
            child: workflow.ChildWorkflowHandle[Any, RawValue] = await workflow.start_child_workflow(
                self.options.activity,
                args=self.arguments,
                result_type=RawValue,
                id=self._id_of_child(child_id),
                task_queue=self.options.task_queue,
                execution_timeout=total,
                run_timeout=self.options.start_to_close,
                id_reuse_policy=REUSE,
                retry_policy=policy,
                parent_close_policy=ParentClosePolicy.REQUEST_CANCEL,
                cancellation_type=ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
                **child_facts(self.call),
            )
            raw = await output_of(child)
        except ChildWorkflowError as error:
            raise self._fault(error) from None
        except FailureError as error:
            raise fault_of_start(error, self.options.activity) from None
        return raw.payload

    def _fault(self, error: ActivityError | ChildWorkflowError) -> WorkflowFault:
        cause = error.cause
        if not isinstance(cause, EngineTimeout):
            fault = _failed(cause or error, is_workflow=self.options.is_workflow)
        elif cause.type == TimeoutType.SCHEDULE_TO_CLOSE or (
            self.options.is_workflow and self.options.start_to_close is None
        ):
            return TimedOut(f"action {self.call.action!r} took longer than it may")
        else:
            fault = self._timed_out(cause)
        fault.function = self.call.function.name
        if fault.code == "NoWorker":
            return fault if self.options.schedule_to_start else _too_late(self.call, fault)
        return _too_late(self.call, fault) if error.retry_state == RetryState.TIMEOUT else fault

    def _timed_out(self, cause: EngineTimeout) -> CallFailed:
        name, queue = self.options.activity, self.options.task_queue or workflow.info().task_queue
        if cause.type == TimeoutType.SCHEDULE_TO_START:
            message = f"no worker of the task queue '{queue}' took the activity '{name}' in time"
            # The engine's own policy does not retry this either.
            return CallFailed(f"{message}: is there one?", code="NoWorker", retryable=False)
        if cause.type == TimeoutType.HEARTBEAT:
            return CallFailed(f"the activity '{name}' sent no heartbeat in time", code="Lost")
        return CallFailed(f"the {self.options.word} '{name}' did not end in time", code="Timeout")


def _now() -> float:
    return workflow.now().timestamp()


def _failed(cause: BaseException, *, is_workflow: bool) -> CallFailed:
    """Return the fault for an error of the activity: its type is the name and code, its details are the body."""
    if not isinstance(cause, ApplicationError):
        return CallFailed(str(cause), name="WorkflowFailed" if is_workflow else "ActivityFailed")
    name = cause.type or "ApplicationError"
    wish = cause.next_retry_delay
    return CallFailed(
        cause.message,
        name=name,
        code=name,
        body=_body(cause),
        retryable=not cause.non_retryable,
        retry_after=None if wish is None else wish.total_seconds(),
    )


def _body(cause: ApplicationError) -> JSON:
    try:
        details = list(cause.details)
    except (RuntimeError, ValueError):  # their encoding is not known here
        return None
    return details[0] if len(details) == 1 else details or None


def _too_late(call: FunctionCall, last: CallFailed) -> TimedOut:
    """Return the fault of a call whose next attempt would exceed its time limit."""
    return TimedOut(f"action {call.action!r} took longer than it may", cause=f"{last.name}: {last.message}")


def _result(payload: Payload, what: str) -> JSON:
    """Return the result of an activity or a workflow as JSON, from any of Temporal's encodings."""
    encoding = payload.metadata.get("encoding", b"binary/null").decode()
    if encoding == "binary/null":
        return None
    if encoding == "binary/plain":
        return {"mediaType": "application/octet-stream", "base64": base64.b64encode(payload.data).decode()}
    try:
        if encoding.startswith("json/"):
            value: JSON = read_json(payload.data)
            return value
    except NotJSON as error:
        raise CallFailed(f"the result of {what} is not JSON: {error}", code="MalformedAnswer") from None
    message = f"the result of {what} is written as {encoding}, and not as JSON"
    raise CallFailed(message, code="MalformedAnswer")
