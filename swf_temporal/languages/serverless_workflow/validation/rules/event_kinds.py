"""Rule: events are used as the kind that they are defined as (section "Event Definition").

Official examples produce events that they define as consumed, so this is only a warning.
"""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.languages.serverless_workflow.validation.references import event_references


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each event that is produced but defined as consumed, or vice versa."""
    kinds = {event.name: event.kind for event in context.workflow.events}
    for use in event_references(context.nodes):
        if kinds.get(use.name, use.kind) != use.kind:
            message = f"{use.owner}: the event {use.name!r} is {use.kind} here, but defined as {kinds[use.name]}"
            hint = f"write 'kind: {use.kind}' in its definition, or define another event for this"
            yield context.warning("event-kind", message, use.position, hint)
