"""Rule: required lists are not empty (section "State Definition")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import (
    Branch,
    EventState,
    ForeachState,
    OnError,
    OnEvents,
    OperationState,
    ParallelState,
)
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.reading.building import hint_for_missing
from swf_temporal.languages.serverless_workflow.reading.normalizing import parts
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.text.suggestions import nearest

_HOLDING: tuple[tuple[type[Node], str, str], ...] = (
    (Workflow, "states", "states"),
    (OperationState, "actions", "actions"),
    (ForeachState, "actions", "actions"),
    (ParallelState, "branches", "branches"),
    (EventState, "onEvents", "on_events"),
    (OnEvents, "eventRefs", "event_refs"),
    (OnError, "errorRefs", "error_refs"),
)
_MAY_BE_EMPTY = {(OperationState, "actions"), (Branch, "actions")}
"""An operation without actions is a way to filter data, and official examples use it."""
_NOTHING_TO_REPEAT = "a state that does nothing is 'type: operation' with 'actions: []'"


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each required list that is missing, or is empty and must not be."""
    for kind, key, attribute in _HOLDING:
        for node, owner in context.nodes.each(kind):
            if getattr(node, attribute):
                continue
            if key not in node.where.keys:
                unknown = node.where.keys.keys() - parts(type(node))
                near = nearest(key, unknown)
                hint = _write(key, kind) if near is None else f"is {near!r} meant as {key!r}?"
                yield context.error("missing", f"{owner} has no {key}", node.where.position, hint)
            elif (kind, key) not in _MAY_BE_EMPTY:
                yield context.error("empty-list", f"{owner}: {key} is empty", node.where.value(key), _write(key, kind))


def _write(key: str, kind: type[Node]) -> str:
    hint = hint_for_missing(key) or f"write at least one under {key}"
    return f"{hint}; {_NOTHING_TO_REPEAT}" if kind is ForeachState else hint
