"""Rule: a `repeat` ends (section "Repeat Definition" of 0.6)."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.states import Repeat
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each repeat without an end condition."""
    for repeat, owner in context.nodes.each(Repeat):
        if repeat.expression is None and not repeat.max and not repeat.stop_on_events:
            message = f"{owner}: repeat has neither expression, max nor stopOnEvents, and would never end"
            hint = "write when it is repeated, as in 'expression: ${ .open > 0 }', or how often at most, as in 'max: 3'"
            yield context.error("repeat", message, repeat.where.position, hint)
