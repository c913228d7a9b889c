"""Rule: known keys of a function's metadata have valid values (section "Function Definition").

These keys are our own; other keys are free for authors.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from swf_temporal.base.calls import PRIORITIES
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Problem
from swf_temporal.base.function_types import CONFIG_KEY, CONFIGURED_AS
from swf_temporal.languages.serverless_workflow.execution.parameters import is_priority, truth_of
from swf_temporal.languages.serverless_workflow.model.workflow import Function
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.text.suggestions import did_you_mean, nearest

_ValueRule: TypeAlias = tuple[Callable[[JSON], bool], str]

_SWITCH: _ValueRule = (lambda value: isinstance(value, bool), "true or false")
_SWITCH_OR_TEXT: _ValueRule = (lambda value: truth_of(value) is not None, "'true' or 'false'")
_VARIABLES: _ValueRule = (lambda value: isinstance(value, dict), "an object")
_NAME: _ValueRule = (lambda value: isinstance(value, str) and bool(value.strip()), "a name")
_CHOICE: _ValueRule = (_NAME[0], "a name, or an expression that yields one")
_OUTPUT: _ValueRule = (lambda value: value in ("content", "raw", "response"), "'content', 'raw' or 'response'")
_PORT: _ValueRule = (lambda value: isinstance(value, int) and not isinstance(value, bool), "a whole number")
_RESULT: _ValueRule = (lambda value: value in ("payload", "message"), "'payload' or 'message'")

_PRIORITY: _ValueRule = (is_priority, f"a whole number from {PRIORITIES[0]} to {PRIORITIES[-1]}")

_EVERY: Mapping[str, _ValueRule] = {
    "hideSecrets": _SWITCH, "priority": _PRIORITY, "longRunning": _SWITCH_OR_TEXT, "local": _SWITCH_OR_TEXT,
    CONFIGURED_AS: _NAME, CONFIG_KEY: _CHOICE,
}  # fmt: skip
_PLAIN: Mapping[str, _ValueRule] = {**_EVERY, "failOnStatusCode": _SWITCH, "output": _OUTPUT, "redirect": _SWITCH}
_DESCRIBED: Mapping[str, _ValueRule] = {**_PLAIN, "checkResponse": _SWITCH, "serverVariables": _VARIABLES}
_SCRIPT: Mapping[str, _ValueRule] = {**_EVERY, "returnsVariables": _SWITCH}
_REMOTE: Mapping[str, _ValueRule] = {**_EVERY, "host": _NAME, "port": _PORT}
_MESSAGES: Mapping[str, _ValueRule] = {**_EVERY, "result": _RESULT, "serverVariables": _VARIABLES}


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each invalid value, and each key that looks misspelt."""
    for function, owner in context.nodes.each(Function):
        known = _known(function)
        for key, value in function.metadata.items():
            if key in known:
                is_possible, wanted = known[key]
                if value is not None and not is_possible(value):
                    message = f"{owner}: {key} is {value!r}, and must be {wanted}"
                    yield context.error("function-metadata", message, function.where.at("metadata", key))
            elif (meant := nearest(key, known, 0.85)) is not None and meant not in function.metadata:
                message = f"{owner}: its metadata {key!r} has no effect"
                hint = did_you_mean(key, [meant])
                yield context.warning("function-metadata", message, function.where.at("metadata", key), hint)


def _known(function: Function) -> Mapping[str, _ValueRule]:
    operation = function.operation
    is_request = isinstance(operation, dict) or str(operation).startswith("rest:")
    if function.type == "asyncapi":
        return _MESSAGES
    if function.type == "rpc":
        return _REMOTE
    if function.type in ("rest", "openapi"):
        return _PLAIN if is_request else _DESCRIBED
    if function.type == "custom" and str(operation).startswith("script:"):
        return _SCRIPT
    if function.type == "http" or (function.type == "custom" and is_request and isinstance(operation, str)):
        return _PLAIN
    return _EVERY
