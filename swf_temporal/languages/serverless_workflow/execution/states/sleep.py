"""Sleep: waits for a duration (section "Sleep State")."""

from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.execution.frames import SleepBody
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.model.states import SleepState


async def run(state: SleepState, data: JSON, lane: Lane[SleepBody]) -> Step:
    """Wait for the state's duration."""
    until = lane.frame.until = await lane.pause_until(lane.frame.until, state.duration, data, state.name)
    await lane.sleep_until(until)
    return Step(data)
