"""Rule: the event that answers a callback state has a correlation (section "Callback State").

The event that it waits for carries the context attribute that `correlation` names. Without one, the first event of that
kind that reaches the instance is taken as the answer, even if it is unrelated.
"""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.states import CallbackState
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each callback state whose event has no correlation."""
    uncorrelated = {event.name for event in context.workflow.events if not event.correlation}
    for state, owner in context.nodes.each(CallbackState):
        if state.event_ref in uncorrelated:
            message = f"{owner} accepts any event {state.event_ref!r} as its answer: the event has no correlation"
            hint = "name the attribute that the answer carries: correlation: [{contextAttributeName: …}]"
            yield context.warning("correlation", message, state.where.value("eventRef"), hint)
