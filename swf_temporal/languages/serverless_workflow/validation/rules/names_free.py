"""Rule: no variable hides a predefined one (sections "Workflow Context" and "ForEach State")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.expressions import VARIABLES
from swf_temporal.languages.serverless_workflow.model.states import ForeachState
from swf_temporal.languages.serverless_workflow.validation.context import Context

_JQS_OWN = frozenset({"ENV"})


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each iteration parameter with a reserved name."""
    for state, owner in context.nodes.each(ForeachState):
        name = state.iteration_param
        # Names that begin with two underscores are ours and jq's.
        if name in VARIABLES | _JQS_OWN or name.startswith("__"):
            message = f"{owner}: the iterationParam {name!r} would hide the variable ${name}, which is always there"
            hint = "another name, such as item, is free"
            yield context.error("reserved-name", message, state.where.value("iterationParam"), hint)
