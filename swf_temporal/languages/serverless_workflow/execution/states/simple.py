"""States of a single path: operation, callback, switch, sleep and inject (sections "Operation State" and so on).

With `repeat` (0.6, section "Repeat Definition"), an operation runs its actions repeatedly. The loop ends when one of
the events in `stopOnEvents` arrived, when `max` is reached, or when the expression does not hold. With
`checkBefore: false` the expression is not evaluated before the first run. The output of a run is the input of the next;
a failed run, if errors do not end the loop, leaves the data unchanged.
"""

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import NoConditionMatched, TimedOut, WorkflowFault, WrongData
from swf_temporal.languages.serverless_workflow.execution.actions import run_actions, run_sequence
from swf_temporal.languages.serverless_workflow.execution.events import has_arrived, merge_event, wait_for_event
from swf_temporal.languages.serverless_workflow.execution.frames import (
    CallbackBody,
    OperationBody,
    RepeatFrame,
    SequenceFrame,
    SleepBody,
    SwitchBody,
)
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.retries import handler_of_timeout
from swf_temporal.languages.serverless_workflow.execution.step import ByCondition, ByDefault, Step
from swf_temporal.languages.serverless_workflow.model.states import (
    CallbackState,
    InjectState,
    OperationState,
    Repeat,
    SleepState,
    SwitchState,
)
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.progress import Value


async def run_operation(state: OperationState, data: JSON, lane: Lane[OperationBody]) -> Step:
    timeout = lane.program.timeouts(state).action_exec_timeout
    if state.repeat is not None:
        return Step(await _run_repeatedly(state, state.repeat, data, lane, timeout))
    return Step(await run_actions(state.actions, state.action_mode, data, lane, timeout))


async def _run_repeatedly(
    state: OperationState, repeat: Repeat, data: JSON, lane: Lane[OperationBody], timeout: str | None
) -> JSON:
    """Run the actions of *state* as often as *repeat* says, and return the resulting data."""
    frame = lane.frame.repeated = lane.frame.repeated or RepeatFrame()
    limit = await _limit(repeat, data, lane)
    data = data if frame.data is None else frame.data.value
    while frame.round is not None or await _continues(repeat, frame.times, limit, data, lane):
        frame.round = frame.round or SequenceFrame()
        own = lane.child(frame.round, lane.path)
        try:
            data = await run_actions(state.actions, state.action_mode, data, own, timeout)
        except WorkflowFault as fault:
            if not (repeat.continue_on_error and fault.catchable):
                raise
            lane.emit(TraceKind.ERROR_CAUGHT, fault.name, code=fault.code, message=fault.message)
        frame.data, frame.times, frame.round = Value(data), frame.times + 1, None
        lane.run.checkpoint()
    return data


async def _continues(repeat: Repeat, times: int, limit: int | None, data: JSON, lane: Lane) -> bool:
    if limit is not None and times >= limit:
        return False
    if repeat.stop_on_events and await has_arrived(repeat.stop_on_events, lane):
        return False
    if repeat.expression is None or (times == 0 and not repeat.check_before):
        return True
    return await lane.holds(repeat.expression, data)


async def _limit(repeat: Repeat, data: JSON, lane: Lane) -> int | None:
    """Return the maximum number of runs; None if there is no limit."""
    limit = await lane.fill(repeat.max, data)
    if isinstance(limit, str) and limit.strip().isdigit():
        limit = int(limit)
    if limit is None or limit == 0:
        return None
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise lane.locate(WrongData(f"max of the repeat of {lane.state_path!r} is {limit!r}, which is not a count"))
    return limit


async def run_callback(state: CallbackState, data: JSON, lane: Lane[CallbackBody]) -> Step:
    """Run the state's action, then merge the event that answers it. The event's timeout begins after the action."""
    timeouts = lane.program.timeouts(state)
    frame = lane.frame
    actions = lane.child(frame.actions, lane.path)
    data = await run_sequence((state.action,), data, actions, timeouts.action_exec_timeout)
    frame.deadline = await lane.deadline(frame.deadline, timeouts.event_timeout, data)
    taken = await wait_for_event([state.event_ref], frame.deadline, lane)
    if taken is None:
        fault = TimedOut(f"event {state.event_ref!r} did not come in time")
        if handler_of_timeout(state, lane.program.errors, fault):
            raise lane.locate(fault)
        return Step(data)
    return Step(await merge_event(state.event_ref, taken[1], state.event_data_filter, data, lane))


async def run_switch(state: SwitchState, data: JSON, lane: Lane[SwitchBody]) -> Step:
    """Return the exit by the first condition that holds."""
    if state.event_conditions:
        return await _by_event(state, data, lane)
    for index, condition in enumerate(state.data_conditions):
        await lane.run.pacing.give_way()
        if await lane.holds(condition.condition, data):
            return Step(data, ByCondition(index))
    return _default(state, data, "none of its conditions holds")


async def _by_event(state: SwitchState, data: JSON, lane: Lane[SwitchBody]) -> Step:
    """Wait for the first event that a condition names; take the default if none arrives in time.

    Without an eventTimeout the default is never taken: the state waits for an event.
    """
    frame = lane.frame
    frame.deadline = await lane.deadline(frame.deadline, lane.program.timeouts(state).event_timeout, data)
    refs = [condition.event_ref for condition in state.event_conditions]
    taken = await wait_for_event(refs, frame.deadline, lane)
    if taken is None:
        fault = TimedOut(f"none of {', '.join(refs)} came in time")
        if handler_of_timeout(state, lane.program.errors, fault):
            raise lane.locate(fault)
        return _default(state, data, "no event came in time")
    index, event = taken
    condition = state.event_conditions[index]
    data = await merge_event(condition.event_ref, event, condition.event_data_filter, data, lane)
    return Step(data, ByCondition(index))


def _default(state: SwitchState, data: JSON, why: str) -> Step:
    if state.default_condition is None:
        raise NoConditionMatched(f"switch {state.name!r} has no default, and {why}")
    return Step(data, ByDefault())


async def run_sleep(state: SleepState, data: JSON, lane: Lane[SleepBody]) -> Step:
    """Wait for the state's duration."""
    until = lane.frame.until = await lane.pause_until(lane.frame.until, state.duration, data, state.name)
    await lane.sleep_until(until)
    return Step(data)


async def run_inject(state: InjectState, data: JSON, lane: Lane) -> Step:
    return Step(await lane.program.data_flow.with_injected(state, data, lane))
