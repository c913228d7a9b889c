"""Running one state: the steps around its body that all types of state share.

In the order of the specification: filter the input, run within the state's timeout, handle errors by the state's
onErrors, filter the output. Each type of state has its own file under `states/`.

Before 0.7 (section "Defining Retries"), the entry of a state's onErrors that covers the error may name a retry. Each
entry counts its own attempts. Its transition is taken only when they are used up.

In the draft of May 2020 (section "Workflow Error Handling - Retrying"), a retry has a condition on the state's data and
its error: either may require another attempt, since a function may also report an error in its result. The first retry
whose condition holds applies.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionLimitExceeded, TimedOut, WorkflowFault
from swf_temporal.languages.serverless_workflow.execution.error_data import with_error
from swf_temporal.languages.serverless_workflow.execution.events import begin_anew, release
from swf_temporal.languages.serverless_workflow.execution.frames import StateFrame
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.program import StatePlan
from swf_temporal.languages.serverless_workflow.execution.retries import handler_of
from swf_temporal.languages.serverless_workflow.execution.states import run_body
from swf_temporal.languages.serverless_workflow.execution.step import (
    ByCondition,
    ByDefault,
    ByEntry,
    ByError,
    Diverted,
    Exit,
    Nowhere,
    Step,
    ToState,
)
from swf_temporal.languages.serverless_workflow.model.states import (
    End,
    OnError,
    State,
    StateRetry,
    SwitchState,
    Transition,
    WithTransition,
    expectations,
)
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.progress import Value
from swf_temporal.runtime.retrying import AttemptsFrame, no_jitter


async def with_retries(
    state: State, data: JSON, lane: Lane[StateFrame], attempt: Callable[[], Awaitable[Step]]
) -> Step:
    """Return the result of the last *attempt* at *state*, which is repeated as its retries say.

    Raises the fault of the last attempt, if it had one.
    """
    frame = lane.frame
    attempts = frame.attempts = frame.attempts or AttemptsFrame()

    async def delay_after(outcome: Step | WorkflowFault) -> float | None:
        fault = outcome if isinstance(outcome, WorkflowFault) else None
        if fault is not None and not lane.locate(fault).catchable:
            return None
        reached = outcome.data if isinstance(outcome, Step) else frame.latest_data(data)
        seen = with_error(reached, fault, lane.program.state_word, data)
        index = await _applicable_retry(state, seen, lane)
        if index is None:
            return None
        retry, count = state.retries[index], attempts.counts.get(str(index), 0)
        if count >= retry.max_attempts:
            return None
        delay = await _delay(retry, count, data, lane)
        name = None if fault is None else fault.name
        lane.emit(TraceKind.STATE_RETRIED, lane.state_path, attempt=attempts.number, error=name, delay=delay)
        attempts.counts[str(index)] = count + 1
        begin_anew(frame, lane)
        return delay

    return await lane.repeat(attempts, attempt, delay_after)


async def _applicable_retry(state: State, seen: JSON, lane: Lane) -> int | None:
    """Return the index of the first retry of *state* whose condition holds for the data *seen*."""
    for index, retry in enumerate(state.retries):
        if await lane.holds(retry.condition, seen):
            return index
    return None


async def _delay(retry: StateRetry, count: int, data: JSON, lane: Lane) -> float:
    """Return the delay in seconds before the next attempt, after *count* retries."""
    first = 0.0 if retry.delay is None else (await lane.duration(retry.delay, data)).total_seconds()
    added = 0.0 if retry.increment is None else (await lane.duration(retry.increment, data)).total_seconds()
    return first + count * added


async def with_error_retries(state: State, lane: Lane[StateFrame], attempt: Callable[[], Awaitable[Step]]) -> Step:
    """Return the result of the last *attempt* at *state*, whose errors are retried; raise the last fault."""
    frame = lane.frame
    attempts = frame.attempts = frame.attempts or AttemptsFrame()

    async def delay_after(outcome: Step | WorkflowFault) -> float | None:
        if not isinstance(outcome, WorkflowFault):
            return None
        fault = lane.locate(outcome)
        closest = lane.program.workflow.language_version.closest_handler
        entry = await lane.run.evaluated(lambda: handler_of(state, lane.program.errors, fault, closest=closest))
        if entry is None or entry.retry_ref is None or not fault.retryable:
            return None
        number = str(state.on_errors.index(entry))
        failed = attempts.counts.get(number, 0) + 1
        # No jitter: it would have to be the same on replay.
        delay = lane.program.state_retry_rule(entry.retry_ref).after(failed, fault, no_jitter)
        if delay is None:
            return None
        seconds = delay.total_seconds()
        lane.emit(TraceKind.STATE_RETRIED, lane.state_path, attempt=attempts.number, error=fault.name, delay=seconds)
        attempts.counts[number] = failed
        begin_anew(frame, lane)
        frame.forget_deadlines()
        return seconds

    return await lane.repeat(attempts, attempt, delay_after)


@dataclass(slots=True)  # not frozen: each state has one, and that would double what it costs
class StateResult:
    """The result of a state: its data, and the transition or end by which it is left."""

    data: JSON
    leaving: Transition | End
    completed: bool = True
    """False if it failed and one of its onErrors entries handled the error."""


async def run_state(state: State, data: JSON, lane: Lane[StateFrame]) -> StateResult:
    """Run *state* on *data*. Raises a fault that none of its onErrors entries covers."""
    frame = lane.frame
    if not frame.entered:
        lane.enter_state(lane.state_path, state.type, data)
        frame.entered = True
    try:
        if frame.left is None:
            # Leaving may take several steps, and a suspension between them must not run the state again.
            frame.left = await _step(state, data, lane)
            frame.body = frame.input = None
        step = frame.left
        if frame.output is None and not isinstance(step.exit, ByError | ToState):
            frame.output = Value(await lane.program.data_flow.state_output(state, data, step.data, lane))
    except WorkflowFault as fault:
        return await left_by_error(state, fault, data, lane)
    output = step.data if frame.output is None else frame.output.value
    return StateResult(output, _leaving(state, step.exit), not isinstance(step.exit, ByError))


async def left_by_error(state: State, fault: WorkflowFault, data: JSON, lane: Lane[StateFrame]) -> StateResult:
    """Return how *state* is left after *fault*, in or after its body. Raises it if no onErrors entry covers it."""
    frame = lane.frame
    step = await _catch(state, lane.locate(fault), data, lane)
    frame.left, frame.body, frame.input, frame.output, frame.compensation = step, None, None, None, None
    frame.events = 0
    return StateResult(step.data, _leaving(state, step.exit), completed=False)


async def _step(state: State, data: JSON, lane: Lane[StateFrame]) -> Step:
    """Return the result of the body of *state*, which was entered with *data*."""
    plan, begun = lane.program.plan(state), lane.frame.input
    seen = await lane.program.data_flow.state_input(state, data, lane) if begun is None else begun.value
    if begun is None and seen is not data:
        lane.frame.input = Value(seen)
    try:
        if plan.retries_errors:
            return await with_error_retries(state, lane, lambda: _in_time(state, seen, lane, plan))
        if state.retries:
            return await with_retries(state, seen, lane, lambda: _in_time(state, seen, lane, plan))
        return await _in_time(state, seen, lane, plan)
    except WorkflowFault as fault:
        if not _ignores_timeout(state, fault):
            raise
        lane.emit(TraceKind.ERROR_CAUGHT, fault.name, code=fault.code, message=fault.message)
        release(lane.frame.body, lane)
        return Step(lane.frame.latest_data(data))
    except Diverted as diverted:
        return await _diverted(diverted, data, lane)


def _ignores_timeout(state: State, fault: WorkflowFault) -> bool:
    """Return True if *state* continues normally although one of its actions timed out.

    In the draft of May 2020, a state without onErrors does (section "Action Definition").
    """
    return state.goes_on_when_late and isinstance(fault, TimedOut) and fault.is_of_action


async def _in_time(state: State, data: JSON, lane: Lane[StateFrame], plan: StatePlan) -> Step:
    """Run the body of *state* within its timeout.

    Both timeouts, that for all attempts and that for a single one, apply to this attempt: the shorter one decides.
    """
    if not plan.is_limited:
        return await run_body(state, data, lane)
    frame = lane.frame
    frame.deadline = await lane.deadline(frame.deadline, plan.timeouts.state_exec_timeout, data)
    frame.single = await lane.deadline(frame.single, plan.timeouts.single_state_exec_timeout, data)
    deadline = min(end for end in (frame.deadline, frame.single) if end is not None)
    return await lane.within(deadline, run_body(state, data, lane), f"{lane.program.state_word} {state.name!r}")


async def _catch(state: State, fault: WorkflowFault, data: JSON, lane: Lane[StateFrame]) -> Step:
    """Return the exit by the onErrors entry for *fault*, with the latest data of the state."""
    try:
        closest = lane.program.workflow.language_version.closest_handler
        entry = await lane.run.evaluated(lambda: handler_of(state, lane.program.errors, fault, closest=closest))
        if entry is None and fault.catchable:
            entry = await _handler_by_condition(state, fault, data, lane)
    except ExpressionLimitExceeded as limit:
        raise lane.locate(limit) from None
    if entry is None or (entry.retry_ref is not None and entry.transition is None and entry.end is None):
        raise fault
    lane.execution.caught(fault)
    lane.emit(TraceKind.ERROR_CAUGHT, fault.name, code=fault.code, message=fault.message)
    release(lane.frame.body, lane)
    data = await lane.program.data_flow.with_error(entry, fault, lane.frame.latest_data(data), lane)
    return Step(data, ByError(state.on_errors.index(entry)))


async def _diverted(diverted: Diverted, data: JSON, lane: Lane[StateFrame]) -> Step:
    """Return the step to the state that a used-up retry names, with the data of the attempts."""
    data = lane.frame.latest_data(data)
    fault = diverted.fault
    if fault is not None:
        lane.execution.caught(fault)
        lane.emit(TraceKind.ERROR_CAUGHT, fault.name, code=fault.code, message=fault.message)
        data = await lane.program.data_flow.with_error(None, fault, data, lane)
    return Step(data, ToState(diverted.next_state))


async def _handler_by_condition(
    state: State, fault: WorkflowFault, data: JSON, lane: Lane[StateFrame]
) -> OnError | None:
    """Return the first onErrors entry whose condition holds for *fault* (draft of May 2020)."""
    seen = with_error(lane.frame.latest_data(data), fault, lane.program.state_word)
    of_error = (one for one in state.on_errors if one.condition is not None)
    for one in of_error:
        if await lane.holds(one.condition, seen):
            return one
    return None


def _leaving(state: State, exit_: Exit | None) -> Transition | End:
    """Return the transition or end of *exit_*; a node that has neither is an end."""
    node: WithTransition | None = state
    match exit_:
        case ToState():
            return Transition(next_state=exit_.name)
        case Nowhere():
            return End()
        case ByError():
            node = state.on_errors[exit_.index]
        case ByEntry():
            node = expectations(state)[exit_.index]
        case ByCondition() if isinstance(state, SwitchState):
            node = (state.data_conditions or state.event_conditions)[exit_.index]
        case ByDefault() if isinstance(state, SwitchState):
            node = state.default_condition
    return End() if node is None else node.transition or node.end or End()
