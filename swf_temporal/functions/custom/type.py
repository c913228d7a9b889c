"""The type `custom`: Python, scripts, lines of the log, plain HTTP or an activity, depending on the operation."""

import logging
import re
from collections.abc import Iterator, Mapping
from typing import Final

from swf_temporal.base.calls import Function
from swf_temporal.base.errors import Severity
from swf_temporal.base.function_types import OperationProblem
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
"""SonataFlow's names of log levels, with Python's levels."""

_OURS = re.compile(r"service:python:|script:\s*(?:python\s*(?::|$)|$)", re.IGNORECASE)
_FOREIGN: Mapping[str, str] = {
    "service:": "a service of Kogito's runtimes",
    "work-item:": "a work item of Kogito's runtimes",
    "knative:": "a service of Knative",
    "camel:": "a route of Camel",
    "java:": "a method in Java",
    "bean:": "a bean in Java",
    "script:": "a script in a language other than Python",
}
"""Prefixes of operations that are written for other runtimes, with their meaning there."""
_MAX_SHOWN = 80
"""The number of characters of an operation, which may be a script, in a message."""
_INSTEAD = (
    "call an activity of a worker in any language, 'temporal:ACTIVITY@QUEUE', or a service, 'rest:POST:URL', or "
    "register a Python function under this name"
)
_INSTEAD_OF_SCRIPT = (
    "write it in Python or in jq, call an activity of a worker in its language, 'temporal:ACTIVITY@QUEUE', or "
    "register a Python function under this name"
)


class CustomType(DeclaredType):
    """Functions that the specification leaves to the runtime."""

    performed_by = "swf_temporal.functions.custom.custom:Custom"
    needs_operation = False

    def problems(self, function: Function) -> Iterator[OperationProblem]:
        """Yield the errors in an operation that begins with a known word."""
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
        if word == "script" and not rest.partition(":")[0].strip():
            yield OperationProblem(
                "scripts are written in Python: the operation is script:python", code="custom-operation"
            )
        foreign = foreign_operation(operation)
        if foreign is not None:
            what, hint = foreign
            message = (
                f"{what}: calls of it fail, unless a Python function has this name "
                "or the configuration has an operation for it"
            )
            yield OperationProblem(message, hint, code="foreign-operation", severity=Severity.WARNING)


def foreign_operation(operation: str) -> tuple[str, str] | None:
    """Return a description of *operation*, and what to do instead, if it is written for another runtime."""
    prefix = next((one for one in _FOREIGN if operation.startswith(one)), None)
    if prefix is None or _OURS.match(operation):
        return None
    shown = operation if len(operation) <= _MAX_SHOWN else f"{operation[:_MAX_SHOWN]}…"
    instead = _INSTEAD_OF_SCRIPT if prefix == "script:" else _INSTEAD
    return f"{shown!r} is {_FOREIGN[prefix]}, which is not supported", instead


TYPE = CustomType()
