"""Merging events into an instance's data, and producing events."""

from collections.abc import Mapping

from swf_temporal.base.cloud_event import FIXED, CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.execution.frames import StateFrame
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.model.actions import EventDataFilter
from swf_temporal.languages.serverless_workflow.model.definitions import Event
from swf_temporal.languages.serverless_workflow.model.states import ProduceEvent
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.waiting import DEFAULT_SOURCE


def as_read(definition: Event) -> Event:
    """Return the event definition with an empty source treated as no source."""
    return definition.model_copy(update={"source": None}) if definition.source == "" else definition


def payload_of(definition: Event, event: CloudEvent) -> JSON:
    """Return what states see of *event*: its payload or, with `dataOnly: false`, the whole event."""
    return event.data if definition.data_only else event.to_json()


async def merge_event(ref: str, event: CloudEvent, given: EventDataFilter | None, data: JSON, lane: Lane) -> JSON:
    """Return *data* with what states see of *event*, received as *ref* (section "Event data filters")."""
    return await lane.program.data_flow.with_event(lane.program.event(ref), event, given, data, lane)


async def produce(ref: str, template: JSON, attributes: Mapping[str, JSON], data: JSON, lane: Lane) -> None:
    """Produce the event *ref*. A text *template* is an expression, an object is filled; None sends all the data."""
    definition = lane.program.event(ref)
    filled = await lane.fill(dict(attributes), data)
    own = filled if isinstance(filled, dict) else {}
    event = CloudEvent(
        id=lane.run.host.new_id(),
        source=definition.source or DEFAULT_SOURCE,
        type=definition.type or definition.name,
        data=await lane.selected(template, data),
        attributes={
            "time": lane.run.host.now().isoformat(),
            "datacontenttype": "application/json",
            **{name: value for name, value in own.items() if name.lower() not in FIXED},
        },
    )
    lane.emit_event(TraceKind.EVENT_PRODUCED, ref, event)
    await lane.run.host.publish(event)


async def produce_all(events: tuple[ProduceEvent, ...], data: JSON, lane: Lane[StateFrame]) -> None:
    """Produce *events* in the order written, none of them twice."""
    frame = lane.frame
    for event in events[frame.events :]:
        await produce(event.event_ref, event.data, event.context_attributes, data, lane)
        frame.events += 1
