"""The simulated host, which runs instances in this process.

Functions are scripted: a result, or a callable that gets the arguments. Nothing outside this process is accessed,
except the services that a scenario starts.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, json_from
from swf_temporal.base.errors import (
    CallFailed,
    StepLimitExceeded,
    TimedOut,
    UnreadableDefinition,
    WorkflowFault,
    causes,
)
from swf_temporal.base.grammar import counted, with_article
from swf_temporal.base.strict_json import NotJSON, json_of
from swf_temporal.expressions.guarding.deferring import Evaluation, answer_to, answering
from swf_temporal.expressions.guarding.helper import EngineAnswer
from swf_temporal.languages.performing import delay_after
from swf_temporal.runtime.budgets import Budget, InstanceLimits
from swf_temporal.runtime.host import (
    NO_TIME,
    CallFolder,
    FunctionCall,
    SubflowCall,
    Timer,
    TraceEntry,
    TraceKind,
    evaluated,
)
from swf_temporal.runtime.ids import id_of_child
from swf_temporal.runtime.joining import MISSING, Missing, SuspendRequested, heeding_cancellation, within
from swf_temporal.runtime.performing import (
    MAX_PAYLOAD_BYTES,
    ONE_STEP,
    check_result,
    check_size,
    size_of,
    subflow_fault,
)
from swf_temporal.runtime.retrying import AttemptsFrame, JitterSource, repeat
from swf_temporal.runtime.trace import ActionRetried, failed_attempt
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.simulation.clock import PLACE, StateHistory, VirtualLoop
from swf_temporal.simulation.result import retry_delay
from swf_temporal.simulation.script import arguments_of
from swf_temporal.simulation.variables import VariableStore, folder_for, wants_folder

if TYPE_CHECKING:
    from swf_temporal.simulation.context import SimulationContext


T = TypeVar("T")


async def answer_of(stub: object, arguments: JSON, call: FunctionCall, variables: VariableStore) -> JSON:
    """Return a copy of the result of *stub* for *call*.

    Raises CallFailed, as on a worker, if it raises, or if its result is not JSON or is too large.
    """
    result = stub
    if callable(stub):
        try:
            # A copy: a function that changes its arguments must not change the workflow's data.
            result = await _called(stub, json_of(arguments), call, variables)
        except WorkflowFault:
            raise
        except (Exception, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling()):
                raise  # it is the call that is cancelled, and not what the function awaits
            name = type(error).__name__
            raise CallFailed(str(error) or name, name=name) from error
    try:
        value: JSON = json_from(result)
    except NotJSON as error:
        who = f"{'custom ' if call.function.type == 'custom' else ''}function {call.function.name!r}"
        message = f"{who} returned {with_article(type(result).__name__)}, not JSON: {error}"
        raise CallFailed(message, code="NotJSON", retryable=False) from None
    check_result(size_of(value), call.function.name)
    return value


async def _called(stub: Callable[..., Any], arguments: JSON, call: FunctionCall, variables: VariableStore) -> object:
    if not wants_folder(stub):
        result = stub(arguments)
        return await result if inspect.isawaitable(result) else result
    with folder_for(call.folder or CallFolder((), {}), variables) as folder:
        result = stub(arguments, folder)
        return await result if inspect.isawaitable(result) else result


class LongRunningCalls:
    """The long-running calls of one instance, each of which runs as another instance."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self._under_way: dict[str, asyncio.Task[Any]] = {}
        """The work of each call, by its id."""

    async def result(
        self,
        call: FunctionCall | SubflowCall,
        work: Callable[[], Coroutine[Any, Any, Any]],
        place: tuple[int, ...],
    ) -> JSON:
        """Return the result of *work*, which starts at *place* unless *call* is in progress already."""
        if call.id not in self._under_way:
            await self._begin(call.id, work, place)
        task = self._under_way[call.id]
        assert call.long_wait is not None  # noqa: S101 - for the type checker
        is_suspended = False
        try:
            return await call.long_wait(task)  # type: ignore[no-any-return]  # JSON, as the work returns it
        except SuspendRequested:
            is_suspended = True
            raise
        except asyncio.CancelledError:
            await _cancelled(task)
            raise
        finally:
            if not is_suspended:
                del self._under_way[call.id]

    async def _begin(self, call_id: str, work: Callable[[], Coroutine[Any, Any, Any]], place: tuple[int, ...]) -> None:
        async def at_its_place() -> Any:
            PLACE.set(place)
            return await work()

        task = self._loop.create_task(at_its_place())
        try:
            await self._loop.delivery(place, is_begin=True)
        except asyncio.CancelledError:
            await _cancelled(task)
            raise
        self._under_way[call_id] = task


