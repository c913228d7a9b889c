"""Activities: function calls, produced events, lookups of definitions."""

import asyncio
import contextvars
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import Any, Protocol

from temporalio import activity
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import (
    CallFailed,
    FatalFault,
    PayloadTooLarge,
    StoreUnavailable,
    UnknownDefinition,
    WorkflowFault,
)
from swf_temporal.base.strict_json import NotJSON
from swf_temporal.expressions.guarding.deferring import Evaluation, answer_to
from swf_temporal.functions.call import CurrentCall, answering
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.performing import delay_after
from swf_temporal.runtime.budgets import InstanceLimits
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.runtime.performing import check_result, check_size
from swf_temporal.runtime.retrying import JitterSource, jitter_of
from swf_temporal.runtime.variables import MAX_RETRYING, NotLocal, Variable, VariableRef, locally
from swf_temporal.temporal.call_records import (
    Attempts,
    CallRecord,
    application_error,
    call_of,
    is_call_record,
    now,
    size_of_failure,
)
from swf_temporal.temporal.constants import GIVE_WAY
from swf_temporal.temporal.external_activities import MARK
from swf_temporal.temporal.host import HEARTBEAT
from swf_temporal.temporal.instance_log import log_failed_call, log_failed_event, log_lost_attempt
from swf_temporal.temporal.local_calls import GoesOn
from swf_temporal.temporal.metrics import count_failed_attempt
from swf_temporal.temporal.namespace_variables import NamespaceVariables
from swf_temporal.temporal.records import (
    ENVIRONMENT,
    EVALUATE,
    LIMITS,
    LOOK_UP,
    PUBLISH,
    RESOLVE,
    UNKNOWN,
    pin_of,
    pinned,
)
from swf_temporal.temporal.spans import number_attempt
from swf_temporal.temporal.variables import INSTANCE_ENDED, READ_VARIABLE, WRITE_VARIABLE, VariableStorage

_MIN_DELAY = timedelta(milliseconds=1)
_LOST = timedelta(seconds=1)
"""The pause before the next attempt after one was lost."""
_ASKING = timedelta(seconds=5)
"""The time limit for asking the server whether another attempt of an activity has begun."""
_EVALUATORS = 16
"""The maximum number of evaluations that wait for a helper process or its answer."""


class Performer(Protocol):
    """The port that performs function calls: real ones on a worker, scripted ones in a test."""

    async def perform(self, call: FunctionCall, *, source: str, key: str, attempt: int) -> JSON:
        """Make one attempt. Raises a WorkflowFault; *key* is the same for every attempt of a call."""


class Publisher(Protocol):
    """The port that sends produced events."""

    async def publish(self, event: CloudEvent) -> Sequence[str] | None:
        """Send *event*; return the names of the sinks that take it, or None if that is not known.

        Raises if it could not be sent, and is then asked again.
        """


