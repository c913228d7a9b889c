"""Rule: secrets are declared, and only used where functions are called (section "Workflow Secrets").

Anywhere else their values would become workflow data, which is stored and shown.
"""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.expressions.evaluation import BadExpression
from swf_temporal.expressions.targets import members
from swf_temporal.languages.serverless_workflow.validation.context import Context, Result
from swf_temporal.languages.serverless_workflow.validation.fields import (
    Field,
    declaration_of_secrets,
    refusal_of_secrets,
)
from swf_temporal.text.suggestions import did_you_mean


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each expression that puts a secret into the data or uses an undeclared one."""
    declared = context.workflow.secrets
    functions = context.workflow.functions
    for field, compiled in context.expressions:
        if not _uses_secrets(field, compiled):
            continue
        refusal = refusal_of_secrets(field, functions)
        if refusal is not None:
            reason, hint = refusal
            message = f"{field.owner}: {field.key} uses $SECRETS, {reason}"
            yield context.error("secrets-in-expression", message, field.position, hint)
        elif "secrets" not in context.workflow.externals or declared:
            for name in members(field.text, "SECRETS"):
                if name not in declared:
                    message = f"{field.owner} uses the secret {name!r}, which is not declared in 'secrets'"
                    hint = did_you_mean(name, declared) or f"declare it: {declaration_of_secrets([*declared, name])}"
                    yield context.error("secret-undefined", message, field.position, hint)


def _uses_secrets(field: Field, compiled: Result) -> bool:
    """Return True if the expressions in a text use secrets themselves; expression functions are checked separately."""
    if isinstance(compiled, BadExpression) or "$SECRETS" not in field.text:
        return False
    # The path of a target does not list what it mentions.
    return "SECRETS" in getattr(compiled, "mentions", {"SECRETS"})
