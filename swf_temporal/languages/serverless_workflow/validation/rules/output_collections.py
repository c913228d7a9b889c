"""Rule: an `outputCollection` gets results, and only these (section "ForEach State")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.languages.serverless_workflow.model.states import ForeachState
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each outputCollection that gets only null, or is the inputCollection."""
    for state, owner in context.nodes.each(ForeachState):
        target = state.output_collection
        if target is None or state.scope is not None:
            continue
        position = state.where.value("outputCollection")
        if state.actions and not any(_gives(action) for action in state.actions):
            message = f"{owner}: no action gives a result to outputCollection {target!r}: it gets null for each element"
            hint = "await one of the actions, with its results, or leave outputCollection out"
            yield context.warning("output-collection", message, position, hint)
        if _bare(target) == _bare(state.input_collection):
            effect = "results are appended to the elements"
            message = f"{owner}: outputCollection {target!r} is the inputCollection: {effect}"
            yield context.warning("output-collection", message, position, "name another place, such as '${ .results }'")


def _gives(action: Action) -> bool:
    ref = action.function_ref or action.sub_flow_ref or action.event_ref
    is_awaited = ref is not None and ref.invoke != "async"
    if action.event_ref is not None and action.event_ref.consume_event_ref is None:
        return False
    return is_awaited and (action.action_data_filter is None or action.action_data_filter.use_results)


def _bare(expression: str) -> str:
    return expression.strip().removeprefix("${").removesuffix("}").strip()