class Activities:
    performer: Performer
    publisher: Publisher
    variables: VariableStorage

    def __init__(
        self,
        catalogue: Catalogue,
        max_payload_bytes: int,
        limits: InstanceLimits | None = None,
        environment: Callable[[str], Mapping[str, str]] = lambda _: {},
    ) -> None:
        self.limits = limits or InstanceLimits()
        self.environment = environment
        """Returns the variables of the environment that the definition of an instance may see."""
        self.max_payload_bytes = max_payload_bytes
        self.catalogue = catalogue
        # Separate threads: evaluations that wait for a helper process must not exhaust the default executor.
        self._evaluators = ThreadPoolExecutor(_EVALUATORS, "evaluating")

    def work_with(self, performer: Performer, publisher: Publisher, variables: VariableStorage) -> None:
        """From now on, make calls by *performer*, send events by *publisher*, and use *variables*."""
        self.performer, self.publisher, self.variables = performer, publisher, variables

    @property
    def all(self) -> list[Callable[..., Any]]:
        """All activities, for a worker to register."""
        return [
            self.call,
            self.publish,
            self.resolve,
            self.look_up,
            self.look_limits_up,
            self.look_environment_up,
            self.evaluate,
            self.give_way,
            self.read_variable,
            self.write_variable,
            self.instance_has_ended,
        ]

    @activity.defn(dynamic=True)
    async def call(self, args: Sequence[RawValue]) -> Any:
        """Make one attempt at a function call; the activity's type is the function's name.

        Whether to retry, and after which delay, is decided here from the rule that the call carries, so that the
        delays are exact and leave nothing in the workflow's history.
        """
        info = activity.info()
        record = None if not args or MARK in args[0].payload.metadata else _record_in(args[0])
        if record is None:
            message = f"this worker of the task queue {info.task_queue!r} does not have the activity"
            raise ApplicationError(f"{message} {info.activity_type!r}", type="NotFoundError")
        call = call_of(record, activity_id=info.activity_id, state=info.activity_id.partition("/")[0])
        key = f"{info.workflow_id}/{record.run or info.workflow_run_id}/{info.activity_id}"
        if record.local is not None:
            with locally(asked=record.local.asked):
                return await self._local(call, record, key, record.local.most)
        attempts = Attempts()
        with _beating(attempts):
            return await self._attempt(call, record, key, record.made + info.attempt, attempts)

    async def _local(self, call: FunctionCall, record: CallRecord, key: str, most: int) -> RawValue:
        """Make a local call with its retries, within its limits; the result has at most *most* bytes."""
        clock = asyncio.get_running_loop().time
        begun, attempts = clock(), Attempts()
        for attempt in count(1):
            try:
                result = await self._attempt(call, record, key, attempt, attempts)
            except NotLocal:
                raise GoesOn(is_refused=True).to_error() from None
            except ApplicationError as error:
                if error.non_retryable:
                    if size_of_failure(error) > most:
                        raise GoesOn(attempt - 1, is_refused=True).to_error() from None
                    raise
                pause = error.next_retry_delay or _LOST
                if clock() + pause.total_seconds() - begun > MAX_RETRYING.total_seconds():
                    raise GoesOn(attempt, pause, f"{error.type}: {error.message}").to_error() from None
                await asyncio.sleep(pause.total_seconds())
            else:
                if len(result.payload.data) > most:
                    raise GoesOn(is_refused=True).to_error()
                return result
        raise AssertionError

    async def _attempt(
        self, call: FunctionCall, record: CallRecord, key: str, attempt: int, attempts: Attempts
    ) -> RawValue:
        """Return the result of one attempt. Raises ApplicationError as the call's retry rule says."""
        number_attempt(attempt)
        failed = partial(_failure_of, call, attempt, key, attempts, now())
        try:
            with answering(_current(call, record, key, attempt, attempts)):
                result = await self.performer.perform(call, source=record.source, key=key, attempt=attempt)
            # Serialized here: a failure after the call would be retried for ever, with the call's side effects.
            payload = activity.payload_converter().to_payloads([result])[0]
            check_result(len(payload.data), call.function.name, self.max_payload_bytes)
            return RawValue(payload)
        except NotLocal:
            raise
        except WorkflowFault as fault:
            raise failed(fault) from None
        except ApplicationError:
            raise  # the performer has decided already
        except NotJSON as error:
            message = f"the result of function {call.function.name!r} is not JSON: {error}"
            not_json = CallFailed(message, code="NotJSON", retryable=False)
            raise failed(not_json) from None
        except StoreUnavailable as error:
            log_lost_attempt(call.function.name, error, attempt)
            raise ApplicationError(str(error), type=type(error).__name__) from None
        except Exception as error:  # noqa: BLE001 - raised again as what it is to the definition
            # Anything a performer raises is the function's error: the definition decides how to handle it.
            unforeseen = CallFailed(str(error), name=type(error).__name__)
            raise failed(unforeseen) from None

    @activity.defn(name=PUBLISH)
    async def publish(self, event: dict[str, Any]) -> Sequence[str] | None:
        """Send a produced event; return the names of the sinks that take it."""
        try:
            return await self.publisher.publish(CloudEvent.from_record(event))
        except CallFailed as fault:
            log_failed_event(event.get("type"), fault, activity.info().attempt)
            raise application_error(fault, non_retryable=not fault.retryable) from None

    @activity.defn(name=READ_VARIABLE)
    async def read_variable(self, written: dict[str, Any]) -> dict[str, Any] | None:
        """Return the value of a variable, or a file of the namespace."""
        of = VariableRef.from_json(written)
        try:
            found = await NamespaceVariables(self.variables, self.catalogue).read_variable(of)
            if found is not None:
                # A database, or a folder, may hold more than a payload can carry.
                what = f"the value of the variable {of.key!r} can be in a state's data"
                check_size(4 * len(found.content) // 3, what, self.max_payload_bytes)
        except FatalFault as fault:
            raise application_error(fault, non_retryable=True) from None  # a retry would fail in the same way
        return None if found is None else found.to_json()

    @activity.defn(name=WRITE_VARIABLE)
    async def write_variable(self, of: dict[str, Any], value: dict[str, Any] | None) -> None:
        info = activity.info()
        values = {VariableRef.from_json(of): None if value is None else Variable.from_json(value)}
        try:
            await self.variables.write_variables(values, f"{info.workflow_run_id}/{info.activity_id}")
        except PayloadTooLarge as fault:
            raise application_error(fault, non_retryable=True) from None

    @activity.defn(name=INSTANCE_ENDED)
    async def instance_has_ended(self, owner: str) -> bool:
        return await self.variables.has_ended(owner)

    @activity.defn(name=RESOLVE)
    async def resolve(self, workflow_id: str, version: str | None) -> dict[str, Any]:
        """Return the pin of a workflow type: its definition, those that it may lead to, and their semantics.

        If this worker does not serve it, the answer says so: another worker may.
        """
        try:
            found = self.catalogue.find(workflow_id, version)
        except UnknownDefinition as fault:
            return {UNKNOWN: str(fault)}
        return pin_of(pinned(self.catalogue.with_reachable(found))).to_json()

    @activity.defn(name=LIMITS)
    async def look_limits_up(self) -> dict[str, Any]:
        """Return the operator's limits for instances that run without waiting."""
        return self.limits.to_json()

    @activity.defn(name=ENVIRONMENT)
    async def look_environment_up(self) -> dict[str, str]:
        """Return the variables of the environment that the operator lets definitions see."""
        return dict(self.environment(activity.info().workflow_id or ""))

    @activity.defn(name=EVALUATE)
    async def evaluate(self, engine: str, program: str, data: str) -> tuple[int, str]:
        """Return the status and text of an evaluation's answer, which may be that a limit was exceeded."""
        evaluation, loop = Evaluation(engine, program, data), asyncio.get_running_loop()
        return await loop.run_in_executor(self._evaluators, answer_to, evaluation, self.max_payload_bytes)

    @activity.defn(name=GIVE_WAY)
    async def give_way(self) -> None:
        """Do nothing: a long-working run waits for this to end its workflow task, so that other runs get their turn."""

    @activity.defn(name=LOOK_UP)
    async def look_up(self, digests: list[str]) -> list[str | None]:
        """Return the source of each text with one of *digests*; None for a text that is not served."""
        names = {workflow.digest: workflow.source.name for workflow in self.catalogue}
        return [names.get(digest) for digest in digests]


def _record_in(argument: RawValue) -> CallRecord | None:
    """Return the call record in *argument*; None if it is not one, as from a user's own workflow."""
    written = activity.payload_converter().from_payload(argument.payload)
    return CallRecord.from_json(written) if is_call_record(written) else None


def decided(
    call: FunctionCall,
    fault: WorkflowFault,
    attempt: int,
    key: str,
    jitter: Callable[[str], JitterSource] = jitter_of,
    note: Callable[[timedelta | None], JSON] | None = None,
) -> ApplicationError:
    """Return the error that makes the engine retry *call* after *fault*, or not, and sets the delay.

    The *key* is the same for all attempts of a call, and unique to the call: jitter is derived from it, or taken from
    *jitter* for that key. *note* is told the delay, and returns what the error has beside the fault.
    """
    fault.attempt, fault.function = attempt, call.function.name
    delay = delay_after(call, attempt, fault, jitter(key))
    beside = () if note is None else (note(delay),)
    if delay is None:
        return application_error(fault, *beside, non_retryable=True)
    # The engine takes a delay of zero as unset, and falls back on its own policy.
    return application_error(fault, *beside, next_retry_delay=max(delay, _MIN_DELAY))


def _failure_of(
    call: FunctionCall, attempt: int, key: str, attempts: Attempts, began: datetime, fault: WorkflowFault
) -> ApplicationError:
    """Log, count and report *fault*, and return the error that says whether to retry."""

    def note(delay: timedelta | None) -> JSON:
        return attempts.note(attempt, began, fault, None if delay is None else delay.total_seconds())

    error = decided(call, fault, attempt, key, note=note)
    count_failed_attempt(fault, is_tried_again=error.next_retry_delay is not None)
    log_failed_call(call.function.name, fault, attempt, error.next_retry_delay)
    return error


def _current(call: FunctionCall, record: CallRecord, key: str, attempt: int, attempts: Attempts) -> CurrentCall:
    """Return the information about this attempt that a Python function can access."""
    info, loop, context = activity.info(), asyncio.get_running_loop(), contextvars.copy_context()

    def beat() -> None:
        if not info.is_local:  # a local one needs no heartbeat: its workflow task shows that the worker is alive
            loop.call_soon_threadsafe(attempts.beat, context=context)

    limits = [(info.started_time, info.start_to_close_timeout), (info.scheduled_time, info.schedule_to_close_timeout)]
    is_part = "/" in info.activity_id
    state, _, action = info.activity_id.partition("/")
    owner, place = record.owner, record.place
    return CurrentCall(
        function=call.function.name,
        instance=owner.id if owner else str(info.workflow_id),
        run_id=owner.run if owner else str(info.workflow_run_id),
        definition=info.workflow_type if is_part else None,
        state=place.state if place else state,
        action=place.action if place else action.rpartition("#")[0],
        attempt=attempt,
        idempotency_key=key,
        deadline=min((since + limit for since, limit in limits if limit is not None), default=None),
        _beat=beat,
        _is_made_again=_is_made_again,
    )


async def _is_made_again() -> bool:
    """Return whether the server has begun another attempt of this activity, after too long without a heartbeat.

    The server's answer is the same as for an activity whose workflow has ended: not found.
    """
    info, details = activity.info(), activity.cancellation_details()
    if details is None or not details.not_found:
        return False
    handle = activity.client().get_workflow_handle(str(info.workflow_id), run_id=info.workflow_run_id)
    try:
        described = await handle.describe(rpc_timeout=_ASKING)
    except RPCError:
        return False
    pending = described.raw_description.pending_activities
    return any(one.activity_id == info.activity_id and one.attempt > info.attempt for one in pending)


@contextmanager
def _beating(attempts: Attempts) -> Iterator[None]:
    """Send heartbeats for this attempt; the server's answers say when the result is no longer wanted.

    Uses a timer, not a task: most calls end before the first heartbeat is due, and then it costs almost nothing.
    """
    loop = asyncio.get_running_loop()
    interval = HEARTBEAT.total_seconds() / 3
    due: asyncio.TimerHandle

    def beat() -> None:
        nonlocal due
        attempts.beat()
        due = loop.call_later(interval, beat)

    due = loop.call_later(interval, beat)
    try:
        yield
    finally:
        due.cancel()
