"""Callback: runs an action, then waits for the event that answers it (section "Callback State")."""

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import TimedOut
from swf_temporal.languages.serverless_workflow.execution.actions import run_sequence
from swf_temporal.languages.serverless_workflow.execution.events import merge_event, wait_for_event
from swf_temporal.languages.serverless_workflow.execution.frames import CallbackBody
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.retries import handler_of_timeout
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.model.states import CallbackState


async def run(state: CallbackState, data: JSON, lane: Lane[CallbackBody]) -> Step:
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
