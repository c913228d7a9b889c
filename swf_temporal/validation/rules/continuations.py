"""An end that continues as another workflow ends this one (section "End Definition")."""

from collections.abc import Iterator

from swf_temporal.errors import Problem
from swf_temporal.model.states import End
from swf_temporal.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each end that continues, and says that it does not terminate."""
    for end, owner in context.nodes.each(End):
        if end.continue_as is not None and "terminate" in end.where.keys and not end.terminate:
            message = f"{owner} continues as {end.continue_as.workflow_id!r}: terminate false has no effect there"
            yield context.warning("continue-as", message, end.where.key("terminate"), "leave 'terminate' out")
