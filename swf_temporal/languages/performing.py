"""Calls of a definition's language where a call is performed: for secrets and for errors.

To find what was derived from secrets, such arguments are evaluated a second time with other values in place of the
secrets. Whatever differs in the result was derived from them. If the second evaluation fails, the arguments are
compared with the data of the expression instead.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Final

from swf_temporal.base.calls import FillAuth, fill_plain_auth
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed, WorkflowFault
from swf_temporal.base.strict_json import write_json
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.languages.known import language_named
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.runtime.retrying import JitterSource


def filled(call: FunctionCall, secrets: Mapping[str, JSON]) -> JSON:
    """Return the arguments of *call* with secrets filled in; called where it is performed, never in a workflow.

    The reason of a failure is not reported: it could contain a secret, or something derived from one.
    """
    if call.secret_template is None:
        return call.arguments
    try:
        return language_named(call.language).fill(call.secret_template, secrets)
    except WorkflowFault as fault:
        raise _without_reason(fault, call) from None
    except BadExpression as error:
        # It names a variable that has no value where the call is made: such arguments are compiled without it.
        raise _without_reason(ExpressionFailed(error.message, retryable=False), call) from None


def fill_auth_of(call: FunctionCall) -> FillAuth:
    """Return the function that fills in the secrets in the credentials of *call*."""
    return language_named(call.language).fill_auth if call.language and call.auth else fill_plain_auth


def delay_after(
    call: FunctionCall, attempt: int, fault: WorkflowFault, draw: JitterSource, *, slow_is_fatal: bool = False
) -> timedelta | None:
    """Return the delay after *attempt* at *call* failed with *fault*, or None if the call is not retried."""
    rule = call.retry
    if rule is None:
        return None
    holds = None if rule.condition is None else language_named(call.language).holds
    return rule.after(attempt, fault, draw, slow_is_fatal=slow_is_fatal, holds=holds)


def _without_reason(fault: WorkflowFault, call: FunctionCall) -> WorkflowFault:
    """Return *fault* without its reason. The expression is shown as written in the definition."""
    template = None if call.secret_template is None else call.secret_template.template
    shown = next((f": {text}" for text in _texts(template) if fault.message.endswith(text)), "")
    message = f"an argument of function {call.function.name!r} that uses secrets cannot be evaluated{shown}"
    text = f"{message} (the reason is not shown, since it could show a secret)"
    return type(fault)(text, name=fault.name, code=fault.code, retryable=fault.retryable)


def _texts(template: JSON) -> Iterator[str]:
    if isinstance(template, str):
        yield template
    elif isinstance(template, list):
        for item in template:
            yield from _texts(item)
    elif isinstance(template, dict):
        yield from _texts(list(template.values()))


MIN_LENGTH: Final = 8
"""The minimum length of a word that counts as derived from a secret, in characters."""

_BETWEEN: Final = re.compile(r"""[\s,;:&?="'<>()\[\]{}|]+""")
"""The separators of the words of a text."""


def made_of_secrets(call: FunctionCall, secrets: Mapping[str, JSON], arguments: JSON) -> tuple[str, ...]:
    """Return the words in *arguments*, the filled arguments of *call*, that depend on *secrets*."""
    given = call.secret_template
    if given is None or not secrets:
        return ()
    try:
        otherwise: JSON = filled(call, {name: _other(value) for name, value in secrets.items()})
    except WorkflowFault:
        otherwise = [given.data, list(given.variables.values()), given.template]
    same = set(_words(otherwise))
    return tuple(dict.fromkeys(word for word in _words(arguments) if word not in same))


def _other(secret: JSON) -> JSON:
    """Return a value of the same form as *secret*, with other letters, digits and numbers."""
    if isinstance(secret, bool) or secret is None:
        return secret
    if isinstance(secret, int | float):
        return secret + 1
    if isinstance(secret, str):
        return "".join(map(_next, secret))
    if isinstance(secret, list):
        return [_other(item) for item in secret]
    return {key: _other(item) for key, item in secret.items()}


def _next(char: str) -> str:
    for first, last in ("09", "az", "AZ"):
        if first <= char <= last:
            return first if char == last else chr(ord(char) + 1)
    return char


def _words(value: JSON) -> Iterator[str]:
    """Yield the words of the texts in *value* that are long enough."""
    if isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _words(item)
        if isinstance(value, dict):
            yield from _words(list(value))
        return
    text = value if isinstance(value, str) else write_json(value)
    words = _BETWEEN.split(text)
    yield from (word for word in words if len(word) >= MIN_LENGTH)
