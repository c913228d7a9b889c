"""Expressions compile (section "Workflow Expressions")."""

from collections.abc import Iterator

from swf_temporal.errors import Problem
from swf_temporal.expressions.evaluation import BadExpression, Constant
from swf_temporal.model.definitions import Function
from swf_temporal.validation.context import Context
from swf_temporal.validation.fields import Field, is_plain

_IN_FUNCTION = "in the expression function"
"""How a complaint starts that is about the text of a function, where it is told already."""

_NEVER_CONSTANT = {"condition", "inputCollection", "operation"}
_SELECTING = {"operation", "input", "output", "results", "fromStateData", "data"}
"""Filters, and what expression functions evaluate."""


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each expression that is not one, or a text that only looks like one."""
    for field, compiled in context.expressions:
        if isinstance(compiled, BadExpression):
            if compiled.message.startswith(_IN_FUNCTION) and not isinstance(field.node, Function):
                continue
            message = f"{field.owner}: the expression in {field.key} does not compile: {compiled.message}"
            position = field.at(compiled.offset, context.workflow.source)
            yield context.error("expression-syntax", message, position)
        elif isinstance(compiled, Constant) and compiled.doubt is not None:
            yield _doubtful(context, field, compiled.doubt)
        elif field.key in _SELECTING and is_plain(field, compiled):
            # A text is what it yields then, whatever the data.
            message = f"{field.owner}: {field.key} is a plain text, and yields nothing but that"
            hint = f"did you mean '${{ {field.text} }}'?" if field.text.strip() else None
            yield context.warning("expression-syntax", message, field.position, hint)


def _doubtful(context: Context, field: Field, doubt: BadExpression) -> Problem:
    """Return the problem of a bare text that looks like an expression but does not compile.

    Where only an expression makes sense it is an error. Elsewhere the text may be meant as it is.
    """
    position = field.at(doubt.offset, context.workflow.source)
    if field.key in _NEVER_CONSTANT:
        message = f"{field.owner}: the expression in {field.key} does not compile: {doubt.message}"
        return context.error("expression-syntax", message, position)
    message = f"{field.owner}: {field.key} looks like an expression, but is taken as a text: {doubt.message}"
    return context.warning("expression-syntax", message, position)
