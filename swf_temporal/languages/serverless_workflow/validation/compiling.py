"""The compiled expressions of a workflow."""

from collections.abc import Iterator
from typing import TypeAlias

from swf_temporal.expressions.evaluation import BadExpression, Compiled, Expressions, Target
from swf_temporal.languages.serverless_workflow.model.by_kind import NodesByKind
from swf_temporal.languages.serverless_workflow.validation.fields import Field, Sort, fields

Result: TypeAlias = Compiled | Target | BadExpression


def compiled_fields(nodes: NodesByKind, expressions: Expressions) -> Iterator[tuple[Field, Result]]:
    """Yield every text that holds an expression, with what it compiles to, or with why it does not."""
    for field in fields(nodes):
        if field.sort is not Sort.TEMPLATE or expressions.opening in field.text:
            yield field, _compiled(field, expressions)


def _compiled(field: Field, expressions: Expressions) -> Result:
    try:
        match field.sort:
            case Sort.EXPRESSION:
                return expressions.expression(field.text)
            case Sort.TEMPLATE:
                return expressions.template(field.text)
            case Sort.TARGET:
                return expressions.target(field.text)
    except BadExpression as bad:
        return bad
