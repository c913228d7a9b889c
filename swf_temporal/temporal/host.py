"""The port `Host` on Temporal."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import ActivityError, CancelledError, ChildWorkflowError
from temporalio.workflow import ActivityCancellationType, ChildWorkflowCancellationType, ParentClosePolicy

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON
from swf_temporal.errors import WorkflowFault
from swf_temporal.runtime.budgets import Budget, Limits
from swf_temporal.runtime.external_activities import ActivityOptions, parse_activity
from swf_temporal.runtime.host import NO_TIME, CallFolder, FunctionCall, SubflowCall, TraceEntry, TraceKind
from swf_temporal.runtime.ids import id_of_child, shortened_id, unshortened_id_of_child
from swf_temporal.runtime.joining import noticing
from swf_temporal.runtime.limits import MAX_PAYLOAD_BYTES
from swf_temporal.runtime.performing import ONE_STEP
from swf_temporal.runtime.retrying import RetryRule
from swf_temporal.runtime.semantics import (
    FIRST_SEMANTICS,
    SEMANTICS,
    gives_circles_up,
    slow_is_fatal,
    tells_cancelled_subflows,
)
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.temporal import activations
from swf_temporal.temporal.call_facts import activity_facts, child_facts, shortened
from swf_temporal.temporal.converter import limit_of
from swf_temporal.temporal.delayed_events import DELAYED_EVENT, PUBLISH_LIMIT
from swf_temporal.temporal.external_activities import ExternalActivity, arguments_of
from swf_temporal.temporal.failures import fault_of_activity, fault_of_child
from swf_temporal.temporal.parts import Parts, parts_of
from swf_temporal.temporal.records import LIMITS, PUBLISH, Pin, call_to_json, catalogue_of
from swf_temporal.temporal.sizes import check_fits, check_together
from swf_temporal.temporal.variables import (
    READ_VARIABLE,
    WRITE_VARIABLE,
    ref_to_json,
    variable_from_json,
    variable_to_json,
)

MAX_BYTES_AT_ONCE = 3 * 1024 * 1024
"""The size limit of what one workflow task sends; the server ends a workflow that sends more than 4 MiB.

It counts JSON, whether or not large payloads are stored outside of the server: a history has to replay under either,
and what is stored has to be written within the time of a workflow task, too.
"""

MAX_PENDING = 1900
"""The limit of activities and sub-workflows that are under way; the server refuses more than 2,000."""

LONG = 0.5
"""Seconds after which an activation is ended between two steps: a task may take two, and one step more than one."""

YIELDED = "swf-yield-"
"""How the markers begin of the places where a run has yielded."""

MAX_TRACE = 2000
"""The number of trace entries that a query returns."""

CALL_LIMIT = timedelta(days=1)
"""The time limit of one attempt where the definition sets none."""

HEARTBEAT = timedelta(seconds=30)
"""Within this time a worker that died is noticed."""

LIMITS_ATTEMPT = timedelta(seconds=30)
"""How long one attempt to look the operator's limits up may take."""

VARIABLE_ATTEMPT = timedelta(minutes=1)
"""The time limit of one attempt to read or write a variable."""

_OF_INSTANCES = ("instance", "thread")
"""The scopes whose variables end with the instance that made them."""
_MAX_PAUSE = 100.0
"""Seconds before a lost attempt is made again where the definition sets no limit."""

MAY_CONTINUE_AS_NEW = frozenset(
    {TraceKind.STATE_ENTERED, TraceKind.ACTION_COMPLETED, TraceKind.ACTION_RETRIED, TraceKind.EVENT_TAKEN}
)


