"""The control flow between states, and the fields that the data of a state can have, if that is certain.

Data from outside (the workflow's input, results of functions, payloads of events) may contain anything. But a state
whose output filter constructs an object passes on only the fields of that object, and the following states can only add
to them. If nothing is certain, None stands for any field.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import TypeAlias

from swf_temporal.base.errors import Position
from swf_temporal.expressions.targets import makes
from swf_temporal.languages.serverless_workflow.model.actions import (
    Action,
    ActionDataFilter,
    EventDataFilter,
    ResultRetry,
)
from swf_temporal.languages.serverless_workflow.model.states import (
    CallbackState,
    EventState,
    ForeachState,
    InjectState,
    OperationState,
    ParallelState,
    SleepState,
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


KnownFields: TypeAlias = frozenset[str] | None
"""The fields that data can have; None if it may have any."""


def known_at(states: Mapping[str, State], start: str, variables: Collection[str]) -> dict[str, KnownFields]:
    """Return, for each reachable state, the fields that its input can have."""
    known: dict[str, KnownFields] = {start: None}
    waiting = [start]
    while waiting:
        state = states.get(waiting.pop())
        if state is None:
            continue
        left = left_by(state, known[state.name], variables)
        for target, _ in targets(state):
            before = known.get(target, frozenset())
            # On an error, the state is left with the data it had so far, which has fewer fields: the union covers it.
            after = None if before is None or left is None else before | left
            if target not in known or after != before:
                known[target] = after
                waiting.append(target)
    return known


def left_by(state: State, data: KnownFields, variables: Collection[str]) -> KnownFields:
    inner = entered(state, data, variables)
    body = _union(inner, _added(state, variables))
    given = state.state_data_filter
    if given is None or given.output is None:
        return _union(body, data) if state.on_errors else body
    made = made_by(given.output, variables)
    return _union(_union(made, body), data) if state.on_errors else made


def entered(state: State, data: KnownFields, variables: Collection[str]) -> KnownFields:
    """Return the fields that the data can have within *state*, after its input filter."""
    given = state.state_data_filter
    return data if given is None or given.input is None else made_by(given.input, variables)


def made_by(filter_: object, variables: Collection[str]) -> KnownFields:
    return makes(filter_, variables) if isinstance(filter_, str) else None


def added_by(action: Action, variables: Collection[str]) -> KnownFields:
    given = action.action_data_filter or ActionDataFilter()
    if not given.use_results:
        return frozenset()
    return _target(given.to_state_data) or (made_by(given.results, variables) if given.results else None)


def _added(state: State, variables: Collection[str]) -> KnownFields:
    """Return the fields that a state's body can add to the data."""
    match state:
        case SleepState():
            return frozenset()
        case SwitchState():
            return _all([_of_event(one.event_data_filter, variables) for one in state.event_conditions])
        case InjectState():
            return frozenset(state.data) if isinstance(state.data, dict) else None
        case OperationState():
            return _all([added_by(action, variables) for action in state.actions])
        case ForeachState():
            if state.output_collection is not None:
                return _target(state.output_collection)
            return _all([added_by(action, variables) for action in state.actions])
        case ParallelState():
            return _all([added_by(action, variables) for branch in state.branches for action in branch.actions])
        case EventState():
            of_events = [_of_event(entry.event_data_filter, variables) for entry in state.on_events]
            return _all([*of_events, *(added_by(one, variables) for entry in state.on_events for one in entry.actions)])
        case CallbackState():
            return _all([added_by(state.action, variables), _of_event(state.event_data_filter, variables)])


def _of_event(given: EventDataFilter | None, variables: Collection[str]) -> KnownFields:
    given = given or EventDataFilter()
    if not given.use_data:
        return frozenset()
    return _target(given.to_state_data) or (made_by(given.data, variables) if given.data else None)


def _target(expression: str | None) -> KnownFields:
    """Return the field that a toStateData leads into, or None if that is not obvious."""
    text = (expression or "").strip().removeprefix("${").removesuffix("}").strip()
    name = text.removeprefix(".").partition(".")[0].partition("[")[0]
    return frozenset({name}) if text.startswith(".") and name.isidentifier() else None


def _all(parts: list[KnownFields]) -> KnownFields:
    result: KnownFields = frozenset()
    for part in parts:
        result = _union(result, part)
    return result


def _union(one: KnownFields, other: KnownFields) -> KnownFields:
    return None if one is None or other is None else one | other
