"""Helpers that hosts share for performing a call and running a sub-workflow."""

from datetime import timedelta
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import (
    CallFailed,
    PayloadTooLarge,
    SchemaMismatch,
    SubflowFailed,
    TooManySubflows,
    WorkflowFault,
)
from swf_temporal.base.strict_json import json_length

MAX_PAYLOAD_BYTES: Final = 2 * 1024 * 1024 - 64 * 1024
"""The size limit of one payload, in bytes: the server's, less an allowance for what surrounds it."""

MAX_RESULT_BYTES: Final = 2 * 1024 * 1024
"""The size limit of a function's result, in bytes: the server's."""

MAX_CALLS_IN_ONE_EXECUTION: Final = 15_000
"""The maximum number of calls in one execution: a run with more has to continue as new."""

CARRY_LESS: Final = "keep less of what actions and events yield, or store large payloads outside of Temporal"
"""Advice for a run that would have to carry over more than it can."""

PUBLISH_LIMIT: Final = timedelta(minutes=1)
"""The time limit of one delivery of an event."""


ONE_STEP, ONE_RUN = "one step can carry", "a run can carry over"


def check_size(size: int, what: str, most: int = MAX_PAYLOAD_BYTES, advice: str | None = None) -> None:
    """Raise PayloadTooLarge if *size* is more than *most*; *what* and *advice* complete the message."""
    if size > most:
        ending = f": {advice}" if advice else ""
        raise PayloadTooLarge(f"{size:,} bytes of data are more than the {most:,} that {what}{ending}")


def check_result(size: int, function: str, most: int = MAX_PAYLOAD_BYTES) -> None:
    """Raise CallFailed, which a definition can handle, if *function* returned more than one step can carry."""
    if size > most:
        message = f"function {function!r} returned {size:,} bytes of JSON, and the limit is {most:,}"
        raise CallFailed(message, code="AnswerTooLarge", retryable=False)


def size_of(value: JSON) -> int:
    """Return the size of *value* in bytes, as plain JSON; a lower bound, if that is very large."""
    return json_length(value)


def subflow_fault(workflow_id: str, fault: WorkflowFault, *, state_word: str = "state") -> WorkflowFault:
    """Return the fault that a parent sees if its sub-workflow failed with *fault*: its name, code and message.

    The message says what failed, and how many levels down. A sub-workflow whose input does not match its schema is not
    retried: every attempt would get the same input.
    """
    origin = {"levels": 1, "workflow": workflow_id, "message": fault.message}
    message = f"sub-workflow {workflow_id!r} failed: {fault.message}"
    if fault.origin is not None:
        origin = {**fault.origin, "levels": fault.origin["levels"] + 1}
        where = f"as {origin['workflow']!r} did {origin['levels']} levels down"
        message = f"sub-workflow {workflow_id!r} failed, {where}: {origin['message']}"
    kind = TooManySubflows if isinstance(fault, TooManySubflows) else SubflowFailed
    return kind(
        message,
        name=fault.name,
        code=fault.code,
        status=fault.status,
        body=fault.body,
        retryable=not isinstance(fault, SchemaMismatch) or fault.retryable,
        cause=fault.state and f"{state_word} {fault.state!r} of {workflow_id!r}",
        origin=origin,
    )
