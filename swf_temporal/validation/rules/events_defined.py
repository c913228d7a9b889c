"""Events that are awaited or produced are defined (section "Event Definition")."""

from collections.abc import Iterator

from swf_temporal.errors import Problem
from swf_temporal.model.actions import EventRef
from swf_temporal.model.states import CallbackState, EventCondition, OnEvents, ProduceEvent
from swf_temporal.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each reference to an event that the workflow does not define."""
    for events, owner in context.nodes.each(OnEvents):
        for index, name in enumerate(events.event_refs):
            yield from context.undefined("events", name, events.where.at("eventRefs", index), owner)
    for ref, owner in context.nodes.each(EventRef):
        yield from context.undefined(
            "events", ref.produce_event_ref, ref.where.value("produceEventRef"), owner
        )
        yield from context.undefined(
            "events", ref.consume_event_ref, ref.where.value("consumeEventRef"), owner
        )
    for kind in (ProduceEvent, EventCondition, CallbackState):
        for node, owner in context.nodes.each(kind):
            yield from context.undefined("events", node.event_ref, node.where.value("eventRef"), owner)
