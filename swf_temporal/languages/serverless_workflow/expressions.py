"""Compilation of the expressions of a workflow, for rules and for runs."""

from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel

from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.languages.serverless_workflow.model.states import ForeachState, all_states
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow

VARIABLES: Final = frozenset({"WORKFLOW", "CONST", "SECRETS", "args"})
"""The variables that every expression may use."""

EARLY: Final = "early"
"""The expression language of the drafts before 0.5."""

PATHS: Final = "braced paths"
"""The expression language of 0.5."""


def expressions_of(workflow: Workflow) -> Expressions:
    """Return the compiler of expressions of *workflow*. Raises BadExpression for an unsupported language."""
    if workflow.expression_lang == EARLY:
        from swf_temporal.expressions.early import EarlyExpressions  # noqa: PLC0415 - few definitions are that old

        return EarlyExpressions(workflow.language_version.path_synonyms)
    if workflow.expression_lang == PATHS:
        from swf_temporal.expressions.braced import BracedPaths  # noqa: PLC0415 - likewise

        return BracedPaths()
    return Expressions(
        variables=VARIABLES.union(
            state.iteration_param for state in all_states(workflow.states) if isinstance(state, ForeachState)
        ),
        functions={
            function.name: function.operation
            for function in workflow.functions
            if function.type == "expression" and isinstance(function.operation, str)
        },
        language=workflow.expression_lang,
        texts=lambda: _texts_in(workflow),
    )


def _texts_in(value: Any) -> Iterator[str]:
    """Yield the texts with expressions in what *value*, a part of a workflow, holds."""
    parts = [value]
    while parts:
        part = parts.pop()
        if isinstance(part, str):
            if Expressions.opening in part:
                yield part
        elif isinstance(part, BaseModel):
            parts += reversed(vars(part).values())
        elif isinstance(part, dict):
            parts += reversed(part.values())
        elif isinstance(part, list | tuple):
            parts += reversed(part)
