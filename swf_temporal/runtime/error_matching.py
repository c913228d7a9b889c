"""Errors that a definition names, and the faults that they cover.

An error is known by its name and, if it has one, its code (section "Defining Errors"). What a code may be is open,
so the readings that users write are all accepted: an HTTP status (`404`, `HTTP:404`), a gRPC status by name or
number, the name of one of our own faults, the type of an application error, or, where the code is not a single word,
a regular expression that is found in the message.

Whether a pattern matches in time depends on how busy the machine is. In workflow code that may not decide the course
of a run: there *slow_is_fatal*, and the run fails with ExpressionLimitExceeded. Where attempts are counted, in an
activity, what is decided is recorded, and a pattern that takes too long covers nothing.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from swf_temporal.base.errors import ExpressionLimitExceeded, WorkflowFault
from swf_temporal.expressions.patterns import BadPattern, PatternTooSlow, matches_somewhere, one_limit

ErrorName: TypeAlias = tuple[str, str | None]
"""An error's name and its code."""

CATCH_ALL = frozenset(
    {"*", "DefaultErrorRef", "java.lang.Throwable", "java.lang.Exception", "java.lang.RuntimeException"}
)
"""The names that stand for any error; all but the first are those of other runtimes."""

GRPC_STATUSES = (
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
    "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip
_GRPC_NUMBER = {name: str(number) for number, name in enumerate(GRPC_STATUSES)}


def covers(error: ErrorName, fault: WorkflowFault, *, slow_is_fatal: bool = False) -> bool:
    name, code = error
    if name in CATCH_ALL or code in CATCH_ALL:
        return True
    return _is(name, fault) or (
        code is not None and (_is(code, fault) or _describes(code, fault, slow_is_fatal=slow_is_fatal))
    )


def is_called(error: ErrorName, fault: WorkflowFault) -> bool:
    """Tell whether the name or the code of *error* is that of *fault*."""
    name, code = error
    return _is(name, fault) or (code is not None and _is(code, fault))


def describes(error: ErrorName, fault: WorkflowFault) -> bool:
    """Tell whether the code of *error* is a pattern that the message of *fault* has a match of."""
    code = error[1]
    return code is not None and code not in CATCH_ALL and _describes(code, fault, slow_is_fatal=True)


def is_named(fault: WorkflowFault, errors: Iterable[ErrorName], *, slow_is_fatal: bool) -> bool:
    with one_limit():
        return any(covers(error, fault, slow_is_fatal=slow_is_fatal) for error in errors)


def names_of(refs: Sequence[str], errors: dict[str, ErrorName]) -> tuple[ErrorName, ...]:
    return tuple(errors.get(ref, (ref, None)) for ref in refs)


def _is(word: str, fault: WorkflowFault) -> bool:
    if word in (fault.name, fault.code):
        return True
    plain = word.removeprefix("HTTP:").removeprefix("HTTP ")
    if plain in (fault.code, str(fault.status)):
        return True
    number, code = _GRPC_NUMBER.get(word), fault.code
    return (number is not None and number == code) or _GRPC_NUMBER.get(code) == word


def _describes(code: str, fault: WorkflowFault, *, slow_is_fatal: bool) -> bool:
    if re.fullmatch(r"[\w.:-]+", code):
        return False
    try:
        return matches_somewhere(code, fault.message)
    except BadPattern:
        return code in fault.message
    except PatternTooSlow as slow:
        if slow_is_fatal:
            raise ExpressionLimitExceeded(f"whether an error is covered: {slow}") from None
        return False
