"""Rule: a state injects an object (section "Inject State")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.states import InjectState
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for data that is not an object: it replaces the state's data instead of being added."""
    for state, owner in context.nodes.each(InjectState):
        if state.data is None or isinstance(state.data, dict) or (isinstance(state.data, str) and "${" in state.data):
            continue
        kind = "a list" if isinstance(state.data, list) else repr(state.data)
        message = f"{owner} injects {kind}, which replaces all data: only an object is added to it"
        yield context.warning(
            "inject-data", message, state.where.value("data"), "write an object, as in data: {key: value}"
        )
