"""The `action` state: one call, whose result stands under `return`."""

from swf_temporal.languages.direktiv.execution.calls import perform
from swf_temporal.languages.direktiv.execution.data import with_result
from swf_temporal.languages.direktiv.execution.frames import ActionFrame
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.model.states import ActionState


async def run(state: ActionState, frame: ActionFrame, lane: Lane) -> StateExit:
    """Make the call, and wait for its result unless it is `async`."""
    result = await perform(state.action, frame, lane.child("action"), forget=state.async_)
    data = lane.data if state.async_ else with_result(lane.data, "return", result)
    return StateExit(data, state.transform, state.transition)
