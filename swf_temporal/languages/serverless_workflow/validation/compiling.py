"""What does each expression of a workflow compile to?"""

from collections.abc import Iterator
from typing import TypeAlias

from swf_temporal.expressions.evaluation import BadExpression, Compiled, Expressions, Target
from swf_temporal.languages.serverless_workflow.model.states import ForeachState
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.validation.fields import Field, Sort, fields
from swf_temporal.languages.serverless_workflow.validation.walk import Nodes

Result: TypeAlias = Compiled | Target | BadExpression


def compiled_fields(workflow: Workflow, nodes: Nodes) -> Iterator[tuple[Field, Result]]:
    """Yield every text that holds an expression, with what it compiles to, or with why it does not.

    Nothing is yielded for a workflow in a language that is not spoken here: another rule says so.
    """
    try:
        expressions = expressions_of(workflow)
    except BadExpression:
        return
    for field in fields(nodes):
        if field.sort is not Sort.TEMPLATE or "${" in field.text:
            yield field, _compiled(field, expressions)


def expressions_of(workflow: Workflow) -> Expressions:
    """Return what compiles the expressions of *workflow*. Raises BadExpression for a language that is not spoken."""
    functions = {
        function.name: function.operation
        for function in workflow.functions
        if function.type == "expression" and isinstance(function.operation, str)
    }
    variables = [state.iteration_param for state in workflow.states if isinstance(state, ForeachState)]
    return Expressions(variables=variables, functions=functions, language=workflow.expression_lang)


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
