"""The record of a call, for its activity or for the separate workflow that makes it.

A fact that is added to `runtime.host.CallFacts` is passed to Temporal here, for activities and children alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar, TypedDict

from temporalio import workflow
from temporalio.common import Priority

from swf_temporal.base.calls import Auth, Function
from swf_temporal.base.data import JSON
from swf_temporal.base.records import FIRST_FORMAT, Record
from swf_temporal.runtime.host import CallAttempts, CallFacts, CallFolder, FunctionCall, SecretTemplate
from swf_temporal.runtime.retrying import RetryRule
from swf_temporal.temporal.summaries import of_call


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
    """Tell whether the argument of an activity is meant to be a call record."""
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
