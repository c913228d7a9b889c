"""Conversion of faults between the runtime and Temporal."""

from typing import Final

from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    ChildWorkflowError,
    FailureError,
    RetryState,
    TimeoutType,
    WorkflowAlreadyStartedError,
)
from temporalio.exceptions import (
    TimeoutError as EngineTimeout,
)

from swf_temporal.base.errors import CallFailed, PayloadTooLarge, SubflowFailed, TimedOut, WorkflowFault
from swf_temporal.base.strict_json import show_json
from swf_temporal.runtime.performing import size_of, subflow_fault

MAX_TEXT: Final = 20_000
"""The length limit of a failure's text, in characters."""
MAX_NAME: Final = 1_000
"""The length limit of the name and of the code of an error, in characters."""
MAX_BODY_BYTES: Final = 1024 * 1024
"""The size limit of a service's answer in a failure, in bytes as JSON."""


class FaultError(ApplicationError):
    """The engine's form of a fault."""

    frames: str = ""
    """The stack of the user's Python code that raised it."""


def application_error(fault: WorkflowFault, *, text: str | None = None, **options: object) -> ApplicationError:
    """Return the engine's form of *fault*: its type is the fault's name, its details carry all the facts.

    Texts that exceed the server's limits are shortened, in *fault* too.
    """
    _shorten(fault)
    error = FaultError(_cut(text or fault.message), fault.to_json(), type=fault.name, **options)  # type: ignore[arg-type]  # options are the constructor's own
    error.frames = _cut(fault.frames)
    return error


def _shorten(fault: WorkflowFault) -> None:
    """Shorten the texts of *fault*: a server refuses a failure of two megabytes, and with it the command."""
    fault.message = _cut(fault.message)
    fault.name, fault.code = _cut(fault.name, MAX_NAME), _cut(fault.code, MAX_NAME)
    fault.cause = None if fault.cause is None else _cut(fault.cause)
    if fault.origin is not None:
        fault.origin = {key: _cut(value) if isinstance(value, str) else value for key, value in fault.origin.items()}
    if fault.body is not None and (size := size_of(fault.body)) > MAX_BODY_BYTES:
        written = fault.body if isinstance(fault.body, str) else show_json(fault.body)
        fault.body = f"{written[:MAX_TEXT]}… ({size:,} bytes)"


def _cut(text: str, most: int = MAX_TEXT) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def size_of_failure(error: ApplicationError) -> int:
    """Return the size of *error* in a history, in bytes, without its stack."""
    return size_of([error.message, *error.details])


def fault_of_activity(error: ActivityError, action: str) -> WorkflowFault:
    cause = error.cause
    if isinstance(cause, EngineTimeout):
        return _timeout(cause, action)
    if isinstance(cause, ApplicationError):
        fault = carried(cause)
        if error.retry_state == RetryState.TIMEOUT:
            # The next attempt would have been too late; the server reports the failure of the last one.
            return TimedOut(f"action {action!r} took longer than it may", cause=f"{fault.name}: {fault.message}")
        return fault
    return CallFailed(str(cause or error), name="ActivityFailed")


def fault_of_child(
    error: ChildWorkflowError,
    workflow_id: str,
    *,
    cancelled: WorkflowFault | None = None,
    state_word: str = "state",
) -> WorkflowFault:
    """Return the fault that a sub-workflow failed with: its own name, code and message; see `subflow_fault`.

    *cancelled* is the fault that its language defines for a cancelled sub-workflow, if any; *state_word* is its term
    for a state.
    """
    cause = error.cause
    if isinstance(cause, CancelledError) and cancelled is not None:
        return subflow_fault(workflow_id, cancelled)
    if isinstance(cause, EngineTimeout):
        return TimedOut(f"sub-workflow {workflow_id!r} took longer than it may")
    if isinstance(cause, ApplicationError):
        return subflow_fault(workflow_id, carried(cause), state_word=state_word)
    what = type(cause).__name__ if cause else "failed"
    return SubflowFailed(f"sub-workflow {workflow_id!r}: {cause or error}", name=what)


def fault_of_start(error: FailureError, name: str) -> WorkflowFault:
    """Return the fault of a workflow of the type *name* that was not started as a child."""
    if isinstance(error, ChildWorkflowError):
        return fault_of_child(error, name)
    why = f"{error.workflow_id!r} is running already" if isinstance(error, WorkflowAlreadyStartedError) else str(error)
    return SubflowFailed(f"workflow {name!r} was not started: {why}", name="NotStarted")


def fault_of_call(error: ChildWorkflowError, action: str) -> WorkflowFault:
    cause = error.cause
    if isinstance(cause, ApplicationError):
        return carried(cause)
    return CallFailed(f"the call of {action!r} was lost: {cause or error}", code="Lost")


def _timeout(cause: EngineTimeout, action: str) -> WorkflowFault:
    # No time is set for the wait in a queue alone: the server reports the whole time so if no worker took the call.
    if cause.type in (TimeoutType.SCHEDULE_TO_CLOSE, TimeoutType.SCHEDULE_TO_START):
        return TimedOut(f"action {action!r} took longer than it may")
    return CallFailed(f"the call of {action!r} was lost: {cause.message}", code="Lost")


def carried(cause: ApplicationError) -> WorkflowFault:
    """Return the fault that an application error carries, or one made from its message if it is not one of ours."""
    facts = cause.details[0] if cause.details else None
    if isinstance(facts, dict) and "kind" in facts:
        return WorkflowFault.from_json(facts)
    if cause.type == "PayloadsTooLarge":
        return PayloadTooLarge(cause.message)
    return CallFailed(cause.message, name=cause.type or "ApplicationError", retryable=not cause.non_retryable)
