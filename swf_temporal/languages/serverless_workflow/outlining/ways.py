"""The ways out of a state."""

from collections.abc import Iterator
from typing import Any

from swf_temporal.drawing.outline import Way, WorkflowRef, in_a_line
from swf_temporal.languages.serverless_workflow.model.states import (
    DataCondition,
    DefaultCondition,
    EventCondition,
    ExpectedEvent,
    OnError,
    State,
    StateBase,
    WithTransition,
)
from swf_temporal.languages.serverless_workflow.outlining.work import needed
from swf_temporal.languages.serverless_workflow.outlining.written import written
from swf_temporal.languages.serverless_workflow.validation.flow import diversions, ways

_JOINED = {"all": " and ", "any": " or ", "none": " nor "}


def ways_of(state: State, path: str) -> Iterator[Way]:
    """Yield the ways out of *state*, to states whose paths begin with *path*."""
    if state.compensated_by is not None:
        yield Way("compensation", f"{path}{state.compensated_by}", "undone by")
    for leaving in ways(state):
        way = _way(leaving, path)
        if way is not None:
            yield way
    for retry in diversions(state):
        yield Way("retry", f"{path}{retry.next_state}", f"if {retry.match} comes again and again")


def _way(leaving: WithTransition, path: str) -> Way | None:
    """Return where *leaving* leads, or None if that is nowhere, as of a state that undoes another it may be."""
    transition, end = leaving.transition, leaving.end
    there = transition or end
    if there is None:
        return None
    onwards = None if end is None else end.continue_as
    only_if = None if transition is None or transition.condition is None else in_a_line(transition.condition)
    on, when = _occasion(leaving)
    return Way(
        on=on,
        to=None if transition is None else f"{path}{transition.next_state}",
        when=", ".join([*([when] if when else []), *([f"only if {only_if}"] if only_if is not None else [])]),
        name=getattr(leaving, "name", None) if not isinstance(leaving, StateBase) else None,
        awaits=(leaving.event_ref,) if isinstance(leaving, EventCondition) else (),
        produces=tuple(one.event_ref for one in there.produce_events),
        compensates=there.compensate,
        terminates=end is not None and end.terminate,
        continues_as=None if onwards is None else WorkflowRef(onwards.workflow_id, onwards.version),
        details={} if isinstance(leaving, StateBase) else written(leaving, "name", "transition", "end", "need"),
    )


def _occasion(leaving: WithTransition) -> tuple[Any, str]:
    """Return on what *leaving* is taken, and that in words."""
    match leaving:
        case OnError():
            named = f"on error {', '.join(leaving.error_refs)}"
            condition = leaving.condition
            return "error", named if condition is None else f"on an error, if {in_a_line(condition)}"
        case DataCondition():
            return "condition", f"if {_condition(leaving.condition)}"
        case ExpectedEvent():
            return "event", f"on {needed(leaving.need)}"
        case EventCondition():
            return "event", f"on {leaving.event_ref}"
        case DefaultCondition():
            return "default", "otherwise"
    return "completion", ""


def _condition(condition: Any) -> str:
    """Return a condition: comparisons, which the drafts have, as they are read aloud, anything else as it is."""
    if not isinstance(condition, dict):
        return in_a_line(condition)
    for join, word in _JOINED.items():
        if isinstance(condition.get(join), list):
            words = word.join(map(_comparison, condition[join]))
            return f"not {words}" if join == "none" else words
    return _comparison(condition)


def _comparison(facts: dict[str, Any]) -> str:
    value = [] if facts.get("value") is None else [in_a_line(facts["value"])]
    return " ".join([facts["path"], facts["operator"], *value])
