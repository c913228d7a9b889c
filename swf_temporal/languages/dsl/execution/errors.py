"""Errors as problem details: the standard types, and the errors of runs as definitions see them.

A standard type has two spellings in the texts, and two domains. All are equal when they are compared; an error of ours
has the domain of the version that the definition states.
"""

import re
from collections.abc import Mapping
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import (
    CallFailed,
    ExpressionFailed,
    SchemaMismatch,
    SubflowFailed,
    TimedOut,
    WorkflowFault,
    WrongData,
)

_DOMAINS: Final = ("serverlessworkflow.io", "open-workflow-specification.org")
_STANDARD: Final = re.compile(
    r"https?://(?:serverlessworkflow\.io(?:\.io)?|open-workflow-specification\.org)"
    r"/(?:spec/1\.0\.0/errors|dsl/errors/types)/(?P<name>[a-z]+)/?"
)
STATUSES: Final[Mapping[str, int]] = {
    "configuration": 400,
    "validation": 400,
    "expression": 400,
    "authentication": 401,
    "authorization": 403,
    "timeout": 408,
    "communication": 500,
    "runtime": 500,
}
"""The standard types of errors, each with its usual status."""
_TITLES: Final[Mapping[str, str]] = {
    "configuration": "Configuration Error",
    "validation": "Validation Error",
    "expression": "Expression Error",
    "authentication": "Authentication Error",
    "authorization": "Authorization Error",
    "timeout": "Timeout",
    "communication": "Communication Error",
    "runtime": "Runtime Error",
}
_OF_CODES: Final[Mapping[str, str]] = {
    "BadArguments": "configuration",
    "BadOperation": "configuration",
    "BadDocument": "configuration",
    "BadUrl": "configuration",
    "NoServer": "configuration",
    "UnknownOperation": "configuration",
    "Unsupported": "configuration",
    "UNAUTHENTICATED": "authentication",
    "PERMISSION_DENIED": "authorization",
    "BadAuth": "authentication",
    "AuthFailed": "authentication",
    "NoSecret": "authorization",
    "UnknownSecret": "authorization",
    "RunnerOff": "configuration",
    "NotInstalled": "configuration",
    "RpcError": "runtime",
    "ProcessFailed": "runtime",
    "NotStarted": "runtime",
    "Timeout": "timeout",
}
"""The standard types of the faults of calls that are no failures of communication, by their codes."""
RAISED: Final = "Raised"
"""The code of an error that a definition raised."""


def standard_type(name: str, *, is_open: bool) -> str:
    """Return the type of a standard error, in the domain of the Open Workflow Specification or in the former one."""
    return f"https://{_DOMAINS[is_open]}/spec/1.0.0/errors/{name}"


def is_same_type(one: str, other: str) -> bool:
    """Return whether two types of errors are equal, in whatever domain standard ones are written."""
    return _known(one) == _known(other)


def _known(written: str) -> str:
    found = _STANDARD.fullmatch(written)
    return written if found is None or found["name"] not in STATUSES else found["name"]


def raised(problem: Mapping[str, JSON]) -> WorkflowFault:
    """Return the fault of an error that a definition raises, or that a sub-workflow raised."""
    message = str(problem.get("detail") or problem.get("title") or problem["type"])
    status = problem["status"]
    return WorkflowFault(
        message,
        name=str(problem["type"]),
        code=RAISED,
        status=status if isinstance(status, int) else None,
        body=dict(problem),
    )


def problem_of(fault: WorkflowFault, *, is_open: bool) -> dict[str, JSON]:
    """Return *fault* as problem details."""
    if isinstance(fault.body, dict) and {"type", "status"} <= fault.body.keys() and fault.name == fault.body["type"]:
        # A pointer into the definition of a sub-workflow would mislead: the task that ran it is meant.
        given = None if isinstance(fault, SubflowFailed) else fault.body.get("instance")
        return {**fault.body, "instance": given or fault.state or "/"}
    name = _standard_name(fault)
    status = STATUSES[name] if fault.status is None else fault.status
    return {
        "type": standard_type(name, is_open=is_open),
        "status": status,
        "title": _TITLES[name],
        "detail": fault.message,
        "instance": fault.state or "/",
    }


def _standard_name(fault: WorkflowFault) -> str:
    match fault:
        case TimedOut():
            return "timeout"
        case ExpressionFailed() | WrongData():
            return "expression"
        case SchemaMismatch():
            return "validation"
        case CallFailed():
            return _OF_CODES.get(fault.code, "communication")
        case _:
            return "runtime"


def as_fault(fault: WorkflowFault, problem: dict[str, JSON]) -> WorkflowFault:
    """Return *fault*, with which an instance ends, named as definitions name it."""
    fault.name = str(problem["type"])
    status = problem["status"]
    fault.status = status if isinstance(status, int) else fault.status
    fault.body = problem
    return fault
