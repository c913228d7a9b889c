"""Running a definition from its first state to its end.

For each state, in this order: its log and its metadata, its logic within its timeout, its transform, its transition. An
error in any of these goes to the state's own catches.

An instance has two timeouts. At the first, the soft timeout, the running state gets an error that it can catch, once.
At the second, the hard timeout, the instance ends. States that wait have their own timeout, too.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.base.durations import parse_duration
from swf_temporal.base.errors import UnknownDefinition, WorkflowFault
from swf_temporal.base.records import nested
from swf_temporal.expressions.json_schema import DataSchemaValidator
from swf_temporal.expressions.structured import StructuredJq
from swf_temporal.languages.direktiv import codes
from swf_temporal.languages.direktiv.execution.frames import (
    ActionFrame,
    InstanceFrame,
    ParallelBody,
    RaisedError,
    StateFrame,
)
from swf_temporal.languages.direktiv.execution.lane import Lane, StateExit, instance_data, transformed, with_result
from swf_temporal.languages.direktiv.execution.states import logic_of, validator_of, waits
from swf_temporal.languages.direktiv.globs import is_glob_of
from swf_temporal.languages.direktiv.model import (
    ActionState,
    ConsumeEventState,
    DelayState,
    EventsAndState,
    EventsXorState,
    ForeachState,
    Function,
    GenerateEventState,
    GetterState,
    ParallelState,
    SetterState,
    State,
    Timeouts,
    Workflow,
)
from swf_temporal.languages.direktiv.words import compat_of
from swf_temporal.runtime.execution import ExecutionBase
from swf_temporal.runtime.host import Completed, TraceKind
from swf_temporal.runtime.retrying import AttemptsFrame
from swf_temporal.runtime.run import Run, walk
from swf_temporal.text.origin import plain

SOFT: Final = 15 * 60.0
"""The default soft timeout of a workflow, in seconds."""
BETWEEN: Final = 5 * 60.0
"""The default time between the soft timeout of a workflow and the hard one, in seconds."""
STATE: Final = 15 * 60.0
"""The default timeout of a state with an action, a wait for events, variables, or an event to send, in seconds."""
GRACE: Final = 5.0
"""The seconds added to a state's timeout; the whole timeout of states that do not wait."""


@dataclass(frozen=True, slots=True)
class InstanceTimeouts:
    """The two timeouts of an instance, in seconds from its start."""

    soft: float
    hard: float


def timeouts_of(timeouts: Timeouts | None) -> InstanceTimeouts:
    interrupt = None if timeouts is None else _seconds(timeouts.interrupt)
    kill = None if timeouts is None else _seconds(timeouts.kill)
    soft = SOFT if interrupt is None else interrupt
    return InstanceTimeouts(soft, soft + BETWEEN if kill is None else kill)


def seconds_of(state: State) -> float:
    """Return the timeout of *state* in seconds."""
    match state:
        case ActionState(async_=True):
            return GRACE
        case (
            ActionState() | ForeachState() | ParallelState() | ConsumeEventState() | EventsAndState() | EventsXorState()
        ):
            timeout = _seconds(state.timeout)
            return (STATE if timeout is None else timeout) + GRACE
        case DelayState():
            return parse_duration(state.duration).total_seconds() + GRACE
        case GetterState() | SetterState() | GenerateEventState():
            # The store of variables or the receiver of events may be unavailable for a while: instances must not fail.
            return STATE + GRACE
        case _:
            return GRACE


def _seconds(duration: str | None) -> float | None:
    return parse_duration(duration).total_seconds() if duration else None