async def _cancelled(task: asyncio.Task[Any]) -> None:
    """Cancel *task* and wait for its end; its result does not matter, since its path is cancelled."""
    task.cancel()
    with suppress(WorkflowFault, asyncio.CancelledError):
        await task


MAX_ELAPSED = timedelta(days=365 * 1_000)
"""The limit of virtual time in a simulation. Retries whose delays are multiplied reach it soon."""


def _failures(retried: TraceEntry, action: str) -> str:
    detail = retried.detail
    error = f"{detail['error']}: {detail['message']}" if detail.get("message") else detail["error"]
    return f"{action} failed {counted(detail['attempt'], 'time')}, the last time with {error}"


class SimulatedHost:
    def __init__(
        self,
        context: "SimulationContext",
        loop: VirtualLoop,
        instance_id: str,
        source: str,
        course: StateHistory,
        budget: Budget | None = None,
    ) -> None:
        """Make the host of an execution of the instance *instance_id*, whose definition was read from *source*.

        *course* has the states that the instance ran, *budget* says how many instances wait for it.
        """
        self.context = context
        self.loop = loop
        self.instance_id = instance_id
        self.run_id = context.new_id()
        self.source = source
        self.course = course
        self.budget = budget or Budget("", {})
        self._failing: TraceEntry | None = None
        """The latest attempt that failed and was repeated."""
        self.shares_events = False
        """Whether produced events reach other instances of the simulation."""
        self.trace: list[TraceEntry] = []
        self._children: dict[str, asyncio.Task[None]] = {}
        """The fire-and-forget sub-workflows that end with this execution, by their ids."""
        self._long_running = LongRunningCalls(loop)

    def now(self) -> datetime:
        return self.loop.now()

    def new_id(self) -> str:
        """Return the next number in this simulation."""
        return self.context.new_id()

    def emit(self, entry: TraceEntry) -> None:
        """Append to the trace. A run with too many states or retries is given up."""
        if (delay := retry_delay(entry)) is not None:  # of a language that repeats calls itself
            self.context.delays.append((entry.name, delay))
        self._keep(entry)

    def _keep(self, entry: TraceEntry) -> None:
        entry.data = None
        self.trace.append(entry)
        self.context.add_trace(self, entry)
        if entry.kind is TraceKind.STATE_ENTERED:
            # Iterations are as many as their items are, whatever their data.
            data = self.context.data_of(self) if entry.enters_state else None
            self.course.enter(entry.state, data, self.loop.time(), is_round=entry.enters_state)
            self.context.steps.count(lambda: f"lately {self.course.latest_states()}")
        elif entry.kind is TraceKind.ACTION_RETRIED:
            self._failing = entry
            self.context.steps.count(lambda: _failures(entry, "this action"))

    async def sleep(self, duration: timedelta, timer: Timer) -> None:  # noqa: ARG002 - shown by other hosts
        """Let virtual time pass, up to `MAX_ELAPSED`."""
        left = MAX_ELAPSED - timedelta(seconds=self.loop.time())
        await self.loop.moment(min(duration, left))
        if duration > left:
            failing = "" if self._failing is None else f"; lately {_failures(self._failing, repr(self._failing.name))}"
            raise StepLimitExceeded(f"the run took 1,000 years, the limit of a simulation{failing}")

    async def settled(self) -> None:
        """Wait until everything that runs now waits."""
        await self.loop.settled()

    async def invoke(self, call: FunctionCall) -> JSON:
        """Call the scripted function, with retries by its rule."""
        check_size(size_of(call.arguments), ONE_STEP)
        if call.fire_and_forget:
            place = self._next_place()
            alone = self.context.detach(partial(self._ignoring_errors, partial(self._attempts, call)), place)
            await self._begun(alone, place)
            return None
        if call.long_wait is None:
            return await self._answered(call)
        place = self._next_place()
        try:
            result: JSON = await self._long_running.result(call, partial(self._answered, call), place)
        except WorkflowFault:
            await self.loop.delivery(place)
            raise
        await self.loop.delivery(place)
        return result

    async def _answered(self, call: FunctionCall) -> JSON:
        """Return the answer of the scripted function, if it comes in time."""
        return await self._requested(self._answered_in_time(call))

    async def _answered_in_time(self, call: FunctionCall) -> JSON:
        # Its turn and its deadline are those of the time at which it was requested.
        turn = self.loop.moment(timedelta())
        if call.timeout is None:
            return await self._attempts(call, turn)
        expiry = self.loop.moment(call.timeout)
        try:
            result = await within(self._attempts(call, turn, self.now() + call.timeout), _until(expiry))
        finally:
            turn.cancel()
            expiry.cancel()
        if result is MISSING:
            raise TimedOut(f"action {call.action!r} took longer than it may")
        return result

    async def publish(self, event: CloudEvent, after: timedelta = NO_TIME) -> None:
        """Add the event to those that the simulation produced, and deliver it to instances if they share events."""
        check_size(size_of(event.to_json()), ONE_STEP)
        if after:
            self.context.detach(partial(self._send, event, after), self._next_place())
            return
        await self._requested(self._send(event, after))

    async def _requested(self, work: Awaitable[T]) -> T:
        """Return the result of *work*. As on Temporal, a cancelled path continues when its end is reported."""
        try:
            return await work
        except asyncio.CancelledError:
            await self.loop.withdrawn()
            raise

    async def _send(self, event: CloudEvent, after: timedelta) -> None:
        await self.loop.moment(after)
        self.context.produced.append(event)
        if self.shares_events:
            self.context.spread(event)

    async def read_variable(self, of: VariableRef) -> Variable | None:
        await self._requested(self.loop.moment(timedelta()))
        return self.context.variables.read(of)

    async def write_variable(self, of: VariableRef, value: Variable | None) -> None:
        await self._requested(self.loop.moment(timedelta()))
        self.context.variables.write(of, value)

    @heeding_cancellation
    async def run_subflow(self, call: SubflowCall) -> JSON:
        """Run the definition with that id, in the same virtual time."""
        if call.fire_and_forget:
            return await self._run_subflow(call)
        with self.budget.waiting_for_child():
            return await self._run_subflow(call)

    async def _run_subflow(self, call: SubflowCall) -> JSON:
        if call.version is None and call.workflow_id in self.context.broken:
            raise UnreadableDefinition(self.context.broken[call.workflow_id])
        # A missing definition is not a failure of the sub-workflow.
        definition = self.context.catalogue.find(call.workflow_id, call.version)
        check_size(size_of(call.data), ONE_STEP)
        own_id, numbers = self._child(call)
        place, turn = self._next_place(), self.loop.turn
        work = partial(self.context.run_child, call, own_id, place, numbers)
        if call.fire_and_forget:
            child = self.context.detach(partial(self._ignoring_errors, work), place)
            if call.parent_close_policy == "terminate":
                self._children[own_id] = child
            await self._begun(child, place)
            return None
        try:
            if call.long_wait is None:
                result = await self._awaited(call, work)
            else:
                result = await self._long_running.result(call, work, place)
        except WorkflowFault as fault:
            await self._told(place, turn)
            raise subflow_fault(call.workflow_id, fault, state_word=definition.words.state) from None
        except asyncio.CancelledError:
            await self._end_reported(place, turn)
            raise
        await self._told(place, turn)
        if result is MISSING:
            raise TimedOut(f"sub-workflow {call.workflow_id!r} took longer than it may")
        return result

    def _child(self, call: SubflowCall) -> tuple[str, Mapping[str, int]]:
        """Return the id of a sub-workflow and the numbers that it begins with. Raises WorkflowFault for too many."""
        own_id = id_of_child(self.instance_id, self.run_id, call.id)
        if call.fire_and_forget:
            return own_id, {}
        limits, spread = InstanceLimits(), self.budget.spread(call.workflow_id)
        self.budget.check_depth(limits)
        self.budget.check_descendants(call.workflow_id, spread, limits)
        return own_id, self.budget.of_child(spread)

    async def _told(self, place: tuple[int, ...], turn: int) -> None:
        """Wait until the end of an instance is notified, even if the path is cancelled."""
        try:
            await self.loop.delivery(place)
        except asyncio.CancelledError:
            await self._end_reported(place, turn)
            raise

    def _end_reported(self, place: tuple[int, ...], turn: int, *, is_begin: bool = False) -> "asyncio.Future[None]":
        """Return a future that is done when the end of a cancelled instance is reported, requested in *turn*.

        One that has not left its starter yet never starts.
        """
        has_left = self.loop.turn != turn
        return self.loop.delivery(place, is_begin=is_begin) if has_left else self.loop.withdrawn()

    async def _begun(self, instance: asyncio.Task[None], place: tuple[int, ...]) -> None:
        """Wait until a fire-and-forget instance has begun. If the path is cancelled before, so is the instance."""
        turn = self.loop.turn
        try:
            await self.loop.delivery(place, is_begin=True)
        except asyncio.CancelledError:
            instance.cancel()
            await self._end_reported(place, turn, is_begin=True)
            raise

    async def _awaited(self, call: SubflowCall, work: Callable[[], Coroutine[Any, Any, JSON]]) -> JSON | Missing:
        if call.timeout is None:
            # A separate task: a chain of nested waits would be too deep for one.
            return await self.loop.create_task(work())
        expiry = self.loop.moment(call.timeout)
        try:
            return await within(work(), _until(expiry))
        finally:
            expiry.cancel()

    def end_children(self) -> None:
        """End the fire-and-forget sub-workflows that do not outlive this execution."""
        for child_id, child in self._children.items():
            self.context.terminate(child_id)
            child.cancel()

    @property
    def carries(self) -> int:
        """The limit of a server without storage for large payloads."""
        return MAX_PAYLOAD_BYTES

    def hold(self, values: Sequence[JSON]) -> list[int]:  # noqa: ARG002 - a simulation is not stored
        """Leave all values in the progress."""
        return []

    def held(self, number: int) -> list[JSON]:
        """Hold nothing."""
        raise KeyError(number)

    async def evaluate(self, evaluation: Evaluation) -> EngineAnswer:
        """Make the evaluation at once."""
        return answer_to(evaluation, MAX_PAYLOAD_BYTES)

    async def environment(self) -> Mapping[str, str]:
        """Return the variables of the environment that the scenario has."""
        return self.context.environment

    def jitter(self, key: str) -> JitterSource:
        """Return the jitter that the scenario sets, else that of *key*."""
        return self.context.jitter(key)

    async def yield_control(self) -> None:
        """Let others run: cycles are detected state by state."""
        await asyncio.sleep(0)

    def _next_place(self) -> tuple[int, ...]:
        """Return the place of the next instance that this one starts."""
        return (*PLACE.get(), self.loop.number())

    async def _attempts(
        self, call: FunctionCall, turn: "asyncio.Future[None] | None" = None, end: datetime | None = None
    ) -> JSON:
        jitter = self.context.jitter(f"{self.instance_id}/{call.id}")
        attempts = AttemptsFrame()

        async def again_at(outcome: JSON | WorkflowFault) -> float | None:
            if not isinstance(outcome, WorkflowFault):
                return None
            outcome.attempt, outcome.function = attempts.number, call.function.name
            number = attempts.number
            delay = await evaluated(lambda: delay_after(call, number, outcome, jitter), self.evaluate)
            if delay is None:
                return None
            self.context.delays.append((call.function.name, delay))
            again = self.now() + delay
            if end is not None and again > end:
                # Temporal does not wait for an attempt that would be too late.
                message = f"action {call.action!r} took longer than it may"
                raise TimedOut(message, cause=f"{outcome.name}: {outcome.message}") from None
            self._note_retry(call, attempts.number, outcome, delay)
            return again.timestamp()

        async def pause(until: float) -> None:
            timer = call.retry_timer()
            await self.sleep(datetime.fromtimestamp(until, UTC) - self.now(), timer)

        async def attempt() -> JSON:
            with answering(None):
                return await self._attempt(call, attempts.number)

        await (turn or self.loop.moment(timedelta()))
        return await repeat(attempts, attempt, again_at, pause)

    async def _attempt(self, call: FunctionCall, attempt: int) -> JSON:
        functions: Mapping[str, Any] = self.context.functions
        name, arguments = call.function.name, arguments_of(call, self.context.secrets)
        self.context.calls.append((name, arguments))
        try:
            if name in functions:
                return await answer_of(functions[name], arguments, call, self.context.variables)
            if self.context.stub_services is not None:
                key = f"{self.instance_id}/{call.id}"
                with self.loop.clock_frozen():
                    return await self.context.stub_services.perform(call, source=self.source, key=key, attempt=attempt)
        except CallFailed as fault:
            raised = next((one for one in causes(fault) if isinstance(one, AssertionError)), None)
            self.context.assertion = self.context.assertion or raised
            raise
        raise CallFailed(
            f"function {name!r} has no scripted result: give it one in `functions`",
            code="NotScripted",
            retryable=False,
        )

    def _note_retry(self, call: FunctionCall, attempt: int, fault: WorkflowFault, delay: timedelta) -> None:
        detail: ActionRetried = {**failed_attempt(attempt, fault), "delay": delay.total_seconds()}
        self._keep(TraceEntry(TraceKind.ACTION_RETRIED, call.state, call.state, call.action, self.now(), detail))

    async def _ignoring_errors(self, work: Callable[[], Awaitable[JSON]]) -> None:
        """Run *work* that is fire-and-forget: its errors do not reach the instance that started it."""
        try:
            await work()
        except WorkflowFault as fault:
            self.context.ignored_errors.append(fault)


async def _until(moment: "asyncio.Future[None]") -> None:
    await moment
