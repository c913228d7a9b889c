"""Rule: definitions are used (section "Workflow Definition Structure")."""

import re
from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.actions import Action, FunctionRef
from swf_temporal.languages.serverless_workflow.model.definitions import Function
from swf_temporal.languages.serverless_workflow.model.states import OnError
from swf_temporal.languages.serverless_workflow.validation.context import SINGULAR, Context
from swf_temporal.languages.serverless_workflow.validation.secret_uses import event_uses
from swf_temporal.text.suggestions import NEVER_USED

_FUNCTION = re.compile(r"fn:\s*([\w.-]+(?: [\w.-]+)*)")


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each definition, written in this document, that nothing refers to."""
    used: dict[str, set[str] | set[str | None]] = {
        "functions": _functions(context),
        "events": {use.name for use in event_uses(context.nodes)},
        "retries": _retries(context),
        "errors": _errors(context),
        "auth": _auth(context),
    }
    for kind, names in used.items():
        if kind in context.workflow.externals:
            continue
        for definition in getattr(context.workflow, kind):
            if definition.name not in names:
                message = f"{SINGULAR[kind]} {definition.name!r} is defined, but not used"
                yield context.warning("unused-definition", message, definition.where.value("name"), NEVER_USED)


def _functions(context: Context) -> set[str]:
    called = {ref.ref_name for ref, _ in context.nodes.each(FunctionRef)}
    named = {match[1] for field, _ in context.expressions for match in _FUNCTION.finditer(field.text)}
    return called | named


def _retries(context: Context) -> set[str | None]:
    of_states = {handler.retry_ref for handler, _ in context.nodes.each(OnError)}
    return of_states | {action.retry_ref for action, _ in context.nodes.each(Action)}


def _errors(context: Context) -> set[str]:
    used = {name for handler, _ in context.nodes.each(OnError) for name in handler.error_refs}
    for action, _ in context.nodes.each(Action):
        used.update(action.retryable_errors, action.non_retryable_errors)
    return used


def _auth(context: Context) -> set[str | None]:
    refs = [function.auth_ref for function, _ in context.nodes.each(Function) if function.auth_ref is not None]
    return {name for ref in refs for name in (ref.resource, ref.invocation)}