class DirektivExecution(ExecutionBase[InstanceFrame]):
    """One running instance. All of its state is in its frame."""

    def __init__(self, program: "DirektivProgram", run: Run, frame: InstanceFrame) -> None:
        super().__init__(run, frame)
        self.program = program
        timeouts = timeouts_of(program.workflow.timeouts)
        self._soft, self._hard = run.started + timeouts.soft, run.started + timeouts.hard

    @property
    def thread(self) -> Mapping[str, str]:
        """The variables of the scope `thread` that it sees: for each key, the instance that created it."""
        return {**self.run.instance.thread, **self.frame.thread}

    @property
    def deadline(self) -> float | None:
        """The time of the hard timeout."""
        return self._hard

    @property
    def under_way(self) -> Sequence[str]:
        """The ids of the calls and sub-workflows that are in progress or have failed."""
        return [action.id for action in nested(self.frame, ActionFrame) if action.id is not None]

    def begin_again(self) -> None:
        """Reset the timeout of the running state and the attempts of its actions."""
        if self.frame.run is not None:
            self.frame.run.again = self.run.time()
        for action in nested(self.frame, ActionFrame):
            action.attempts = AttemptsFrame()
        for parallel in nested(self.frame, ParallelBody):
            parallel.failed.clear()

    def begin_thread_variable(self, key: str) -> None:
        """Create a variable of the scope `thread`, unless the caller has one: then that is used."""
        if key not in self.thread:
            self.frame.thread[key] = self.run.instance.instance_id

    async def execute(self) -> Completed:
        """Run to the end. Raises the WorkflowFault that the instance failed with."""
        return self._completed() if self.frame.state is None else await walk(self.run, self._step)

    async def _step(self) -> Completed | None:
        """Run one state; return the outcome of the instance if that was the last."""
        if self.run.time() >= self._hard:
            raise _hard_timeout()
        await self._pass(self.program.states[str(self.frame.state)])
        return self._completed() if self.frame.state is None else None

    def _completed(self) -> Completed:
        """Return the outcome of the instance at its end. Raises the error that an `error` state has recorded."""
        if self.frame.failed is not None:
            raise codes.fault(self.frame.failed.code, self.frame.failed.message)
        return Completed(self.frame.data)

    def fail_at_end(self, code: str, message: str) -> None:
        """Let the instance fail when it ends. Raises an error if called twice."""
        if self.frame.failed is not None:
            raise codes.fault(codes.MULTIPLE_ERRORS, "the instance has failed already, and cannot fail twice")
        self.frame.failed = RaisedError(code, message)

    async def _pass(self, state: State) -> None:
        """Run one state and move to the next."""
        frame = self.frame
        lane = Lane(self, state.id, frame.data)
        try:
            data, target = await self._run(state, lane)
        except WorkflowFault as fault:
            fault.state = fault.state or state.id
            data, target = await self._caught(state, fault, lane)
        lane.leave_state(state.id, data)
        frame.data, frame.state, frame.run = data, target or None, None

    async def _run(self, state: State, lane: Lane) -> tuple[JSON, str | None]:
        frame, is_resumed = self.frame.run, self.frame.run is not None
        if frame is None:
            lane.enter_state(state.id, state.type, lane.data)
            frame = self.frame.run = StateFrame(self.run.time())
            if state.log is not None:
                lane.emit(TraceKind.LOGGED, state.id, value=await lane.evaluate(state.log, lane.data))
            if state.metadata is not None:
                self.frame.metadata = await lane.evaluate(state.metadata, lane.data)
                lane.emit(TraceKind.METADATA_SET, state.id, value=self.frame.metadata)
        left = await self._in_time(state, frame, lane, is_resumed=is_resumed)
        lane.data = left.data  # an error of the transform is caught with the result of the state, too
        return await transformed(left.transform, left.data, lane), left.transition

    async def _in_time(self, state: State, frame: StateFrame, lane: Lane, *, is_resumed: bool) -> StateExit:
        """Run the logic of *state* within its own timeout and those of the instance.

        A state that is resumed too late may still use what had arrived in time.
        """
        if not waits(state):
            return await logic_of(state, frame, lane)
        due = self.due(state.id)
        if due <= self.run.time() and not is_resumed:
            raise self._expired()
        return await lane.in_time(due, logic_of(state, frame, lane), self._expired)

    def due(self, state: str) -> float:
        """Return the deadline of the running *state*, of its own timeout and those of the instance."""
        frame = self.frame.run
        assert frame is not None  # noqa: S101 - it is running
        own = (frame.again or frame.since) + seconds_of(self.program.states[state])
        return min(own, self._hard) if self.frame.interrupted else min(own, self._hard, self._soft)

    def _expired(self) -> WorkflowFault:
        now = self.run.time()
        if now >= self._hard:
            return _hard_timeout()
        if now >= self._soft:
            self.frame.interrupted = True
        return codes.fault(codes.SOFT_TIMEOUT, "operation timed out")

    async def _caught(self, state: State, fault: WorkflowFault, lane: Lane) -> tuple[JSON, str | None]:
        """Return data and next state if *state* catches *fault*. Raises it otherwise."""
        fault = _known(fault)
        if not fault.catchable:
            raise fault
        code, message = codes.code_and_message(fault)
        before = self.frame.error, self.frame.data
        error: dict[str, JSON] = {"code": code, "msg": message}
        self.frame.error, self.frame.data = error, (data := with_result(lane.data, "error", error))
        catch = next((one for one in state.catch if is_glob_of(one.error, code)), None)
        if catch is None and code == codes.RETRIES_EXCEEDED and isinstance(last := fault.__cause__, WorkflowFault):
            with suppress(WorkflowFault):
                return await self._caught(state, last, lane)  # by the text, the original error goes to the catches
        if catch is None:
            self.frame.error, self.frame.data = before  # the caller may continue with them
            raise _under_code(fault, code, message)
        lane.emit(TraceKind.ERROR_CAUGHT, state.id, code=code, message=message)
        return data, catch.transition


def _known(fault: WorkflowFault) -> WorkflowFault:
    """Return the language's own error for *fault*."""
    if isinstance(fault, UnknownDefinition):
        known: WorkflowFault = codes.uncatchable(codes.WORKFLOW_NOT_FOUND, fault.message)
        known.state = fault.state
        return known
    return fault


def _under_code(fault: WorkflowFault, code: str, message: str) -> WorkflowFault:
    """Return *fault* under the code and message that definitions use."""
    if fault.name == code and fault.message == message:
        return fault
    coded = codes.fault(code, message)
    coded.state, coded.action, coded.function, coded.cause = (
        fault.state,
        fault.action,
        fault.function,
        fault.cause,
    )
    return coded


def _hard_timeout() -> WorkflowFault:
    return codes.uncatchable(codes.HARD_TIMEOUT, "workflow timed out")


class DirektivProgram:
    def __init__(self, workflow: Workflow, id_: str, semantics: int) -> None:
        self.workflow = workflow
        self.id = id_
        self.semantics = semantics
        self.compat = compat_of(workflow.compat)
        self.jq = StructuredJq(null_fails=self.compat.null_fails, several=self.compat.several)
        self.states: dict[str, State] = {state.id: state for state in workflow.states}
        self.functions: dict[str, Function] = {function.id: function for function in workflow.functions}
        self._schemas: dict[str, DataSchemaValidator] = {}

    def begin(self, run: Run, frame: Mapping[str, Any] | None) -> DirektivExecution:
        begun = InstanceFrame(instance_data(run.input), self.workflow.first)
        return DirektivExecution(self, run, begun if frame is None else InstanceFrame.from_json(frame))

    def schema(self, state: str, schema: Any) -> DataSchemaValidator:
        """Return the JSON Schema of a `validate` state. Raises BadSchema."""
        if state not in self._schemas:
            self._schemas[state] = validator_of(plain(schema))
        return self._schemas[state]
