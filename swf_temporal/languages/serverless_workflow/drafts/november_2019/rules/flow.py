"""States lead to states that stand beside them, from `startsAt` to an end (section "Transitions")."""

from collections.abc import Iterator
from typing import TypeAlias

from swf_temporal.base.errors import Position, Problem
from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.drafts.november_2019.rules.context import Context, StateScope
from swf_temporal.text.suggestions import NEVER_ENTERED, meant_or_known


def check(context: Context) -> Iterator[Problem]:
    """Yield what is wrong with the ways through the states of the workflow, and of each branch."""
    for scope in context.scopes():
        if not scope.states:
            message = f"{scope.owner}: states is empty"
            hint = "write at least one state, and name it in startsAt"
            yield context.error("empty-list", message, scope.node.where.value("states"), hint)
            continue
        yield from _names(context, scope)
        yield from _targets(context, scope)
        yield from _ends(context, scope)
        yield from _unreachable(context, scope)
    for state, owner in context.each(model.ParallelState):
        if not state.branches:
            hint = "write at least one branch, with a name, startsAt and states"
            yield context.error("empty-list", f"{owner}: branches is empty", state.where.value("branches"), hint)
        yield from context.repeated("branch", state.branches, f" in {owner}")
    yield from context.repeated("trigger", context.root.trigger_defs)
    for retry, owner in context.each(model.Retry):
        if retry.next_state is None:
            message = f"{owner} has no nextState: once it is used up, the error or the result is left as it is"
            hint = "write the nextState that follows when the last retry has failed"
            yield context.warning("transition-or-end", message, retry.where.position, hint)


def targets(state: model.State) -> Iterator[tuple[str, str, Position]]:
    """Yield the states that *state* leads to: by which key, and where that is written."""
    for node in _leading(state):
        if node.next_state is not None:
            yield "nextState", node.next_state, node.where.value("nextState")
    if isinstance(state, model.SwitchState) and state.default is not None:
        yield "default", state.default, state.where.value("default")


_Leading: TypeAlias = model.State | model.ErrorHandler | model.Choice | model.EventDefinition | model.Retry


def _leading(state: model.State) -> Iterator[_Leading]:
    """Yield what of *state* may say where it leads."""
    if not state.end:
        yield state
    yield from state.on_error
    match state:
        case model.SwitchState():
            yield from state.choices
        case model.EventState():
            for entry in state.events:
                if not state.end:
                    yield entry
                yield from (retry for action in entry.actions for retry in action.retry)
        case model.OperationState():
            yield from (retry for action in state.actions for retry in action.retry)
        case _:
            pass


def _names(context: Context, scope: StateScope) -> Iterator[Problem]:
    within = "" if scope.node is context.root else f" in {scope.owner}"
    yield from context.repeated("state", scope.states, within)
    yield from context.repeated_ids("state", scope.states, within)


def _targets(context: Context, scope: StateScope) -> Iterator[Problem]:
    known = scope.names
    elsewhere = {state.name for other in context.scopes() for state in other.states}
    starts_at = scope.node.starts_at
    if starts_at not in known:
        message = f"{scope.owner}: startsAt names {starts_at!r}, which is not a state here"
        position = scope.node.where.value("startsAt")
        yield context.error("transition-target", message, position, meant_or_known(starts_at, known))
    for state in scope.states:
        for key, target, position in targets(state):
            if target in known:
                continue
            message = f"state {state.name!r}: {key} names {target!r}, which is not a state here"
            hint = meant_or_known(target, known)
            if target in elsewhere:
                message = f"state {state.name!r}: {key} names {target!r}, which does not stand beside it"
                hint = f"the states of a branch lead to states of that branch, and no others do; this is {scope.owner}"
            yield context.error("transition-target", message, position, hint)


def _ends(context: Context, scope: StateScope) -> Iterator[Problem]:
    prefix = "" if scope.node is context.root else f" of {scope.owner}"
    ends = False
    for state in scope.states:
        owner = f"state {state.name!r}{prefix}"
        if isinstance(state, model.SwitchState):
            yield from _of_switch(context, state, owner)
            continue
        if state.end:
            ends = True
            yield from _never_taken(context, state, owner)
            continue
        ways = [one.next_state for one in state.events] if isinstance(state, model.EventState) else [state.next_state]
        ends = ends or None in ways
        if None in ways and state.next_state is None:
            yield _nowhere(context, state, owner)
    if not ends:
        message = f"{scope.owner} has no end: no path through its states comes to one"
        yield context.error("transition-or-end", message, scope.node.where.key("states"), "write 'end: true' in one")


def _never_taken(context: Context, end: model.State, owner: str) -> Iterator[Problem]:
    # The draft's schemas demand a nextState of every state and of every event, also of ends.
    for one in (end, *(end.events if isinstance(end, model.EventState) else ())):
        if one.next_state is not None:
            message = f"{owner} is an end: the path ends here, and its nextState is never taken"
            hint = "remove nextState, or 'end: true' if the path goes on"
            yield context.warning("transition-or-end", message, one.where.key("nextState"), hint)


def _nowhere(context: Context, state: model.State, owner: str) -> Problem:
    message = f"{owner} has neither a nextState nor 'end: true': the path ends here"
    return context.warning("transition-or-end", message, state.where.position, "write 'end: true'")


def _of_switch(context: Context, state: model.SwitchState, owner: str) -> Iterator[Problem]:
    for key, is_given in (("nextState", state.next_state is not None), ("end", state.end)):
        if is_given:
            message = f"{owner}: its choices say where it leads, and this {key} is never taken"
            hint = "remove it, and say in default where the switch leads if no choice matches"
            yield context.warning("transition-or-end", message, state.where.key(key), hint)


def _unreachable(context: Context, scope: StateScope) -> Iterator[Problem]:
    known = scope.names
    entered: set[str] = set()
    waiting = [scope.node.starts_at] if scope.node.starts_at in known else []
    while waiting:
        state = known[waiting.pop()]
        if state.name not in entered:
            entered.add(state.name)
            waiting += [target for _, target, _ in targets(state) if target in known]
    for state in scope.states if entered else ():
        if state.name not in entered:
            yield context.warning(
                "unreachable-state", f"state {state.name!r} is never entered", state.where.value("name"), NEVER_ENTERED
            )
