"""States and functions that are named have to be there."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem, Severity
from swf_temporal.languages.direktiv.model.states import actions_of, targets_of
from swf_temporal.languages.direktiv.model.workflow import SubflowFunction, Workflow
from swf_temporal.text.origin import Source
from swf_temporal.text.suggestions import NEVER_ENTERED, meant_or_known


def check(workflow: Workflow, source: Source) -> Iterator[Problem]:
    """Yield what *workflow* names that is not there."""
    states = [state.id for state in workflow.states]
    start = workflow.start
    if start is not None and start.state and start.state not in states:
        message = f"start leads to the state {start.state!r}, which does not exist"
        yield source.problem(
            "transition-target", message, start.where.value("state"), meant_or_known(start.state, states)
        )
    for state in workflow.states:
        for target, node, key in targets_of(state):
            if target not in states:
                message = f"state {state.id!r} leads to the state {target!r}, which does not exist"
                yield source.problem(
                    "transition-target", message, node.where.value(key), meant_or_known(target, states)
                )
    yield from _functions(workflow, source)
    yield from _unreachable(workflow, source)


def _functions(workflow: Workflow, source: Source) -> Iterator[Problem]:
    functions = {function.id: function for function in workflow.functions}
    for state in workflow.states:
        for action in actions_of(state):
            named = functions.get(action.function)
            if named is None:
                message = f"state {state.id!r} refers to the function {action.function!r}, which is not defined"
                where, hint = (
                    action.where.value("function"),
                    meant_or_known(action.function, functions, "define it under functions"),
                )
                yield source.problem("function-undefined", message, where, hint)
            elif isinstance(named, SubflowFunction) and action.files:
                message = f"state {state.id!r}: {action.function!r} is a subflow, which takes no files"
                yield source.problem("not-for-subflows", message, action.where.key("files"))
            elif isinstance(named, SubflowFunction) and action.secrets:
                message = f"state {state.id!r}: secrets for the subflow {action.function!r} would stand in its data"
                hint = "let the subflow's own action name them"
                yield source.problem("not-for-subflows", message, action.where.key("secrets"), hint)


def _unreachable(workflow: Workflow, source: Source) -> Iterator[Problem]:
    ways = {state.id: [target for target, *_ in targets_of(state)] for state in workflow.states}
    reached: set[str] = set()
    todo = [workflow.first]
    while todo:
        name = todo.pop()
        if name in ways and name not in reached:
            reached.add(name)
            todo += ways[name]
    for state in workflow.states:
        if reached and state.id not in reached:
            message = f"state {state.id!r} is never entered"
            yield source.problem("unreachable-state", message, state.where.value("id"), NEVER_ENTERED, Severity.WARNING)
