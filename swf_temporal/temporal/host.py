"""The port `Host` on Temporal.

A payload is made once, and stays the same across executions: with content-addressed storage for large payloads, none is
written a second time. Without such storage there are no parts, since the server's size limit applies to all arguments
of an execution together.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue, RetryPolicy
from temporalio.converter import PayloadConverter
from temporalio.exceptions import ActivityError, CancelledError
from temporalio.workflow import ActivityCancellationType

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import TimedOut
from swf_temporal.expressions.guarding.deferring import Evaluation
from swf_temporal.expressions.guarding.helper import EngineAnswer
from swf_temporal.runtime.budgets import MIN_HELD_BYTES, Budget, InstanceLimits
from swf_temporal.runtime.external_activities import ActivityOptions, parse_activity
from swf_temporal.runtime.host import NO_TIME, FunctionCall, SubflowCall, Timer, TraceEntry, TraceKind
from swf_temporal.runtime.ids import shortened_id
from swf_temporal.runtime.joining import heeding_cancellation
from swf_temporal.runtime.performing import MAX_PAYLOAD_BYTES, size_of
from swf_temporal.runtime.retrying import JitterSource, jitter_of
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.temporal import summaries
from swf_temporal.temporal.call_records import CallRecord, activity_facts, fault_of_activity, record_of
from swf_temporal.temporal.children import Children
from swf_temporal.temporal.constants import GIVE_WAY
from swf_temporal.temporal.converter import limit_of
from swf_temporal.temporal.external_activities import ExternalActivity, payloads_of
from swf_temporal.temporal.local_calls import ONCE, GoesOn, LocalCalls, policy_of_lost
from swf_temporal.temporal.long_running import LongRunningChildren
from swf_temporal.temporal.outgoing import Outgoing, Slowest
from swf_temporal.temporal.publishing import Publishing
from swf_temporal.temporal.records import ENVIRONMENT, EVALUATE, LIMITS, Pin, origin_of
from swf_temporal.temporal.variables import VariableCalls

_MIN_PART_BYTES: Final = 256 * 1024
"""From how many bytes on values are a part."""
_MAX_PART_BYTES: Final = 4 * 1024 * 1024
"""The size limit of a part in bytes, unless a single value is larger: reading it should take a fraction of a second."""


class Parts:
    def __init__(self, converter: PayloadConverter, payloads: Mapping[int, Payload]) -> None:
        self._converter = converter
        self._payloads = dict(payloads)
        self._last = max(payloads, default=0)

    def add(self, values: Sequence[JSON]) -> list[int]:
        """Make parts of *values*, unless parts are not stored, or the values are small; return their numbers."""
        if limit_of(self._converter) <= MAX_PAYLOAD_BYTES:
            return []
        texts = [self._converter.to_payload(value).data for value in values]
        if sum(map(len, texts)) < _MIN_PART_BYTES:
            return []
        numbers: list[int] = []
        part: list[bytes] = []
        size = 0
        for text in texts:
            if part and size + len(text) > _MAX_PART_BYTES:
                numbers.append(self._made(part))
                part, size = [], 0
            part.append(text)
            size += len(text)
        return [*numbers, self._made(part)]

    @property
    def size(self) -> int:
        """The total size, in bytes."""
        return sum(len(payload.data) for payload in self._payloads.values())

    def take(self, number: int) -> list[JSON]:
        values: list[JSON] = self._converter.from_payload(self._payloads.pop(number))
        return values

    def of(self, numbers: Sequence[int]) -> list[Payload]:
        return [self._payloads[number] for number in numbers]

    def _made(self, texts: Sequence[bytes]) -> int:
        self._last += 1
        array = self._converter.to_payload([])
        self._payloads[self._last] = Payload(metadata=array.metadata, data=b"[" + b",".join(texts) + b"]")
        return self._last


def parts_of(progress: Mapping[str, Any] | None, payloads: Sequence[Payload]) -> dict[int, Payload]:
    """Return the parts passed to an execution beside its record, by the numbers that the record gives them."""
    return dict(zip((progress or {}).get("parts", ()), payloads, strict=False))


MAX_TRACE = 2000
"""The number of trace entries that a query returns."""

CALL_LIMIT = timedelta(days=1)
"""The time limit of one attempt if the definition sets none."""

HEARTBEAT = timedelta(seconds=30)
"""The time within which a dead worker is detected."""

LIMITS_ATTEMPT = timedelta(seconds=30)
"""The time limit of one attempt to look up the operator's limits."""

