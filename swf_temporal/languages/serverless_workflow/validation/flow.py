"""The control flow between states."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from swf_temporal.base.errors import Position
from swf_temporal.languages.serverless_workflow.model.actions import Action, ResultRetry
from swf_temporal.languages.serverless_workflow.model.states import (
    EventState,
    OperationState,
    State,
    SwitchState,
    WithTransition,
    expectations,
)


def ways(state: State) -> Iterator[WithTransition]:
    """Yield the nodes by which *state* can be left: itself, or its conditions or entries; and its error handlers."""
    if isinstance(state, SwitchState):
        yield from state.data_conditions
        yield from state.event_conditions
        if state.default_condition is not None:
            yield state.default_condition
    elif expected := expectations(state):
        yield from expected
    else:
        yield state
    yield from state.on_errors


def diversions(state: State) -> Iterator[ResultRetry]:
    """Yield the retries of actions of *state* that lead to another state once they are used up."""
    groups: tuple[Iterable[Action], ...] = ()
    if isinstance(state, OperationState):
        groups = (state.actions,)
    elif isinstance(state, EventState):
        groups = tuple(entry.actions for entry in state.on_events)
    for action in chain.from_iterable(groups):
        yield from (retry for retry in action.result_retries if retry.next_state is not None)


def targets(state: State) -> Iterator[tuple[str, Position]]:
    """Yield the names of the states that *state* leads to, with their positions."""
    for way in ways(state):
        if way.transition is not None:
            yield way.transition.next_state, way.transition.where.value("nextState")


def reachable(states: Mapping[str, State], start: str) -> set[str]:
    """Return the names of the states that are reachable from *start*, including itself."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in states and name not in found:
            found.add(name)
            waiting += [target for target, _ in targets(states[name])]
    return found
