"""Secrets are used where functions are called, and declared (section "Workflow Secrets").

Anywhere else their values would become workflow data, which is kept and shown.
"""

from collections.abc import Iterator

from swf_temporal.errors import Problem
from swf_temporal.expressions.evaluation import BadExpression
from swf_temporal.expressions.reading import members
from swf_temporal.languages.serverless_workflow.model.actions import FunctionRef
from swf_temporal.languages.serverless_workflow.model.definitions import Auth, Function
from swf_temporal.languages.serverless_workflow.validation.compiling import Result
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.languages.serverless_workflow.validation.fields import Field
from swf_temporal.runtime.external_activities import PREFIX
from swf_temporal.text.suggestions import did_you_mean


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each expression that lets a secret into the data or uses an undeclared one."""
    declared = context.workflow.secrets
    activities = {one.name for one in context.workflow.functions if _is_activity(one)}
    expressions = {one.name for one in context.workflow.functions if one.type == "expression"}
    for field, compiled in context.expressions:
        if not _uses_secrets(field, compiled):
            continue
        # An expression function is evaluated in the workflow, where what it yields would be kept.
        in_workflow = isinstance(field.node, Function) and field.node.type == "expression"
        in_selection = isinstance(field.node, FunctionRef) and field.key == "selectionSet"
        if in_workflow or in_selection or not isinstance(field.node, FunctionRef | Function | Auth):
            message = f"{field.owner}: {field.key} uses $SECRETS, which only the arguments of a function may"
            hint = "elsewhere they would become data, which is kept and shown: call a function that is given the secret"
            yield context.error("secrets-in-expression", message, field.position, hint)
        elif isinstance(field.node, FunctionRef) and field.node.ref_name in expressions:
            message = f"{field.owner}: {field.key} uses $SECRETS, which would become data"
            hint = f"function {field.node.ref_name!r} is an expression: what it yields is kept and shown"
            yield context.error("secrets-in-expression", message, field.position, hint)
        elif isinstance(field.node, FunctionRef) and field.node.ref_name in activities:
            # The workflow itself schedules it, so they would be filled there.
            message = f"{field.owner}: {field.key} uses $SECRETS, which would stand in the history"
            hint = f"function {field.node.ref_name!r} is an activity of Temporal: its worker must know them itself"
            yield context.error("secrets-in-expression", message, field.position, hint)
        elif "secrets" not in context.workflow.externals or declared:
            for name in members(field.text, "SECRETS"):
                if name not in declared:
                    message = f"{field.owner} uses the secret {name!r}, which is not declared in 'secrets'"
                    hint = did_you_mean(name, declared) or f"declare it: secrets: [{', '.join([*declared, name])}]"
                    yield context.error("secret-undefined", message, field.position, hint)


def _uses_secrets(field: Field, compiled: Result) -> bool:
    """Tell whether the expressions in a text use secrets themselves; of an expression function it is told there."""
    if isinstance(compiled, BadExpression) or "$SECRETS" not in field.text:
        return False
    # What names a place in the data does not tell what it mentions.
    return "SECRETS" in getattr(compiled, "mentions", {"SECRETS"})


def _is_activity(function: Function) -> bool:
    return function.type == "custom" and str(function.operation).strip().startswith(PREFIX)
