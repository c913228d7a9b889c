"""Rule: expressions are in jq, the language of the specification, or JSONPath (section "Workflow Expressions")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.expressions.evaluation import LANGUAGES
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.text.suggestions import did_you_mean


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem if the workflow's expressions are in an unsupported language."""
    workflow = context.workflow
    if workflow.expression_lang not in (*LANGUAGES, workflow.language_version.expression_lang):
        message = f"expressionLang is {workflow.expression_lang!r}, but expressions are written in jq or jsonpath here"
        hint = did_you_mean(workflow.expression_lang, LANGUAGES) or "leave it out, and write them in jq"
        yield context.error("expression-lang", message, workflow.where.value("expressionLang"), hint)
