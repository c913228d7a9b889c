"""Rule: an `inputCollection` can be an array (section "ForEach State")."""

from collections.abc import Collection, Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.expressions.evaluation import BadExpression
from swf_temporal.languages.serverless_workflow.model.states import ForeachState
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each inputCollection that compiles and cannot yield an array, whatever the data."""
    for field, compiled in context.expressions:
        if field.key == "inputCollection" and isinstance(field.node, ForeachState):
            kinds: Collection[str] = getattr(compiled, "kinds", ("array",))
            if not isinstance(compiled, BadExpression) and "array" not in kinds:
                message = f"{field.owner}: inputCollection {field.text!r} cannot yield an array"
                hint = "it selects an array of the data, as '${ .orders }' does"
                yield context.error("input-collection", message, field.position, hint)
