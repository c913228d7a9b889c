"""Rule: an operation has the form that the function's type requires (section "Function Definition").

The sections "Using Functions for …" define the form for each type; the types check it themselves. Whether the
operation exists when it is called is not checked.
"""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.base.function_types import operation_type
from swf_temporal.languages.serverless_workflow.execution.parameters import function_of
from swf_temporal.languages.serverless_workflow.model.workflow import Function
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each operation that can only fail, and each key without effect."""
    for function, owner in context.nodes.each(Function):
        kind = operation_type(function.type)
        if kind is None or function.operation is None:
            continue
        for wrong in kind.problems(function_of(function)):
            yield context.workflow.source.problem(
                wrong.code, f"{owner}: {wrong.message}", function.where.at(*wrong.path), wrong.hint, wrong.severity
            )