class TemporalHost:
    """The host of one workflow execution."""

    def __init__(
        self, pin: Pin, source: str, parts: Sequence[Payload] = (), *, runs_external_activities: bool = True
    ) -> None:
        self.pin = pin
        self.source = source
        self.runs_external_activities = runs_external_activities
        semantics = SEMANTICS if pin.semantics is None else pin.semantics
        numbers = (pin.progress or {}).get("numbers", pin.numbers)
        self.budget = Budget(workflow.info().workflow_type, numbers) if gives_circles_up(semantics) else None
        self.trace: list[TraceEntry] = []
        self.on_trace: Callable[[TraceEntry], None] | None = None
        self._pending = 0
        self._waiting_for_room: list[asyncio.Future[None]] = []
        self._places = 0
        self._ending_with_this: list[asyncio.Future[Any]] = []
        self._sent = 0
        self._sent_at: datetime | None = None
        # In a workflow these are the engine's, and the same as long as it runs: looked up once, not at every step.
        self._loop = asyncio.get_running_loop()
        self._converter = workflow.payload_converter()
        self._limit = limit_of(self._converter)
        self.parts = Parts(self._converter, parts_of(pin.progress, parts))
        self._time = -1.0
        self._now = datetime.fromtimestamp(0, UTC)

    def now(self) -> datetime:
        """Return the time of the current workflow task; the same object as long as that lasts."""
        time = self._loop.time()
        if time != self._time:
            self._time, self._now = time, datetime.fromtimestamp(time, UTC)
        return self._now

    def new_id(self) -> str:
        """Return a random id that is the same on every replay."""
        return str(workflow.uuid4())

    def emit(self, entry: TraceEntry) -> None:
        """Keep the entry for queries, and see whether the run should continue as new."""
        if self.budget is not None:
            if entry.kind is TraceKind.STATE_ENTERED:
                self.budget.enter(entry.state)
            elif entry.kind is TraceKind.EVENT_TAKEN:
                self.budget.waited()
        self.trace.append(entry)
        if len(self.trace) > MAX_TRACE:
            del self.trace[: MAX_TRACE // 2]
        if self.on_trace is not None:
            self.on_trace(entry)

    def has_children_to_end(self) -> bool:
        """Tell whether sub-workflows are running that end with this execution, without being waited for."""
        self._ending_with_this = [child for child in self._ending_with_this if not child.done()]
        return bool(self._ending_with_this)

    async def sleep(self, duration: timedelta, why: str) -> None:
        """Set a durable timer."""
        await workflow.sleep(max(duration, timedelta(milliseconds=1)), summary=shortened(why))
        self._waited()

    async def read_variable(self, of: VariableRef) -> Variable | None:
        """Ask the scope of the variable, by an activity."""
        found = await self._variable(READ_VARIABLE, of, [])
        return None if found is None else variable_from_json(found)

    async def write_variable(self, of: VariableRef, value: Variable | None) -> None:
        """Tell the scope of the variable, by an activity."""
        record = None if value is None else variable_to_json(value)
        await self._variable(WRITE_VARIABLE, of, [await self._payload(record)])

    async def _variable(self, name: str, of: VariableRef, more: list[Payload]) -> Any:
        payloads = [await self._payload(ref_to_json(self._held(of))), *more]
        try:
            return await workflow.execute_activity(
                name,
                args=[RawValue(payload) for payload in payloads],
                start_to_close_timeout=VARIABLE_ATTEMPT,
                summary=shortened(f"{of.scope} variable {of.key}"),
            )
        except ActivityError as error:
            if isinstance(error.cause, CancelledError):
                raise asyncio.CancelledError from None
            raise fault_of_activity(error, name) from None
        finally:
            self._waited()

    def _held(self, of: VariableRef) -> VariableRef:
        """Return *of* as it is known where variables are held."""
        return replace(of, owner=self._lasting(of.owner)) if of.scope in _OF_INSTANCES else of

    def _lasting(self, owner: str) -> str:
        """Return *owner*, if it is this instance, with what tells it from a later one that is given its id."""
        info = workflow.info()
        return f"{owner}/{info.first_execution_run_id}" if owner == info.workflow_id else owner

    def changed(self, change: str) -> bool:
        """Tell whether this run goes the way that *change* brought: the history of each says so by a marker."""
        return workflow.patched(change)

    @property
    def carries(self) -> int:
        """What one payload may hold."""
        return self._limit

    def hold(self, values: Sequence[JSON]) -> list[int]:
        """Make parts of *values*, which the next execution is started with."""
        return self.parts.add(values)

    def held(self, number: int) -> list[JSON]:
        """Return the values of a part."""
        return self.parts.take(number)

    def has_worked_long(self) -> bool:
        """Tell whether the activation has lasted long.

        How long it lasts is another time each time: that it was too long is recorded by a marker of this very place, of
        which a replay knows. Nothing is recorded where it was not.
        """
        self._places += 1
        if not workflow.unsafe.is_replaying() and activations.seconds() < LONG:
            return False
        return workflow.patched(f"{YIELDED}{self._places}")

    async def yield_control(self) -> None:
        """End the workflow task, so that a long stretch of states is not one endless task."""
        await workflow.sleep(timedelta(milliseconds=1), summary="taking stock")
        if self.budget is not None and self.budget.asks_for_states:
            self.budget.check_states(await self._limits())

    def with_budget(self, progress: dict[str, Any]) -> dict[str, Any]:
        """Return the *progress* of the run with what it has used up of its budget."""
        if self.budget is None:
            return progress
        numbers = self.budget.over(progress.get("numbers", {}), self.budget.carried())
        return {**progress, "numbers": numbers} if numbers else progress

    def _waited(self) -> None:
        if self.budget is not None:
            self.budget.waited()

    async def _limits(self) -> Limits:
        """Return the limits of the operator, as they are now: what is answered stands in the history."""
        try:
            found = await workflow.execute_local_activity(
                LIMITS, start_to_close_timeout=LIMITS_ATTEMPT, summary="limits of circles"
            )
        except ActivityError as error:
            if isinstance(error.cause, CancelledError):
                raise asyncio.CancelledError from None
            raise fault_of_activity(error, LIMITS) from None
        return Limits.from_json(found)

    async def check_continuation(self) -> None:
        """Raise StepLimitExceeded where too many executions were begun without waiting, each by the one before."""
        if self.budget is not None and self.budget.asks_for_executions:
            self.budget.check_executions(await self._limits())

    async def invoke(self, call: FunctionCall) -> JSON:
        """Run the call as an activity that bears the function's name."""
        call = self._with_owners(call)
        if call.fire_and_forget:
            await self._detach(call)
            return None
        terms = parse_activity(call.function) if self.runs_external_activities else None
        if terms is not None:
            return await self._run_engine_activity(call, terms)
        payload = await self._payload(call_to_json(call, self.source))
        self._pending += 1
        try:
            return await workflow.execute_activity(  # type: ignore[no-any-return]  # JSON, as the activity returns it
                call.function.name,
                args=[RawValue(payload)],
                activity_id=shortened_id(call.id),
                schedule_to_close_timeout=call.timeout,
                start_to_close_timeout=CALL_LIMIT if call.timeout is None else call.timeout,
                heartbeat_timeout=HEARTBEAT,
                # The activity itself decides what is tried again and when; this is for attempts that were lost.
                retry_policy=_policy(call.retry),
                cancellation_type=ActivityCancellationType.TRY_CANCEL,
                **activity_facts(call),
            )
        except ActivityError as error:
            if isinstance(error.cause, CancelledError):
                raise asyncio.CancelledError from None
            raise fault_of_activity(error, call.action) from None
        finally:
            self._made_room()
            self._waited()

    def _with_owners(self, call: FunctionCall) -> FunctionCall:
        """Return *call* with its variables as they are known where they are held; those of a detached call are so."""
        if call.folder is None or self.pin.call is not None:
            return call
        files = (replace(file, of=self._held(file.of)) for file in call.folder.files)
        owners = {scope: self._held(VariableRef(scope, owner, "")).owner for scope, owner in call.folder.owners.items()}
        return replace(call, folder=CallFolder(tuple(files), owners))

    async def _run_engine_activity(self, call: FunctionCall, terms: ActivityOptions) -> JSON:
        """Run an activity that is none of ours."""
        payloads = [await self._payload(value) for value in arguments_of(call)]
        self._pending += 1
        try:
            return await ExternalActivity(
                call, terms, payloads, self.emit, slow_is_fatal=slow_is_fatal(self.pin.semantics or SEMANTICS)
            ).run(CALL_LIMIT)
        finally:
            self._made_room()
            self._waited()

    async def publish(self, event: CloudEvent, after: timedelta = NO_TIME) -> None:
        """Send the event by an activity or, where it is to be sent later, by a workflow of its own."""
        payload = await self._payload(event.to_json())
        if after:
            await self._send_later(event, payload, after)
            return
        try:
            await workflow.execute_activity(
                PUBLISH,
                args=[RawValue(payload)],
                start_to_close_timeout=PUBLISH_LIMIT,
                summary=shortened(event.type),
            )
        except ActivityError as error:
            if isinstance(error.cause, CancelledError):
                raise asyncio.CancelledError from None
            raise fault_of_activity(error, PUBLISH) from None
        finally:
            self._waited()

    async def _send_later(self, event: CloudEvent, payload: Payload, after: timedelta) -> None:
        """Begin the workflow that sends the event; it goes on when this one has ended."""
        try:
            await workflow.start_child_workflow(
                DELAYED_EVENT,
                args=[RawValue(payload), RawValue(await self._payload(after.total_seconds()))],
                id=self._id_of_child(f"event/{event.id}"),
                parent_close_policy=ParentClosePolicy.ABANDON,
                static_summary=shortened(event.type),
            )
        except ChildWorkflowError as error:
            raise fault_of_child(error, DELAYED_EVENT) from None

    async def run_subflow(self, call: SubflowCall) -> JSON:
        """Run the sub-workflow as a child. Raises UnknownDefinition if the run does not carry its definition."""
        definition = catalogue_of(tuple(self.pin.definitions)).find(call.workflow_id, call.version)
        parent = self.pin
        numbers = await self._numbers_of(call)
        thread = {key: self._lasting(owner) for key, owner in call.thread.items()}
        pin = Pin(parent.definitions, call.version, numbers=numbers, semantics=parent.semantics, thread=thread)
        broken_off: list[bool] = []
        try:
            handle = await noticing(self._start_child(call.workflow_id, call, pin), lambda: broken_off.append(True))
        except WorkflowFault:
            if broken_off and self.pin.semantics != FIRST_SEMANTICS:
                # It was never begun, because the path that waits for it was cancelled.
                raise asyncio.CancelledError from None
            raise
        if call.fire_and_forget:
            if not call.outlives_parent:
                self._ending_with_this.append(handle)
            return None
        self._pending += 1
        try:
            return await handle  # type: ignore[no-any-return]  # JSON, as the child returns it
        except ChildWorkflowError as error:
            is_first = self.pin.semantics == FIRST_SEMANTICS
            if isinstance(error.cause, CancelledError) and (self._is_cancelled() or (broken_off and not is_first)):
                raise asyncio.CancelledError from None
            cancelled = (
                definition.cancellation(by_parent=False)
                if tells_cancelled_subflows(parent.semantics or SEMANTICS)
                else None
            )
            raise fault_of_child(
                error,
                call.workflow_id,
                level_by_level=is_first,
                cancelled=cancelled,
                state_word=definition.words.state,
            ) from None
        finally:
            self._made_room()
            self._waited()

    async def _numbers_of(self, call: SubflowCall) -> dict[str, int]:
        """Return what the sub-workflow begins with of the budget. Raises StepLimitExceeded where that is used up."""
        if self.budget is None:
            return {}
        if call.fire_and_forget:
            await self.check_continuation()
            return self.budget.of_detached()
        if self.budget.asks_for_depth:
            self.budget.check_depth(await self._limits())
        return self.budget.of_child()

    def _id_of_child(self, child: str) -> str:
        parent = workflow.info().workflow_id
        return unshortened_id_of_child(parent, child) if self.budget is None else id_of_child(parent, child)

    def _is_cancelled(self) -> bool:
        """Tell whether the path that asks was cancelled, and not only what it waited for."""
        if workflow.cancellation_reason() is not None:
            return True
        path = asyncio.current_task()
        return self.pin.semantics != FIRST_SEMANTICS and path is not None and path.cancelling() > 0

    async def _start_child(self, workflow_id: str, call: SubflowCall, pin: Pin) -> Any:
        data = await self._payload(call.data)
        record = await self._payload(pin.to_json())
        check_together([len(data.data), len(record.data)], self._limit)
        policy = ParentClosePolicy.REQUEST_CANCEL
        if call.fire_and_forget:
            policy = ParentClosePolicy.ABANDON if call.outlives_parent else ParentClosePolicy.TERMINATE
        try:
            return await workflow.start_child_workflow(
                workflow_id,
                args=[RawValue(data), RawValue(record)],
                id=self._id_of_child(call.id),
                execution_timeout=call.timeout,
                parent_close_policy=policy,
                cancellation_type=ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
                **child_facts(call),
            )
        except ChildWorkflowError as error:
            raise fault_of_child(error, workflow_id) from None

    async def _detach(self, call: FunctionCall) -> None:
        """Run a fire-and-forget call in a workflow of its own: an activity would be lost with this one."""
        record = call_to_json(call, self.source)
        pin = Pin(definitions=self.pin.definitions, call=record)
        child = SubflowCall(
            id=call.id,
            workflow_id=call.function.name,
            version=None,
            data=None,
            state=call.state,
            action=call.action,
            priority=call.priority,
            fire_and_forget=True,
            outlives_parent=True,
        )
        await self._start_child(call.function.name, child, pin)

    async def _payload(self, value: Any) -> Payload:
        """Return *value* ready to be sent, once there is room to send it."""
        payload = self._converter.to_payload(value)
        size = len(payload.data)
        check_fits(size, ONE_STEP, self._limit)
        size = min(size, MAX_PAYLOAD_BYTES)  # a larger one is stored, and has a task for itself
        while self._pending >= MAX_PENDING:
            # A future for each: whoever is cancelled cancels the one that it waits for.
            room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting_for_room.append(room)
            await room
        if self.now() is not self._sent_at:
            self._sent, self._sent_at = 0, self.now()
        if self._sent + size > MAX_BYTES_AT_ONCE:
            await self.yield_control()
            self._sent, self._sent_at = 0, self.now()
        self._sent += size
        return payload

    def _made_room(self) -> None:
        self._pending -= 1
        waiting, self._waiting_for_room = self._waiting_for_room, []
        for room in waiting:
            if not room.done():
                room.set_result(None)


def _policy(retry: RetryRule | None) -> RetryPolicy:
    """Return what the engine goes by where an attempt was lost and could not say itself when the next is due."""
    first = max(0.001, retry.delay if retry else 1.0)
    longest = (retry and retry.max_delay) or _MAX_PAUSE
    return RetryPolicy(
        initial_interval=timedelta(seconds=first),
        # The engine refuses a policy whose first pause is longer than its longest.
        maximum_interval=timedelta(seconds=max(first, longest)),
        non_retryable_error_types=["PayloadsTooLarge"],
    )
