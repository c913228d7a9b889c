"""Rule: a switch state chooses by data or by events, not by both (section "Switch State")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.states import SwitchState
from swf_temporal.languages.serverless_workflow.validation.context import Context

_ADD_DEFAULT = "add defaultCondition with a transition or an end"


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each switch that has no conditions, both kinds of them, or no default."""
    inherited = context.workflow.timeouts.event_timeout
    for state, owner in context.nodes.each(SwitchState):
        if state.data_conditions and state.event_conditions:
            message = f"{owner} has dataConditions and eventConditions: a switch can have only one of them"
            yield context.error("switch-conditions", message, state.where.key("eventConditions"), "write two states")
        elif not state.data_conditions and not state.event_conditions:
            message = f"{owner} is a switch without dataConditions or eventConditions"
            hint = "without any it would have nothing to choose from: add one of them"
            yield context.error("switch-conditions", message, state.where.position, hint)
        if state.default_condition is None and state.data_conditions:
            message = f"{owner} has no defaultCondition: if no condition holds, the run fails"
            yield context.warning("switch-conditions", message, state.where.position, _ADD_DEFAULT)
        elif state.default_condition is None and (state.timeouts.event_timeout or inherited) is not None:
            message = f"{owner} has no defaultCondition: if no event arrives in time, the run fails"
            yield context.warning("switch-conditions", message, state.where.position, _ADD_DEFAULT)
