"""Rule: event definitions identify their events (sections "Event Definition" and "Correlation Definition")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.workflow import Event
from swf_temporal.languages.serverless_workflow.validation.context import Context

_CODE = "event-definition"


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each event that matches every event, cannot be produced, or has properties without effect."""
    for event, owner in context.nodes.each(Event):
        if event.type is None and not event.source:
            message = f"{owner} has neither a type nor a source: every event would match it"
            yield context.error(_CODE, message, event.where.position, "write its type, as in type: com.example.order")
        elif event.kind == "produced" and event.type is None:
            message = f"{owner} is produced, and has no type to be produced with"
            yield context.error(_CODE, message, event.where.position, "write its type, as in type: com.example.order")
        elif event.source == "":
            message = f"{owner} has an empty source, which counts as missing"
            hint = "leave it out, or name the source"
            yield context.warning(_CODE, message, event.where.value("source"), hint)
        for rule in event.correlation:
            if not rule.context_attribute_name.strip():
                message = f"{owner} is correlated by an attribute with an empty name, which no event has"
                yield context.error(_CODE, message, rule.where.value("contextAttributeName"), "name the attribute")
        if event.kind == "produced" and event.correlation:
            message = f"{owner} is produced: its correlation has no effect, as only events that are consumed have one"
            hint = "remove it: the attributes of a produced event are its contextAttributes"
            yield context.warning("correlation", message, event.where.key("correlation"), hint)
