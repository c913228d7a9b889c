"""Events are used as the kind that they are defined as (section "Event Definition").

Official examples produce events that they define as consumed, so this is told and tolerated.
"""

from collections.abc import Iterator

from swf_temporal.errors import Position, Problem
from swf_temporal.model.actions import EventRef
from swf_temporal.model.states import CallbackState, EventCondition, OnEvents, ProduceEvent
from swf_temporal.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each event that is produced but defined as consumed, or the other way round."""
    kinds = {event.name: event.kind for event in context.workflow.events}
    for name, used, owner, position in _uses(context):
        if name in kinds and kinds[name] != used:
            message = f"{owner}: the event {name!r} is {used} here, but is defined as {kinds[name]}"
            yield context.warning("event-kind", message, position)


def _uses(context: Context) -> Iterator[tuple[str | None, str, str, Position]]:
    for events, owner in context.nodes.each(OnEvents):
        for index, name in enumerate(events.event_refs):
            yield name, "consumed", owner, events.where.at("eventRefs", index)
    for ref, owner in context.nodes.each(EventRef):
        yield ref.produce_event_ref, "produced", owner, ref.where.value("produceEventRef")
        yield ref.consume_event_ref, "consumed", owner, ref.where.value("consumeEventRef")
    for produced, owner in context.nodes.each(ProduceEvent):
        yield produced.event_ref, "produced", owner, produced.where.value("eventRef")
    for kind in (EventCondition, CallbackState):
        for node, owner in context.nodes.each(kind):
            yield node.event_ref, "consumed", owner, node.where.value("eventRef")
