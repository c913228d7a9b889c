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
"""The size limit of one payload, in bytes: the server's, with room for what surrounds it."""

MAX_RESULT_BYTES: Final = 2 * 1024 * 1024
"""The size limit of a function's result, in bytes: the server's."""

MAX_CALLS_IN_ONE_EXECUTION: Final = 15_000
"""How many calls an execution holds at most: a run with more has to go on in another, with what it carries."""

CARRY_LESS: Final = "keep less of what actions and events yield, or store large payloads outside of Temporal"
"""What to do where a run would have to carry on more than it can."""

PUBLISH_LIMIT: Final = timedelta(minutes=1)
"""The time limit of one delivery of an event."""


ONE_STEP, ONE_RUN = "one step can carry", "a run can give on"


def check_size(size: int, what: str, most: int = MAX_PAYLOAD_BYTES, advice: str | None = None) -> None:
    """Raise PayloadTooLarge where *size* is more than *what*, such as one step, can carry; *advice* says what to do."""
    if size > most:
        ending = f": {advice}" if advice else ""
        raise PayloadTooLarge(f"{size:,} bytes of data are more than the {most:,} that {what}{ending}")


def check_result(size: int, function: str, most: int = MAX_PAYLOAD_BYTES) -> None:
    """Raise CallFailed, which a definition can handle, where a *function* returned more than one step can carry."""
    if size > most:
        message = f"function {function!r} returned {size:,} bytes of JSON, and {most:,} are the most"
        raise CallFailed(message, code="AnswerTooLarge", retryable=False)


def size_of(value: JSON) -> int:
    """Return how many bytes *value* takes as the plain JSON in which it travels: at least, if these are very many."""
    return json_length(value)


def subflow_fault(workflow_id: str, fault: WorkflowFault, *, state_word: str = "state") -> WorkflowFault:
    """Return what a parent sees of a fault that its sub-workflow failed with: its name, code and message.

    The message tells what went wrong where it did, and how many levels down that is. An input that does not fit is
    given again to every attempt, so that no further one can help.
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
