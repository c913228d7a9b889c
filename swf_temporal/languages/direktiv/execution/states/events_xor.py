"""The `eventsXor` state: the first of several events decides where to go on."""

from swf_temporal.languages.direktiv.execution.data import with_result
from swf_temporal.languages.direktiv.execution.frames import StateFrame
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.execution.waiting import begin_waiting, next_of
from swf_temporal.languages.direktiv.model.states import EventsXorState, kind_of


async def run(state: EventsXorState, frame: StateFrame, lane: Lane) -> StateExit:
    """Wait for the first event; what its entry does not say, the state does."""
    wait = await begin_waiting([kind_of(one)[:2] for one in state.events], frame, lane)
    index, event = await next_of(wait, range(len(wait.kinds)), lane)
    entry = state.events[index]
    transform = state.transform if entry.transform is None else entry.transform
    return StateExit(
        with_result(lane.data, event.type, event.to_json()), transform, entry.transition or state.transition
    )
