"""Waiting for events that belong to this instance, by the names of their definitions."""

from collections.abc import Sequence

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.execution.correlation import required_values
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.runtime.progress import WaitingFrame
from swf_temporal.runtime.waiting import next_event, take_kept


async def has_arrived(refs: Sequence[str], lane: Lane) -> bool:
    """Take the first event in the inbox that one of *refs* defines; return True if there was one."""
    for ref in refs:
        selector = lane.program.event_selector((ref,))
        if take_kept(selector, lane, keys=lane.correlation, given=await required_of([ref], lane)) is not None:
            return True
    return False


async def wait_for_event(
    refs: Sequence[str], deadline: float | None, lane: Lane[WaitingFrame]
) -> tuple[int, CloudEvent] | None:
    """Return the next event that one of *refs* defines, with the index of the ref; None if *deadline* passes first."""
    selector = lane.program.event_selector(tuple(refs))
    # Evaluated once, and here: an error during delivery would be reported to the sender of the event.
    given = await required_of(refs, lane) if selector.is_correlated else ()
    return await next_event(selector, lane.frame, lane, deadline=deadline, keys=lane.correlation, given=given)


async def required_of(refs: Sequence[str], lane: Lane) -> list[dict[str, JSON]]:
    """Return the required attribute values of the events that *refs* define."""
    return [
        await required_values(definition, lambda value: lane.fill(value, lane.execution.data))
        for definition in map(lane.program.event, refs)
    ]
