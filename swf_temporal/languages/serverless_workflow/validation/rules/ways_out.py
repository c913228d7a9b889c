"""Rule: states, conditions and error handlers have a transition or an end (section "Transition Definition").

Official examples leave both out where a path ends: that is read as an end. Both together are an error.
"""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.states import StateBase, SwitchState, WithTransition
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield an error for each node with a transition and an end, and a warning for each that has neither."""
    for node, owner in context.nodes.each(WithTransition):
        if node.transition is not None and node.end is not None:
            message = f"{owner} has a transition and an end: it can have only one of them"
            hint = "remove the end if another state follows, and the transition if none does"
            yield context.error("transition-or-end", message, node.where.key("end"), hint)
        elif isinstance(node, SwitchState):
            yield from _ignored(context, node, owner)
        elif node.transition is None and node.end is None and not _may_have_neither(node):
            message = f"{owner} has neither a transition nor an end: the path ends here"
            yield context.warning("transition-or-end", message, node.where.position, "write 'end: true'")


def _ignored(context: Context, node: SwitchState, owner: str) -> Iterator[Problem]:
    for key, value in (("transition", node.transition), ("end", node.end)):
        if value is not None:
            message = f"{owner} is a switch: its conditions say where it leads, and this {key} is never taken"
            hint = "remove it, and say in defaultCondition where the switch leads if no condition is met"
            yield context.warning("transition-or-end", message, node.where.key(key), hint)


def _may_have_neither(node: WithTransition) -> bool:
    return isinstance(node, StateBase) and node.used_for_compensation
