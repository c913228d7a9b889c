"""The type `custom`: Python, scripts, lines of the log, plain HTTP or an activity, as the operation says."""

import logging
from collections.abc import Iterator, Mapping
from typing import Final

from swf_temporal.calls import Function
from swf_temporal.errors import Severity
from swf_temporal.function_types import OperationProblem
from swf_temporal.functions.plain.type import is_plain_text, problems_of_text
from swf_temporal.functions.port import DeclaredType
from swf_temporal.text.suggestions import did_you_mean

LEVELS: Final = {
    "TRACE": logging.DEBUG,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "WARNING": logging.WARNING,
    "ERROR": logging.ERROR,
}
"""SonataFlow's names of log levels, and Python's."""

_OURS = "service:python:"
_FOREIGN: Mapping[str, str] = {
    "service:": "a service of Kogito's runtimes",
    "work-item:": "a work item of Kogito's runtimes",
    "knative:": "a service of Knative",
    "camel:": "a route of Camel",
    "java:": "a method in Java",
    "bean:": "a bean in Java",
}
"""Prefixes of operations that are written for other runtimes, and what they name there."""
_INSTEAD = (
    "call an activity of a worker in any language, 'temporal:ACTIVITY@QUEUE', or a service, 'rest:POST:URL', or "
    "register a Python function under this name"
)
_INSTEAD_OF_SCRIPT = (
    "write it in Python or in jq, call an activity of a worker in its language, 'temporal:ACTIVITY@QUEUE', or register "
    "a Python function under this name"
)


def script_language(operation: object) -> str | None:
    """Return the language of `script:LANGUAGE`, with or without code after it; None if *operation* is none."""
    if not isinstance(operation, str):
        return None
    word, _, rest = operation.strip().partition(":")
    return rest.partition(":")[0].strip().lower() if word == "script" else None


def is_script(operation: object) -> bool:
    """Tell whether *operation* is a script that can be run here."""
    return script_language(operation) == "python"


def foreign(operation: str) -> str | None:
    """Return what *operation* names if it is written for other runtimes, such as "a route of Camel"."""
    language = script_language(operation)
    if language and language != "python":
        return f"a script in {language!r}"
    if operation.startswith(_OURS):
        return None
    return next((title for prefix, title in _FOREIGN.items() if operation.startswith(prefix)), None)


class CustomType(DeclaredType):
    """Functions that the specification leaves to the runtime."""

    performed_by = "swf_temporal.functions.custom.custom:Custom"
    needs_operation = False

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield what is wrong with an operation that begins with a word that is known here."""
        if not isinstance(function.operation, str):
            return
        if is_plain_text(function.operation):
            yield from problems_of_text(function.operation)
        operation = function.operation.strip()
        word, _, rest = operation.partition(":")
        if word == "sysout" and rest.strip() and rest.strip().upper() not in LEVELS:
            message = f"{rest.strip()!r} is not one of the levels {', '.join(LEVELS)}"
            hint = did_you_mean(rest.strip().upper(), LEVELS)
            yield OperationProblem(message, hint, code="custom-operation")
        if word == "script" and not script_language(operation):
            yield OperationProblem("a script names its language: script:python", code="custom-operation")
        if (title := foreign(operation)) is not None:
            hint = _INSTEAD_OF_SCRIPT if word == "script" else _INSTEAD
            named = operation if word != "script" else f"script:{script_language(operation)}"
            message = f"{named!r} is {title}, which is not supported"
            yield OperationProblem(message, hint, code="foreign-operation", severity=Severity.WARNING)


TYPE = CustomType()
