"""Rule: transitions and starts name states that exist (sections "Transition Definition" and "Start Definition")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Position, Problem
from swf_temporal.languages.serverless_workflow.model.states import StateBase, Transition
from swf_temporal.languages.serverless_workflow.model.workflow import Start, WorkflowExecTimeout
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.text.suggestions import meant_or_known


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each transition, start, compensatedBy and runBefore that names no state."""
    for name, phrase, position in _targets(context):
        if name not in context.states:
            message = f"{phrase} {name!r}, which is not a state here"
            hint = meant_or_known(name, context.states, "define it under states")
            yield context.error("transition-target", message, position, hint)


def _targets(context: Context) -> Iterator[tuple[str, str, Position]]:
    for transition, owner in context.nodes.each(Transition):
        yield transition.next_state, f"{owner} leads to", transition.where.value("nextState")
    for start, _ in context.nodes.each(Start):
        if start.state_name is not None:
            yield start.state_name, "the workflow starts in", start.where.value("stateName")
    for state, owner in context.nodes.each(StateBase):
        if state.compensated_by is not None:
            yield state.compensated_by, f"{owner} is compensated by", state.where.value("compensatedBy")
    for timeout, _ in context.nodes.each(WorkflowExecTimeout):
        if timeout.run_before is not None:
            yield timeout.run_before, "the workflow's timeout first runs", timeout.where.value("runBefore")
