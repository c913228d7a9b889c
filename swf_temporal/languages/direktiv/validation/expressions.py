"""Queries that do not compile. A run meets them as an error that it can catch, so that they are only warned of."""

from collections.abc import Iterator, Sequence
from typing import Any

from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.js import EngineMissing
from swf_temporal.expressions.structured import problems_in
from swf_temporal.languages.direktiv.model.node import Node
from swf_temporal.languages.direktiv.model.workflow import Workflow
from swf_temporal.text.located import Array, Object
from swf_temporal.text.origin import Source


def check(workflow: Workflow, source: Source) -> Iterator[Problem]:
    """Yield the queries in *workflow* that do not compile, and scripts that nothing here could run."""
    for state in workflow.states:
        for node, name, key in structured_fields(state):
            for path, error in problems_in(getattr(node, name)):
                where = _position(node, key, path)
                yield _problem(f"state {state.id!r}: {key}", error, where, source)


def structured_fields(node: Node) -> Iterator[tuple[Node, str, str]]:
    """Yield the fields of *node*, and of what stands in it, that may hold queries: where, by name, and by key."""
    for name, info in type(node).model_fields.items():
        value = getattr(node, name)
        if info.annotation is Any and name != "schema_":
            yield node, name, info.alias or name
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, Node):
                yield from structured_fields(one)


def _problem(who: str, error: BadExpression, where: Position, source: Source) -> Problem:
    if isinstance(error, EngineMissing):
        return source.problem("expression-syntax", f"{who}: {error.message}", where)
    message = f"{who}: {error.message}; the state fails with direktiv.jq.badCommand"
    return source.problem("expression-syntax", message, where, severity=Severity.WARNING)


def _position(node: Node, key: str, path: Sequence[str | int]) -> Position:
    """Return where the element at *path* inside the value of *key* stands."""
    position = node.where.value(key)
    value: Any = getattr(node, next(n for n, info in type(node).model_fields.items() if (info.alias or n) == key))
    for step in path:
        if isinstance(value, Object) and isinstance(step, str):
            position = value.where.value(step)
        elif isinstance(value, Array) and isinstance(step, int):
            position = value.positions[step]
        value = value[step]
    return position