_MIN_DURATION = timedelta(milliseconds=1)
_GIVES_WAY = timedelta(seconds=1)
"""How long a yielding run waits for a worker's activity: after that it continues by itself."""

EVALUATION_ATTEMPT = timedelta(minutes=1)
"""The time limit of one attempt at an evaluation, including the wait for a helper process."""

_BEFORE_ALL = datetime.fromtimestamp(0, UTC)

MAY_CONTINUE_AS_NEW = frozenset(
    {TraceKind.STATE_ENTERED, TraceKind.ACTION_COMPLETED, TraceKind.ACTION_RETRIED, TraceKind.EVENT_TAKEN}
)


class TemporalHost:
    def __init__(
        self, pin: Pin, source: str, parts: Sequence[Payload] = (), *, runs_external_activities: bool = True
    ) -> None:
        self.pin = pin
        self._known = {} if pin.again is None else pin.again.results
        """By their ids, the results of calls and sub-workflows from before the instance was restarted."""
        self.source = source
        self.runs_external_activities = runs_external_activities
        self.budget = Budget(workflow.info().workflow_type, (pin.progress or {}).get("numbers", pin.start.numbers))
        self.trace: list[TraceEntry] = []
        self.dropped = 0
        """The number of entries of this run that are no longer in its trace."""
        self.on_trace: Callable[[TraceEntry], None] | None = None
        # In a workflow these belong to the engine and never change: looked up once, not at every step.
        self._clock = asyncio.get_running_loop().time
        converter = workflow.payload_converter()
        self.carries = limit_of(converter)
        """The size limit of one payload, in bytes."""
        self.parts = Parts(converter, parts_of(pin.progress, parts))
        self.outgoing = Outgoing(converter, self.carries, self.now, self.yield_control)
        self._children = Children(pin, self.outgoing, self.budget, self._limits)
        self.publishing = Publishing(self.outgoing, self._children.id_of, pin)
        self._variables = VariableCalls(self.outgoing, origin_of(pin))
        self._local = LocalCalls(self.outgoing, makes_any=pin.call is None)
        self._evaluating = asyncio.Lock()
        self._time, self._now = -1.0, _BEFORE_ALL

    def now(self) -> datetime:
        """Return the time of the current workflow task, the same object throughout the task."""
        time = self._clock()
        if time != self._time:
            self._time, self._now = time, datetime.fromtimestamp(time, UTC)
        return self._now

    def new_id(self) -> str:
        """Return a random id that is the same on every replay."""
        return str(workflow.uuid4())

    def emit(self, entry: TraceEntry) -> None:
        """Keep the entry for queries, and check whether the run should continue as new."""
        kind = entry.kind
        if kind is TraceKind.STATE_ENTERED:
            self.budget.enter(entry.state)
        elif kind is TraceKind.EVENT_TAKEN:
            self.budget.waited()
        trace = self.trace
        trace.append(entry)
        if len(trace) > MAX_TRACE:
            del trace[: MAX_TRACE // 2]
            self.dropped += MAX_TRACE // 2
        if self.on_trace is not None:
            self.on_trace(entry)
        entry.data = None

    def begin_children_with(self, parts: Callable[[], dict[str, JSON]]) -> None:
        """Pass what *parts* returns to the sub-workflows that are waited for."""
        self._children.parts_for_child = parts

    def has_children_to_end(self) -> bool:
        """Return whether sub-workflows are running that end with this execution, without being waited for."""
        return self._children.are_to_end()

    @property
    def long_running(self) -> LongRunningChildren:
        return self._children.long_running

    @property
    def local_calls(self) -> list[dict[str, JSON]]:
        """The local calls in progress, of which the server knows nothing."""
        return [{"id": call, "function": name, "local": True} for call, name in self._local.in_progress.items()]

    @property
    def slowest(self) -> Slowest | None:
        """The call or sub-workflow that has been in progress for the longest time, if any."""
        return self.outgoing.slowest

    async def sleep(self, duration: timedelta, timer: Timer) -> None:
        duration = max(duration, _MIN_DURATION)
        with self._local.timer(self.now() + duration):
            await workflow.sleep(duration, summary=summaries.of_timer(timer))
        self.budget.waited()

    async def settled(self) -> None:
        """Wait until no task can take a further step: that is when the engine checks its conditions."""
        await workflow.wait_condition(lambda: True)

    def hold(self, values: Sequence[JSON]) -> list[int]:
        """Make parts of *values*, which are passed to the next execution."""
        return self.parts.add(values)

    def held(self, number: int) -> list[JSON]:
        return self.parts.take(number)

    @heeding_cancellation
    async def evaluate(self, evaluation: Evaluation) -> EngineAnswer:
        """Evaluate by a local activity: the history has its result, but not its arguments.

        One at a time: the results are sent together with all other commands of the workflow task. An attempt that
        was lost, or had to wait for others, is repeated without limit.
        """
        async with self._evaluating, self.outgoing.reserved(min(self.carries, MAX_PAYLOAD_BYTES)) as room:
            try:
                status, text = await workflow.execute_local_activity(
                    EVALUATE,
                    args=list(evaluation),
                    start_to_close_timeout=EVALUATION_ATTEMPT,
                    retry_policy=RetryPolicy(maximum_interval=EVALUATION_ATTEMPT),
                    summary=summaries.EVALUATING,
                )
            except ActivityError as error:
                if isinstance(error.cause, CancelledError):
                    raise asyncio.CancelledError from None
                raise
            room.used = size_of(text)
        return EngineAnswer(status, text)

    @heeding_cancellation
    async def environment(self) -> Mapping[str, str]:
        """Return the variables of the worker's environment that it lets definitions see; the history has them."""
        try:
            found: dict[str, str] = await workflow.execute_local_activity(
                ENVIRONMENT, start_to_close_timeout=LIMITS_ATTEMPT, summary=summaries.LOOKING_UP_ENVIRONMENT
            )
        except ActivityError as error:
            if isinstance(error.cause, CancelledError):
                raise asyncio.CancelledError from None
            raise fault_of_activity(error, ENVIRONMENT) from None
        return found

    def jitter(self, key: str) -> JitterSource:
        """Return the deterministic jitter of *key*."""
        return jitter_of(key)

    async def yield_control(self) -> None:
        """End the workflow task, so that many states in a row do not become one endless task.

        An activity that does nothing ends it within milliseconds; a timer, however short, fires up to a second late.
        The run also continues if no worker takes the activity: only its end is awaited, not its result.
        """
        try:
            await workflow.execute_activity(
                GIVE_WAY,
                schedule_to_start_timeout=_GIVES_WAY,
                schedule_to_close_timeout=_GIVES_WAY,
                retry_policy=ONCE,
                summary=summaries.YIELDING,
            )
        except ActivityError as error:
            if isinstance(error.cause, CancelledError):
                raise asyncio.CancelledError from None
        if self.budget.asks_for_states:
            self.budget.check_states(await self._limits())

    def with_budget(self, progress: dict[str, Any]) -> dict[str, Any]:
        numbers = self.budget.over(progress.get("numbers", {}), self.budget.carried())
        return {**progress, "numbers": numbers} if numbers else progress

    async def _limits(self) -> InstanceLimits:
        """Return the operator's current limits; the answer is recorded in the history."""
        try:
            found = await workflow.execute_local_activity(
                LIMITS, start_to_close_timeout=LIMITS_ATTEMPT, summary=summaries.LOOKING_UP_LIMITS
            )
        except ActivityError as error:
            if isinstance(error.cause, CancelledError):
                raise asyncio.CancelledError from None
            raise fault_of_activity(error, LIMITS) from None
        return InstanceLimits.from_json(found)

    async def check_continuation(self) -> None:
        """Raise StepLimitExceeded after too many executions in a row without a wait."""
        if self.budget.asks_for_executions:
            self.budget.check_executions(await self._limits())

    async def check_held(self) -> None:
        """Raise PayloadTooLarge if the run holds more than the operator allows."""
        size = self.parts.size
        if size >= MIN_HELD_BYTES:
            (await self._limits()).check_held(size)

    @heeding_cancellation
    async def invoke(self, call: FunctionCall) -> JSON:
        """Run the call as an activity named after the function, locally if that is wanted and possible."""
        if call.id in self._known:
            return self._known.pop(call.id)
        return await self._invoke(self._with_owners(call))

    async def _invoke(self, call: FunctionCall) -> JSON:
        if call.timeout is not None and call.timeout < _MIN_DURATION:
            call = replace(call, timeout=_MIN_DURATION)  # to the server, no time is no limit
        if call.fire_and_forget:
            await self._children.detach(call, self.source)
            return None
        if call.long_wait is not None:
            return await self._children.call(call, self.source)
        options = parse_activity(call.function) if self.runs_external_activities else None
        if options is not None:
            return await self._run_external_activity(call, options)
        is_plain = call.secret_template is None and call.selection_set is None
        record, timeout = record_of(call, self.source), call.timeout
        record.run = self.pin.lineage.first
        if self._local.want(call):
            begun = self.now()
            outcome = await self._invoke_locally(call, record)
            if not isinstance(outcome, GoesOn):
                return outcome
            timeout = await self._pause(call, outcome, begun)
            record.made = outcome.made
        written = record.to_json()
        payload = await self.outgoing.payload(written, call.arguments if is_plain else written)
        number = self.outgoing.begun(call.id)
        try:
            return await workflow.execute_activity(  # type: ignore[no-any-return]  # JSON, as the activity returns it
                call.function.name,
                args=[RawValue(payload)],
                activity_id=shortened_id(call.id),
                schedule_to_close_timeout=timeout,
                start_to_close_timeout=CALL_LIMIT if timeout is None else timeout,
                heartbeat_timeout=HEARTBEAT,
                # The activity itself decides about retries; this is for attempts that were lost.
                retry_policy=policy_of_lost(call.retry),
                cancellation_type=ActivityCancellationType.TRY_CANCEL,
                **activity_facts(call),
            )
        except ActivityError as error:
            if isinstance(error.cause, CancelledError):
                raise asyncio.CancelledError from None
            raise fault_of_activity(error, call.action) from None
        finally:
            self.outgoing.ended(number)
            self.budget.waited()

    async def _invoke_locally(self, call: FunctionCall, record: CallRecord) -> JSON | GoesOn:
        with self._local.beside_others():
            if not await self._local.can_be(call, self.now()):
                return GoesOn()
            number = self.outgoing.begun(call.id)
            try:
                return await self._local.make(call, record)
            finally:
                self.outgoing.ended(number)
                self.budget.waited()

    async def _pause(self, call: FunctionCall, outcome: GoesOn, begun: datetime) -> timedelta | None:
        """Wait until the next attempt of a local call is due; return the time left for it and further attempts."""
        pause = outcome.delay
        if call.timeout is not None and self.now() + pause >= begun + call.timeout:
            raise TimedOut(f"action {call.action!r} took longer than it may", cause=outcome.cause or None)
        if pause:
            await self.sleep(pause, call.retry_timer())
        return None if call.timeout is None else max(begun + call.timeout - self.now(), _MIN_DURATION)

    def _with_owners(self, call: FunctionCall) -> FunctionCall:
        """Return *call* with the owners that its variables have in the store; a detached call's have them already."""
        if call.folder is None or self.pin.call is not None:
            return call
        return replace(call, folder=self._variables.folder(call.folder))

    async def _run_external_activity(self, call: FunctionCall, options: ActivityOptions) -> JSON:
        payloads = payloads_of(call, self.outgoing)
        await self.outgoing.in_turn(*payloads)
        number = self.outgoing.begun(call.id)
        try:
            return await ExternalActivity(call, options, payloads, self.emit, self.evaluate, self._children.id_of).run(
                CALL_LIMIT
            )
        finally:
            self.outgoing.ended(number)
            self.budget.waited()

    @heeding_cancellation
    async def publish(self, event: CloudEvent, after: timedelta = NO_TIME) -> None:
        """Send the event by an activity or, if it is to be sent later, by a separate workflow."""
        if after:
            await self.publishing.publish_later(event, after)
            return
        try:
            await self.publishing.publish(event)
        finally:
            self.budget.waited()

    @heeding_cancellation
    async def read_variable(self, of: VariableRef) -> Variable | None:
        """Read the variable from its scope, by an activity."""
        try:
            return await self._variables.read(of)
        finally:
            self.budget.waited()

    @heeding_cancellation
    async def write_variable(self, of: VariableRef, value: Variable | None) -> None:
        """Write the variable to its scope, by an activity."""
        try:
            await self._variables.write(of, value)
        finally:
            self.budget.waited()

    @heeding_cancellation
    async def run_subflow(self, call: SubflowCall) -> JSON:
        """Run the sub-workflow as a child. Raises UnknownDefinition if the run does not carry its definition."""
        if call.id in self._known:
            return self._known.pop(call.id)
        return await self._children.run(
            call, {key: self._variables.lasting(owner) for key, owner in call.thread.items()}
        )
