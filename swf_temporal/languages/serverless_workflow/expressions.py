"""Compiles the expressions of a workflow: for the rules, and once more only for runs that read them otherwise."""

from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.languages.serverless_workflow.model.states import ForeachState
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow


def expressions_of(workflow: Workflow, *, guesses: bool = False) -> Expressions:
    """Return what compiles the expressions of *workflow*; with *guesses* as runs of the first semantics read them.

    Raises BadExpression for a language that is not supported.
    """
    return Expressions(
        variables={state.iteration_param for state in workflow.states if isinstance(state, ForeachState)},
        functions={
            function.name: function.operation
            for function in workflow.functions
            if function.type == "expression" and isinstance(function.operation, str)
        },
        language=workflow.expression_lang,
        guesses=guesses,
    )
