"""The `consumeEvent` state: waits for an event, which stands under its type."""

from swf_temporal.languages.direktiv.execution.data import with_result
from swf_temporal.languages.direktiv.execution.frames import StateFrame
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.execution.waiting import begin_waiting, next_of
from swf_temporal.languages.direktiv.model.states import ConsumeEventState


async def run(state: ConsumeEventState, frame: StateFrame, lane: Lane) -> StateExit:
    wait = await begin_waiting([(state.event.type, state.event.context)], frame, lane)
    _, event = await next_of(wait, [0], lane)
    return StateExit(with_result(lane.data, event.type, event.to_json()), state.transform, state.transition)
