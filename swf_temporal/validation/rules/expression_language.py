"""Expressions are written in jq, the language of the specification (section "Workflow Expressions")."""

from collections.abc import Iterator

from swf_temporal.errors import Problem
from swf_temporal.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem if the workflow says that its expressions are in a language not spoken here."""
    workflow = context.workflow
    if workflow.expression_lang != "jq":
        message = f"expressionLang is {workflow.expression_lang!r}, but expressions are evaluated as jq"
        yield context.error("expression-lang", message, workflow.where.value("expressionLang"))
