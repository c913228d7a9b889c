"""Rule: the states of `runBefore` are separate, and end (section "WorkflowExecTimeout Definition")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.states import State
from swf_temporal.languages.serverless_workflow.model.workflow import WorkflowExecTimeout
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.languages.serverless_workflow.validation.flow import reachable, targets, ways

_CODE = "run-before"
_APART = "name a state that nothing else leads to, and that ends"


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem if the states to run before the timeout are part of the control flow or never end."""
    for timeout, _ in context.nodes.each(WorkflowExecTimeout):
        if timeout.run_before is not None and timeout.run_before in context.states:
            yield from _check(context, timeout.run_before, timeout)


def _check(context: Context, name: str, timeout: WorkflowExecTimeout) -> Iterator[Problem]:
    position = timeout.where.value("runBefore")
    subject = f"state {name!r} runs before the workflow times out"
    before = reachable(context.states, name)
    compensating = [one for one in sorted(before) if context.states[one].used_for_compensation]
    main = reachable(context.states, context.workflow.start_state)
    if name in main:
        yield context.error(_CODE, f"{subject} and cannot be part of the control flow as well", position, _APART)
    elif before & main:
        state = next(state for state in context.workflow.states if state.name in before and _leads(state, main))
        place = next(position for target, position in targets(state) if target in main)
        yield context.error(_CODE, f"{subject}, but leads back into the control flow", place, _APART)
    elif not compensating and not any(
        way.end is not None for entered in before for way in ways(context.states[entered])
    ):
        if any(way.transition is None for entered in before for way in ways(context.states[entered])):
            what = "has no explicit end" if len(before) == 1 else "leads to no state with an explicit end"
            yield context.error(_CODE, f"{subject} and {what}", position, "it needs an 'end', as in end: true")
        else:
            yield context.error(
                _CODE, f"{subject} and never comes to an end", position, "one of its states has to end: end: true"
            )
    for entered in compensating:
        yield context.error(_CODE, f"{subject}, but {entered!r} is used for compensation", position, _APART)


def _leads(state: State, main: set[str]) -> bool:
    return any(target in main for target, _ in targets(state))
