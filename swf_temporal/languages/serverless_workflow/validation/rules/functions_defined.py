"""Rule: functions that are called are defined (sections "Function Definition" and "FunctionRef Definition")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.actions import FunctionRef
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each functionRef that names no function of the workflow."""
    for ref, owner in context.nodes.each(FunctionRef):
        yield from context.undefined("functions", ref.ref_name, ref.where.value("refName"), owner)
