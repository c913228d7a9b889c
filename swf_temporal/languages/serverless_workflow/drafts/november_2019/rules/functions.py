"""Functions are what they are wherever they are called (section "Function Definition")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem, Severity
from swf_temporal.base.function_types import operation_type
from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.drafts.november_2019.lowering import called, functions_in
from swf_temporal.languages.serverless_workflow.drafts.november_2019.rules.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for a function that is another one elsewhere, or whose resource has not the form of its type."""
    first_uses: dict[tuple[str, str], model.Function] = {}
    for function, owner in context.each(model.Function):
        for key, value in (("type", function.type), ("resource", function.resource)):
            if value is None:
                continue
            first = first_uses.setdefault((function.name, key), function)
            if value != getattr(first, key):
                line = first.where.position.line
                message = f"{owner}: the function {function.name!r} has another {key} than in line {line}"
                hint = "a name stands for one function: give this one another"
                yield context.error("duplicate-name", message, function.where.value(key), hint)
    for function in functions_in(context.root.states):
        yield from _form(context, function)


def _form(context: Context, function: model.Function) -> Iterator[Problem]:
    made = called(function)
    kind = operation_type(made.type)
    if kind is None:
        return
    if made.operation is None:
        if kind.needs_operation:
            message = f"the function {function.name!r} of the type {made.type} has no resource to call"
            hint = f"write what it calls, as in 'resource: {kind.example}'"
            yield context.error("function-operation", message, function.where.position, hint)
        return
    for found in kind.problems(made):
        message = f"the resource of the function {function.name!r}: {found.message}"
        tell = context.error if found.severity is Severity.ERROR else context.warning
        yield tell(found.code, message, function.where.value("resource"), found.hint)
