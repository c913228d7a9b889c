"""Rule: properties are those that the specification defines (section "Workflow Definition Structure").

At the top level an author may add properties (section "Additional Properties"): only those that look misspelt, or
belong into `timeouts`, are reported there. The timeouts that a state may have depend on its type (section "States
Timeout Definition").
"""

from collections.abc import Iterator, Mapping
from itertools import islice

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import (
    Branch,
    EventState,
    StateBase,
    StateTimeouts,
    SwitchState,
)
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow, WorkflowExecTimeout, WorkflowTimeouts
from swf_temporal.languages.serverless_workflow.reading.normalizing import every_part, parts
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.languages.serverless_workflow.validation.flow import diversions, targets
from swf_temporal.text.suggestions import known_ones, meant_or_known, nearest

_OURS = {"externals", "source", "stateExecTimeout.single"}
"""Fields that are not for authors."""
_MAX_COMPARED = 1000
"""How many unknown properties of a node are compared with known ones: thousands are generated, and not misspelt."""
_ACTIONS = frozenset({"stateExecTimeout", "actionExecTimeout"})
_TIMES: Mapping[str, frozenset[str]] = {
    "event": _ACTIONS | {"eventTimeout"},
    "callback": _ACTIONS | {"eventTimeout"},
    "operation": _ACTIONS,
    "foreach": _ACTIONS,
    "parallel": _ACTIONS | {"branchExecTimeout"},
    "switch": frozenset({"stateExecTimeout", "eventTimeout"}),
}
"""The timeouts that have an effect, by the type of the state; other types have only the timeout of the state itself."""


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each property without effect."""
    for node, owner in context.nodes.all():
        known, where = every_part(type(node)).keys(), node.where
        is_open = isinstance(node, Workflow)
        for key in islice((key for key in where.keys if key not in known), _MAX_COMPARED):
            if is_open and key in parts(WorkflowTimeouts):
                message = f"{owner}: {key!r} is a property of 'timeouts', and limits nothing here"
                yield context.warning("unknown-property", message, where.key(key), f"write 'timeouts: {{{key}: ...}}'")
                continue
            meant = nearest(key, parts(type(node)).keys() - _OURS, 0.8 if is_open else 0.7)
            if meant is not None or not is_open:
                message = f"{owner}: {key!r} is not a property {_of(node)}"
                hint = f"did you mean {meant!r}?" if meant else known_ones(parts(type(node)).keys() - _OURS)
                yield context.warning("unknown-property", message, where.key(key), hint)
    for state, owner in context.nodes.each(StateBase):
        yield from _idle_times(context, state.timeouts, owner, *_times_of(state))
    for branch, owner in context.nodes.each(Branch):
        known_times = frozenset({"actionExecTimeout", "branchExecTimeout"})
        yield from _idle_times(context, branch.timeouts, owner, known_times, "branch")
    start = context.states.get(context.workflow.start_state)
    if not isinstance(start, EventState) or not start.exclusive or _is_entered_again(context, start.name):
        return
    if "eventTimeout" in start.timeouts.where.keys:
        message = f"state {start.name!r}: eventTimeout has no effect: an event starts the workflow in this state"
        hint = "remove it; 'exclusive: false' applies it from the first event to the last"
        yield context.warning("unknown-property", message, start.timeouts.where.key("eventTimeout"), hint)


def _is_entered_again(context: Context, start: str) -> bool:
    """Return True if a transition, a compensation or a timeout leads to the state *start*."""
    entered = {timeout.run_before for timeout, _ in context.nodes.each(WorkflowExecTimeout)}
    for state in context.workflow.states:
        entered.add(state.compensated_by)
        entered.update(name for name, _ in targets(state))
        entered.update(retry.next_state for retry in diversions(state))
    return start in entered


def _times_of(state: StateBase) -> tuple[frozenset[str], str]:
    """Return the timeouts that have an effect in *state*, and the words for its type."""
    kind: str = getattr(state, "type", "")
    times = _TIMES.get(kind, frozenset({"stateExecTimeout"}))
    if isinstance(state, SwitchState) and not state.event_conditions:
        return times - {"eventTimeout"}, "switch without eventConditions"
    return times, f"state of the type {kind}" if kind else "state"


def _idle_times(
    context: Context, timeouts: StateTimeouts, owner: str, times: frozenset[str], what: str
) -> Iterator[Problem]:
    """Yield a warning for each of *timeouts* that is not in *times*: those of the type of state, or of branches."""
    for key in timeouts.where.keys:
        if key in parts(StateTimeouts).keys() - _OURS and key not in times:
            message = f"{owner}: {key!r} limits nothing in a {what}"
            hint = meant_or_known("", times, "remove it")
            yield context.warning("unknown-property", message, timeouts.where.key(key), hint)


def _of(node: Node) -> str:
    if isinstance(node, StateBase):
        return f"of a state of the type {node.type}" if hasattr(node, "type") else "of a state"
    return "that is known here"
