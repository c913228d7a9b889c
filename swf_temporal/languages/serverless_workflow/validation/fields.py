"""The fields of a definition that hold expressions, their sorts, and whether expressions there may use secrets."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import Any

from swf_temporal.base.errors import Position
from swf_temporal.base.function_types import CONFIG_KEY
from swf_temporal.languages.metadata import CONCURRENCY, SEARCH_ATTRIBUTES
from swf_temporal.languages.serverless_workflow.model import actions, states, workflow
from swf_temporal.languages.serverless_workflow.model.actions import FunctionRef
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import NodesByKind
from swf_temporal.languages.serverless_workflow.model.workflow import Auth, Function
from swf_temporal.runtime.external_activities import PREFIX
from swf_temporal.text.origin import Source


class Sort(Enum):
    EXPRESSION = auto()
    """An expression by definition, with or without `${ }`."""
    TEMPLATE = auto()
    """JSON in which texts may contain `${ … }`."""
    TARGET = auto()
    """A path in the data at which something is stored."""


@dataclass(frozen=True, slots=True)
class Field:
    """One text that holds an expression or may hold one."""

    owner: str
    node: Node
    key: str
    text: str
    sort: Sort
    position: Position

    def at(self, offset: int | None, source: Source) -> Position:
        """Return the position of the character at *offset* of the text, if the text is in one line and unescaped."""
        line = source.problem("", "", self.position).line
        for skipped in (0, 1):
            start = self.position.column - 1 + skipped
            if offset is not None and line[start : start + len(self.text)] == self.text:
                return Position(self.position.line, self.position.column + skipped + offset)
        return self.position


_FIELDS: Mapping[type[Node], Mapping[str, Sort]] = {
    actions.Action: {"condition": Sort.EXPRESSION, "@timeout": Sort.TEMPLATE},
    actions.ActionDataFilter: {
        "fromStateData": Sort.EXPRESSION,
        "results": Sort.EXPRESSION,
        "toStateData": Sort.TARGET,
    },
    actions.ActionSleep: {"before": Sort.TEMPLATE, "after": Sort.TEMPLATE},
    actions.EventDataFilter: {"data": Sort.EXPRESSION, "toStateData": Sort.TARGET},
    actions.EventRef: {
        "data": Sort.EXPRESSION,
        "contextAttributes": Sort.TEMPLATE,
        "consumeEventTimeout": Sort.TEMPLATE,
    },
    actions.FunctionRef: {"arguments": Sort.TEMPLATE, "selectionSet": Sort.TEMPLATE},
    workflow.Auth: {"properties": Sort.TEMPLATE},
    workflow.Correlation: {"contextAttributeValue": Sort.TEMPLATE},
    workflow.Retry: dict.fromkeys(
        ("delay", "maxAttempts", "maxDelay", "increment", "multiplier", "jitter"), Sort.TEMPLATE
    ),
    states.ContinueAs: {"data": Sort.EXPRESSION, "workflowExecTimeout": Sort.TEMPLATE},
    states.DataCondition: {"condition": Sort.EXPRESSION},
    states.ForeachState: {
        "inputCollection": Sort.EXPRESSION,
        "outputCollection": Sort.TARGET,
        "batchSize": Sort.TEMPLATE,
    },
    states.InjectState: {"data": Sort.TEMPLATE},
    states.ParallelState: {"numCompleted": Sort.TEMPLATE},
    states.ProduceEvent: {"data": Sort.EXPRESSION, "contextAttributes": Sort.TEMPLATE},
    states.Repeat: {"expression": Sort.EXPRESSION, "max": Sort.TEMPLATE},
    states.SleepState: {"duration": Sort.TEMPLATE},
    states.StateDataFilter: {"input": Sort.EXPRESSION, "output": Sort.EXPRESSION},
    states.StateTimeouts: dict.fromkeys(
        ("stateExecTimeout", "stateExecTimeout.single", "actionExecTimeout", "branchExecTimeout", "eventTimeout"),
        Sort.TEMPLATE,
    ),
    workflow.Workflow: {"name": Sort.TEMPLATE, "version": Sort.TEMPLATE},
    workflow.WorkflowExecTimeout: {"duration": Sort.TEMPLATE},
    workflow.WorkflowTimeouts: dict.fromkeys(
        ("stateExecTimeout", "stateExecTimeout.single", "actionExecTimeout", "branchExecTimeout", "eventTimeout"),
        Sort.TEMPLATE,
    ),
}


def fields(nodes: NodesByKind) -> Iterator[Field]:
    """Yield every text that contains an expression or may contain one.

    A field that is an expression by definition may be an object or a list, whose texts are then templates.
    """
    for kind, sorts in _FIELDS.items():
        attributes = _attributes(kind)
        for node, owner in nodes.each(kind):
            for key, sort in sorts.items():
                value = getattr(node, attributes[key])
                if isinstance(value, str):
                    yield Field(owner, node, key, value, sort, node.where.value(key))
                elif isinstance(value, dict | list):
                    for path, text in _texts(value, ()):
                        yield Field(owner, node, key, text, Sort.TEMPLATE, node.where.at(key, *path))
    yield from _in_metadata(nodes)
    for function, owner in nodes.each(workflow.Function):
        chosen = function.metadata.get(CONFIG_KEY)
        if isinstance(chosen, str):
            where = function.where.at("metadata", CONFIG_KEY)
            yield Field(owner, function, f"metadata.{CONFIG_KEY}", chosen, Sort.TEMPLATE, where)
        if isinstance(function.operation, str):
            sort = Sort.EXPRESSION if function.type == "expression" else Sort.TEMPLATE
            yield Field(owner, function, "operation", function.operation, sort, function.where.value("operation"))


def _in_metadata(nodes: NodesByKind) -> Iterator[Field]:
    for whole, owner in nodes.each(workflow.Workflow):
        asked = whole.metadata.get(CONCURRENCY)
        text = asked.get("key") if isinstance(asked, dict) else None
        if isinstance(text, str):
            where = whole.where.at("metadata", CONCURRENCY, "key")
            yield Field(owner, whole, f"metadata.{CONCURRENCY}.key", text, Sort.TEMPLATE, where)
        named = whole.metadata.get(SEARCH_ATTRIBUTES)
        for path, text in _texts(named, ()):
            if path[1:] != ("type",):
                key = ".".join(map(str, ("metadata", SEARCH_ATTRIBUTES, *path)))
                where = whole.where.at("metadata", SEARCH_ATTRIBUTES, *path)
                yield Field(owner, whole, key, text, Sort.TEMPLATE, where)


@cache
def _attributes(kind: type[Node]) -> Mapping[str, str]:
    """Return the names of the fields of *kind* by key."""
    return {info.alias or name: name for name, info in kind.model_fields.items()}


def _texts(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))


def refusal_of_secrets(field: Field, functions: Iterable[Function]) -> tuple[str, str] | None:
    """Return why $SECRETS cannot be used in *field*, and what to do instead; None if it can."""
    # An expression function, and metadata, are evaluated in the workflow, where the result would be stored.
    in_workflow = isinstance(field.node, Function) and (field.node.type == "expression" or field.key != "operation")
    in_selection = isinstance(field.node, FunctionRef) and field.key == "selectionSet"
    if in_workflow or in_selection or not isinstance(field.node, FunctionRef | Function | Auth):
        hint = "elsewhere they would become data, which is stored and shown: pass the secret to a function"
        return "which only the arguments of a function may", hint
    if not isinstance(field.node, FunctionRef):
        return None
    name = field.node.ref_name
    called = [function for function in functions if function.name == name]
    if any(function.type == "expression" for function in called):
        return "which would become data", f"function {name!r} is an expression: its result is stored and shown"
    if any(_is_activity(function) for function in called):
        # The workflow itself schedules the activity, so secrets would be filled in there.
        hint = f"function {name!r} is an activity of Temporal: its worker must know them itself"
        return "which would store them in the history", hint
    return None


def declaration_of_secrets(names: Iterable[str]) -> str:
    """Return the declaration of the secrets *names*, for a hint."""
    return f"secrets: [{', '.join(names)}]"


def _is_activity(function: Function) -> bool:
    return function.type == "custom" and str(function.operation).strip().startswith(PREFIX)
