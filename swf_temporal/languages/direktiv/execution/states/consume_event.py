"""The `consumeEvent` state: waits for an event, which stands under its type."""

from swf_temporal.languages.direktiv.execution.data import with_result
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import Leaving
from swf_temporal.languages.direktiv.execution.waiting import awaited_kinds, next_of
from swf_temporal.languages.direktiv.model.states import ConsumeEventState


async def run(state: ConsumeEventState, lane: Lane) -> Leaving:
    """Wait for the event."""
    kinds = awaited_kinds([(state.event.type, state.event.context)], lane)
    _, event = await next_of(kinds, [0], lane)
    return Leaving(with_result(lane.data, event.type, event.to_json()), state.transform, state.transition)
