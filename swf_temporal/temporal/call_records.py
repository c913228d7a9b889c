"""The record of a call, for its activity or for the separate workflow that makes it.

A fact that is added to `runtime.host.CallFacts` is passed to Temporal here, for activities and children alike.

Temporal keeps the failure of the last attempt alone. So each attempt that fails reports all failed ones: in its
failure, beside the fault, which the history keeps; and in a heartbeat, from which the next attempt has them, whichever
worker makes it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final, TypedDict

from temporalio import activity, workflow
from temporalio.common import Priority
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

from swf_temporal.base.calls import Auth, Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, PayloadTooLarge, SubflowFailed, TimedOut, WorkflowFault
from swf_temporal.base.records import FIRST_FORMAT, MalformedRecord, Record
from swf_temporal.base.strict_json import show_json
from swf_temporal.runtime.host import CallAttempts, CallFacts, CallFolder, FunctionCall, SecretTemplate
from swf_temporal.runtime.performing import size_of, subflow_fault
from swf_temporal.runtime.retrying import RetryRule
from swf_temporal.temporal.summaries import of_call

MAX_ATTEMPTS: Final = 20
"""The number of failed attempts that are reported: the latest."""
_MAX_TEXT: Final = 300
"""The length limit of a name and of a message in such a report, in characters."""


@dataclass(slots=True)
class FailedAttempt(Record):
    number: int
    began: str
    """When it began, by ISO 8601."""
    ended: str
    error: str
    """The name of its error."""
    message: str = ""
    delay: float | None = None
    """The seconds before the next attempt; None if there is none."""
    worker: str = ""
    """The identity of its worker."""

    @property
    def took(self) -> timedelta:
        return datetime.fromisoformat(self.ended) - datetime.fromisoformat(self.began)


def reported(values: Sequence[Any]) -> list[FailedAttempt]:
    """Return the failed attempts in *values*, the details of a heartbeat or what a failure has beside its fault."""
    try:
        return [FailedAttempt.from_json(one) for one in values[0]] if values else []
    except (MalformedRecord, TypeError, ValueError, LookupError):  # another program's
        return []


def attempts_in(failure: BaseException | None) -> list[FailedAttempt]:
    """Return the failed attempts that a call's *failure* reports, its own last."""
    return reported(failure.details[1:]) if isinstance(failure, ApplicationError) else []


def now() -> datetime:
    """Return the time of this machine: attempts are made on a worker."""
    return datetime.now(UTC)  # noqa: TID251 - an activity's


