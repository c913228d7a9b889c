"""The `eventsAnd` state: waits for several events, each of which stands under its type."""

from swf_temporal.base.data import JSON
from swf_temporal.languages.direktiv.execution.frames import StateFrame
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.execution.waiting import all_of, begin_waiting
from swf_temporal.languages.direktiv.model.states import EventsAndState


async def run(state: EventsAndState, frame: StateFrame, lane: Lane) -> StateExit:
    wait = await begin_waiting([(one.type, one.context) for one in state.events], frame, lane)
    events = [event.to_json() for event in await all_of(wait, lane)]
    data: dict[str, JSON] = {**(lane.data if isinstance(lane.data, dict) else {}), **by_type(events)}
    return StateExit(data, state.transform, state.transition)


def by_type(events: list[dict[str, JSON]]) -> dict[str, JSON]:
    """Return *events* under their types; a further one of the same type has its number behind a dot."""
    found: dict[str, JSON] = {}
    for index, event in enumerate(events):
        key = str(event["type"])
        found[f"{key}.{index}" if key in found else key] = event
    return found
