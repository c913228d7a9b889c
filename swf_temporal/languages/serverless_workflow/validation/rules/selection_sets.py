"""Rule: a call of a GraphQL function has a selection set (section "FunctionRef Definition")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.actions import FunctionRef
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each call of a function of the type graphql without a selection set."""
    kinds = {function.name: function.type for function in context.workflow.functions}
    for ref, owner in context.nodes.each(FunctionRef):
        if kinds.get(ref.ref_name) == "graphql" and ref.selection_set is None:
            message = f"{owner} calls the graphql function {ref.ref_name!r} without a selectionSet"
            hint = """name the required fields, as in selectionSet: '{ id, name }', or '' of a single value"""
            yield context.error("selection-set", message, ref.where.value("refName"), hint)
