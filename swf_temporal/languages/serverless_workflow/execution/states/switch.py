"""Switch: chooses the transition by data, or by the first event to arrive (section "Switch State")."""

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import NoConditionMatched, TimedOut
from swf_temporal.languages.serverless_workflow.execution.events import merge_event, wait_for_event
from swf_temporal.languages.serverless_workflow.execution.frames import SwitchBody
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.retries import handler_of_timeout
from swf_temporal.languages.serverless_workflow.execution.step import ByCondition, ByDefault, Step
from swf_temporal.languages.serverless_workflow.model.states import SwitchState


async def run(state: SwitchState, data: JSON, lane: Lane[SwitchBody]) -> Step:
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
