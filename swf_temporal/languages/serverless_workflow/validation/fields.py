"""The fields of a definition that hold expressions, and their sorts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import Any

from swf_temporal.base.errors import Position
from swf_temporal.base.function_types import CONFIG_KEY
from swf_temporal.languages.metadata import CONCURRENCY, SEARCH_ATTRIBUTES
from swf_temporal.languages.serverless_workflow.model import actions, definitions, states, workflow
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import NodesByKind
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
    definitions.Auth: {"properties": Sort.TEMPLATE},
    definitions.Correlation: {"contextAttributeValue": Sort.TEMPLATE},
    definitions.Retry: dict.fromkeys(
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
    for function, owner in nodes.each(definitions.Function):
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
