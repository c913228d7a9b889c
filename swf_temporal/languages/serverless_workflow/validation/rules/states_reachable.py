"""Rule: every state is reachable (section "Workflow States")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.workflow import WorkflowExecTimeout
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.languages.serverless_workflow.validation.flow import reachable
from swf_temporal.text.suggestions import NEVER_ENTERED


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each state that is unreachable by transition, compensation or timeout."""
    if not context.workflow.states or context.workflow.start_state not in context.states:
        return
    starts = {context.workflow.start_state}
    starts |= {state.compensated_by for state in context.workflow.states if state.compensated_by is not None}
    starts |= {timeout.run_before for timeout, _ in context.nodes.each(WorkflowExecTimeout) if timeout.run_before}
    entered = {name for start in starts for name in reachable(context.states, start)}
    for state in context.workflow.states:
        if state.name not in entered:
            message = f"state {state.name!r} is never entered"
            yield context.warning("unreachable-state", message, state.where.value("name"), NEVER_ENTERED)
