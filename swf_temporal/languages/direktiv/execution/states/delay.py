"""The `delay` state: waits for a time."""

from swf_temporal.base.durations import parse_duration
from swf_temporal.languages.direktiv.execution.frames import DelayBody, StateFrame
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.model.states import DelayState
from swf_temporal.runtime.host import TraceKind


async def run(state: DelayState, frame: StateFrame, lane: Lane) -> StateExit:
    """Wait until the time is over."""
    if not isinstance(frame.body, DelayBody):
        frame.body = DelayBody(lane.run.time() + parse_duration(state.duration).total_seconds())
        lane.emit(TraceKind.SLEEPING, state.id, duration=state.duration)
    await lane.sleep_until(frame.body.until)
    return StateExit(lane.data, state.transform, state.transition)
