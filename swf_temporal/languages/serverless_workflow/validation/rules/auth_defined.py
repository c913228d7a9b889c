"""Rule: auth definitions that functions refer to exist (section "Auth Definition")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.definitions import Function
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each authRef that names no auth definition of the workflow."""
    for function, owner in context.nodes.each(Function):
        if function.auth_ref is not None:
            where = function.auth_ref.where
            yield from context.undefined("auth", function.auth_ref.resource, where.value("resource"), owner)
            yield from context.undefined("auth", function.auth_ref.invocation, where.value("invocation"), owner)
