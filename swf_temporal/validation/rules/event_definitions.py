"""An event can be recognised (section "Event Definition")."""

from collections.abc import Iterator

from swf_temporal.errors import Problem
from swf_temporal.model.definitions import Event
from swf_temporal.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each event that cannot be told from others, or not produced."""
    for event, owner in context.nodes.each(Event):
        if event.type is None and event.source is None:
            message = f"{owner} has neither a type nor a source: every event would be taken for it"
            yield context.error("event-definition", message, event.where.position)
        elif event.kind == "produced" and event.type is None:
            message = f"{owner} is produced, and has no type to be produced with"
            yield context.error("event-definition", message, event.where.position)
