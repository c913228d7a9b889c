"""Rule: events that are consumed or produced are defined (section "Event Definition")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.languages.serverless_workflow.validation.secret_uses import event_uses


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each reference to an event that the workflow does not define."""
    for use in event_uses(context.nodes):
        yield from context.undefined("events", use.name, use.position, use.owner)