def _cut_message(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"


def _identity() -> str:
    """Return the identity of this worker; empty if the activity runs without one, as in a test."""
    try:
        return activity.client().identity
    except RuntimeError:
        return ""


class Attempts:
    """The failed attempts at the call that the running activity makes."""

    def __init__(self) -> None:
        info = activity.info()
        self._is_local = info.is_local
        self._given = info.heartbeat_details
        self._failed = reported(self._given)

    def beat(self) -> None:
        """Send a heartbeat, without losing what is reported."""
        activity.heartbeat(*self._given)

    def note(self, number: int, began: datetime, fault: WorkflowFault, delay: float | None) -> JSON:
        """Report to the next attempt that one has failed with *fault*; return what its failure reports."""
        since, until = (one.isoformat(timespec="milliseconds") for one in (began, now()))
        self._failed.append(
            FailedAttempt(
                number, since, until, _cut_message(fault.name), _cut_message(fault.message), delay, _identity()
            )
        )
        del self._failed[:-MAX_ATTEMPTS]
        told: JSON = [one.to_json() for one in self._failed]
        if delay is not None and not self._is_local:
            self._given = [told]
            self.beat()
        return told


@dataclass(slots=True)
class LocalRecord(Record):
    """The facts about a local call that its activity needs."""

    most: int
    """The size limit of its result, in bytes."""
    asked: bool
    """True if the definition asks for a local call, false if the operator does."""


@dataclass(slots=True)
class OwnerRecord(Record):
    """The run that waits for the call: its id, and its first execution."""

    id: str
    run: str


@dataclass(slots=True)
class PlaceRecord(Record):
    """The action that waits for the call."""

    state: str
    action: str
    timeout: timedelta | None = None
    """The timeout of the call with all its retries."""


@dataclass(slots=True)
class CallRecord(Record):
    WHAT: ClassVar[str] = "a call's record"
    CAMEL_CASE: ClassVar[bool] = True

    function: Function
    source: str
    """The place from which the definition was read."""
    language: str = ""
    """The name of the definition's language."""
    arguments: JSON = None
    deferred: SecretTemplate | None = None
    retry: RetryRule | None = None
    selection_set: JSON = None
    headers: Mapping[str, str] = field(default_factory=dict)
    auth: tuple[Auth, ...] = ()
    secrets: tuple[str, ...] = ()
    folder: CallFolder | None = None
    place: PlaceRecord | None = None
    owner: OwnerRecord | None = None
    """With the place: set for a call that a separate workflow makes while a run waits for it."""
    attempts: CallAttempts | None = None
    """For such a call: the attempts that earlier executions of its workflow have made, if any."""
    run: str | None = None
    """The execution that the call's idempotency key names, if not the activity's."""
    local: LocalRecord | None = None
    """None if the call is an ordinary activity."""
    made: int = 0
    """The number of attempts already made locally."""
    format: int = FIRST_FORMAT


def is_call_record(written: Any) -> bool:
    """Return whether the argument of an activity is meant to be a call record."""
    return isinstance(written, dict) and written.keys() >= {"function", "source"}


def record_of(call: FunctionCall, source: str) -> CallRecord:
    """Return the record of *call* for its activity. *source* is where the definition was read from."""
    return CallRecord(
        function=call.function,
        source=source,
        language=call.language,
        arguments=call.arguments,
        deferred=call.secret_template,
        retry=call.retry,
        selection_set=call.selection_set,
        headers=call.headers,
        auth=call.auth,
        secrets=call.secrets,
        folder=call.folder,
        place=None if call.long_wait is None else PlaceRecord(call.state, call.action, call.timeout),
    )


def call_of(record: CallRecord, *, activity_id: str, state: str) -> FunctionCall:
    """Return the call of *record*, made for *state* by the activity with that id."""
    place = record.place or PlaceRecord(state, activity_id)
    return FunctionCall(
        id=activity_id,
        function=record.function,
        arguments=record.arguments,
        state=place.state,
        action=place.action,
        timeout=place.timeout,
        secret_template=record.deferred,
        retry=record.retry,
        selection_set=record.selection_set,
        headers=record.headers,
        auth=record.auth,
        secrets=record.secrets,
        folder=record.folder,
        language=record.language,
    )


class ActivityFacts(TypedDict):
    """Arguments of `execute_activity`."""

    summary: str
    priority: Priority


class ChildFacts(TypedDict):
    """Arguments of `start_child_workflow`."""

    static_summary: str
    priority: Priority


def activity_facts(call: CallFacts) -> ActivityFacts:
    return {"summary": of_call(call), "priority": Priority(call.priority)}


def child_facts(call: CallFacts) -> ChildFacts:
    return {"static_summary": of_call(call), "priority": Priority(call.priority, _fairness_key())}


def _fairness_key() -> str:
    """Return the fairness key shared by all sub-workflows under an instance: the instance's key, or its run id.

    A server with fairness gives each key its turn, so sub-workflows that multiply delay only each other.
    """
    info = workflow.info()
    return info.priority.fairness_key or info.first_execution_run_id


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


def application_error(
    fault: WorkflowFault, *beside: JSON, text: str | None = None, **options: object
) -> ApplicationError:
    """Return the engine's form of *fault*: its type is the fault's name, its details carry all the facts.

    What is *beside* follows in the details. Texts that exceed the server's limits are shortened, in *fault* too.
    """
    _shorten(fault)
    error = FaultError(_cut(text or fault.message), fault.to_json(), *beside, type=fault.name, **options)  # type: ignore[arg-type]  # options are the constructor's own
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
