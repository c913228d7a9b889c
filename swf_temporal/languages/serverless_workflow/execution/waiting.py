"""Waiting for events that belong to this instance, by the names of their definitions."""

from collections.abc import Sequence

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.execution.correlation import required_values
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.runtime.progress import WaitingFrame
from swf_temporal.runtime.waiting import next_event, take_kept


async def has_arrived(refs: Sequence[str], lane: Lane) -> bool:
    """Take the first event that was kept and that one of *refs* defines; tell whether there was one."""
    for ref in refs:
        selector = lane.program.event_selector((ref,))
        if take_kept(selector, lane, keys=lane.correlation, given=await required_of([ref], lane)) is not None:
            return True
    return False


async def wait_for_event(
    refs: Sequence[str], deadline: float | None, lane: Lane[WaitingFrame]
) -> tuple[int, CloudEvent] | None:
    """Return the first event to come that one of *refs* defines, and which; None if *deadline* comes first."""
    selector = lane.program.event_selector(tuple(refs))
    # Once, and here: what fails where an event is delivered fails for the one who sends it.
    given = await required_of(refs, lane) if selector.is_correlated else ()
    return await next_event(selector, lane.frame, lane, deadline=deadline, keys=lane.correlation, given=given)


async def required_of(refs: Sequence[str], lane: Lane) -> list[dict[str, JSON]]:
    """Return the values that the attributes of the events must have that *refs* define."""
    return [
        await required_values(definition, lambda value: lane.fill(value, lane.execution.data))
        for definition in map(lane.program.event, refs)
    ]
