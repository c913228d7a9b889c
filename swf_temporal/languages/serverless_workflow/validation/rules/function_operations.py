"""Rule: functions have an operation (section "Function Definition").

Official examples give only metadata for functions of types that the specification does not define.
"""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.base.function_types import TYPES, operation_type
from swf_temporal.languages.serverless_workflow.model.workflow import Function
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.text.suggestions import nearest


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each function without an operation, and each type that looks misspelt."""
    for function, owner in context.nodes.each(Function):
        kind = operation_type(function.type)
        if kind is None:
            meant = nearest(function.type, TYPES, 0.7)
            if meant is not None:
                message = f"{owner}: {function.type!r} is treated as a custom type"
                hint = f"did you mean {meant!r}?"
                yield context.warning("function-type", message, function.where.value("type"), hint)
        elif function.operation is None and kind.needs_operation:
            if function.metadata:
                message = f"{owner} has no operation, and cannot be called unless its metadata says how"
                hint = f"write what it calls, as in 'operation: {kind.example}'"
                yield context.warning("function-operation", message, function.where.position, hint)
            else:
                message = f"{owner} of the type {function.type} has no operation"
                hint = f"write what it calls, as in 'operation: {kind.example}'"
                if "type" not in function.where.keys:
                    hint += ", or 'type: custom' if it is a Python function of the worker"
                yield context.error("function-operation", message, function.where.position, hint)
        elif function.type == "expression" and not isinstance(function.operation, str):
            message = f"{owner} is an expression: its operation must be a text"
            hint = f"write jq, as in 'operation: {kind.example}'"
            yield context.error("function-operation", message, function.where.value("operation"), hint)
