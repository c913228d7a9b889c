"""Rule: fields of `$CONST` and `$WORKFLOW` in expressions exist (section "Workflow Expressions")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.expressions.evaluation import BadExpression
from swf_temporal.expressions.targets import members
from swf_temporal.languages.serverless_workflow.model.workflow import REQUEST_FACTS
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.text.suggestions import meant_or_known

ABOUT = frozenset({"id", "name", "version", "instanceId", "runId", "startTime", "input", "error"})
"""The fields of `$WORKFLOW`."""


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each constant that is not defined, and for each field that `$WORKFLOW` never has."""
    constants = context.workflow.constants.keys()
    about = ABOUT.union(REQUEST_FACTS) if context.workflow.language_version.tells_of_requests else ABOUT
    is_elsewhere = "constants" in context.workflow.externals and not constants
    for field, compiled in context.expressions:
        if isinstance(compiled, BadExpression):
            continue
        for name in () if is_elsewhere else members(field.text, "CONST"):
            if name not in constants:
                message = f"{field.owner} uses the constant {name!r}, which is not defined in 'constants'"
                hint = meant_or_known(name, constants, f"define it: constants: {{{name}: ...}}")
                yield context.error("constant-undefined", message, field.position, hint)
        for name in members(field.text, "WORKFLOW"):
            if name not in about:
                message = f"{field.owner} uses $WORKFLOW.{name}, and $WORKFLOW has no {name!r}"
                hint = meant_or_known(name, about)
                yield context.error("workflow-variable", message, field.position, hint)
