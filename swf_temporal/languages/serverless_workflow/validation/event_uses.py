"""A workflow's references to events, and the role of each."""

from collections.abc import Iterator
from dataclasses import dataclass

from swf_temporal.base.errors import Position
from swf_temporal.languages.serverless_workflow.model.actions import EventRef
from swf_temporal.languages.serverless_workflow.model.by_kind import NodesByKind
from swf_temporal.languages.serverless_workflow.model.states import (
    CallbackState,
    EventCondition,
    OnEvents,
    ProduceEvent,
    Repeat,
)


@dataclass(frozen=True, slots=True)
class EventUse:
    name: str
    kind: str
    """As what the event is used: consumed or produced."""
    owner: str
    position: Position


def event_uses(nodes: NodesByKind) -> Iterator[EventUse]:
    """Yield every reference to an event, kind by kind of what refers to it."""
    for events, owner in nodes.each(OnEvents):
        for index, name in enumerate(events.event_refs):
            yield EventUse(name, "consumed", owner, events.where.at("eventRefs", index))
    for ref, owner in nodes.each(EventRef):
        yield EventUse(ref.produce_event_ref, "produced", owner, ref.where.value("produceEventRef"))
        if ref.consume_event_ref is not None:
            yield EventUse(ref.consume_event_ref, "consumed", owner, ref.where.value("consumeEventRef"))
    for produced, owner in nodes.each(ProduceEvent):
        yield EventUse(produced.event_ref, "produced", owner, produced.where.value("eventRef"))
    for condition, owner in nodes.each(EventCondition):
        yield EventUse(condition.event_ref, "consumed", owner, condition.where.value("eventRef"))
    for callback, owner in nodes.each(CallbackState):
        yield EventUse(callback.event_ref, "consumed", owner, callback.where.value("eventRef"))
    for repeat, owner in nodes.each(Repeat):
        for index, name in enumerate(repeat.stop_on_events):
            yield EventUse(name, "consumed", owner, repeat.where.at("stopOnEvents", index))
