"""A function says what it calls (section "Function Definition").

Official examples give only metadata for functions of types that the specification does not define.
"""

from collections.abc import Iterator

from swf_temporal.errors import Problem
from swf_temporal.languages.serverless_workflow.model.definitions import Function
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.text.suggestions import nearest

_DEFINED = ("rest", "openapi", "http", "asyncapi", "rpc", "graphql", "odata", "expression")
"""The types of functions that cannot do without an operation."""


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each function without an operation, and each type that looks like a slip."""
    for function, owner in context.nodes.each(Function):
        if function.type not in _DEFINED:
            meant = nearest(function.type, (*_DEFINED, "custom"), 0.7)
            if meant not in (None, function.type):
                message = f"{owner}: {function.type!r} is taken as a type of its own"
                hint = f"did you mean {meant!r}?"
                yield context.warning("function-type", message, function.where.value("type"), hint)
            continue
        if function.operation is None:
            if function.metadata:
                message = f"{owner} has no operation, and cannot be called unless its metadata says how"
                yield context.warning("function-operation", message, function.where.position)
            else:
                message = f"{owner} of the type {function.type} has no operation"
                yield context.error("function-operation", message, function.where.position)
        elif function.type == "expression" and not isinstance(function.operation, str):
            message = f"{owner} is an expression: its operation must be a text"
            yield context.error("function-operation", message, function.where.value("operation"))
