"""Rule: a result that is polled in a loop of states replaces the previous one (section "Data Merging").

Arrays are concatenated: a condition that reads an element of an array that each round merges sees that of the first
round.
"""

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from swf_temporal.base.errors import Problem
from swf_temporal.expressions.targets import elements, makes
from swf_temporal.languages.serverless_workflow.model.actions import Action, ActionDataFilter, EventDataFilter
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import DataCondition, InjectState, State
from swf_temporal.languages.serverless_workflow.model.workflow import DataFlowKind
from swf_temporal.languages.serverless_workflow.validation.context import Context, nodes_within
from swf_temporal.languages.serverless_workflow.validation.flow import reachable, targets

_Path: TypeAlias = tuple[str, ...]

_PLACE: Final = re.compile(r"(?:\$\{)?\s*\$?((?:\.[A-Za-z_]\w*)+)\s*\}?", re.ASCII)


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each place into which a loop merges arrays whose elements its conditions read."""
    if context.workflow.language_version.data_flow is not DataFlowKind.MERGING:
        return
    read = [(state, path) for state in context.states.values() for path in _read_by(state)]
    if not read:
        return
    after: dict[str, set[str]] = {}
    for state in context.states.values():
        for node, key, place in _merged_by(state):
            for reader, path in read:
                if path[: len(place)] == place and _is_kept(context, state, reader, place, after):
                    yield _problem(context, state, node, key, place, reader, path)
                    break


def _read_by(state: State) -> Iterator[_Path]:
    """Yield the paths of the arrays whose elements conditions of *state* read."""
    for node in nodes_within(state):
        if isinstance(node, Action | DataCondition) and isinstance(node.condition, str):
            yield from elements(node.condition)


def _merged_by(state: State) -> Iterator[tuple[Node, str, _Path]]:
    """Yield the paths in the data into which *state* merges results and events, each with the node and key."""
    for node in nodes_within(state):
        match node:
            case ActionDataFilter(use_results=True):
                key, selected = "results", node.results
            case EventDataFilter(use_data=True):
                key, selected = "data", node.data
            case _:
                continue
        if node.to_state_data is not None:
            place = _PLACE.fullmatch(node.to_state_data.strip())
            if place is not None:
                yield node, "toStateData", tuple(place[1].removeprefix(".").split("."))
        elif isinstance(selected, str):
            for name in sorted(makes(selected, ()) or ()):
                yield node, key, (name,)


def _is_kept(context: Context, state: State, reader: State, place: _Path, after: dict[str, set[str]]) -> bool:
    """Return True if *state* and *reader* are in a loop in which nothing removes the value at *place*."""
    if reader.name not in _after(context, state, after) or state.name not in _after(context, reader, after):
        return False
    around = [
        context.states[name]
        for name in _after(context, state, after)
        if state.name in _after(context, context.states[name], after)
    ]
    return not any(_removes(one, place) for one in around)


def _after(context: Context, state: State, after: dict[str, set[str]]) -> set[str]:
    if state.name not in after:
        found: set[str] = set()
        for target, _ in targets(state):
            if target not in found:
                found |= reachable(context.states, target)
        after[state.name] = found
    return after[state.name]


def _removes(state: State, place: _Path) -> bool:
    """Return True if *state* may remove or overwrite the value at *place*, as a filter of its data may."""
    given = state.state_data_filter
    if given is not None and (given.input is not None or given.output is not None):
        return True
    if not isinstance(state, InjectState):
        return False
    value: object = state.data
    for name in place:
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return not isinstance(value, dict | list)


def _problem(context: Context, state: State, node: Node, key: str, place: _Path, reader: State, path: _Path) -> Problem:
    at, of = f".{'.'.join(place)}", f".{'.'.join(path)}"
    message = (
        f"state {state.name!r}: each round merges into {at}, where arrays are concatenated: the condition in state "
        f"{reader.name!r} that reads elements of {of} sees those of earlier rounds"
    )
    hint = "merge only the value that is read: select it in results, and give it a separate place in toStateData"
    if context.workflow.expression_lang == "jq":
        hint = f"drop them before: stateDataFilter: {{input: '${{ del({at}) }}'}} in state {state.name!r}; or {hint}"
    return context.warning("polled-array", message, node.where.value(key), hint)
