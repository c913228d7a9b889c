"""Rule: an action calls a function, exchanges events, or runs a workflow (section "Action Definition")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.text.suggestions import did_you_mean

_CALLS = ("functionRef", "eventRef", "subFlowRef")
_WHAT_TO_CALL = "write the function that it calls, as in 'functionRef: {refName: ...}', or one of the others"


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each action that does nothing, or several things."""
    for action, owner in context.nodes.each(Action):
        calls = (action.function_ref, action.event_ref, action.sub_flow_ref)
        given = [key for key, call in zip(_CALLS, calls, strict=True) if call is not None]
        subject = owner if action.name else f"an action of {owner}"
        if not given:
            near = next((hint for key in action.where.keys if (hint := did_you_mean(key, _CALLS))), None)
            message = f"{subject} has none of functionRef, eventRef and subFlowRef"
            yield context.error("action-call", message, action.where.position, near or _WHAT_TO_CALL)
        elif len(given) > 1:
            message = f"{subject} has {' and '.join(given)}: it can have only one of them"
            hint = f"write one action for {given[0]}, and another for {given[1]}"
            yield context.error("action-call", message, action.where.key(given[1]), hint)
