"""The contents of a history after a workflow task: the calls made since, which are not undone, events, and messages.

At its end an instance returns events to mailboxes by messages; when it is restarted from an earlier state it has these
events again. The mailboxes are notified, and no longer keep them for others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType, ParentClosePolicy
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, Interceptor, OutboundInterceptor, SignalWorkflowInput
from temporalio.common import RawValue
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.strict_json import read_json
from swf_temporal.runtime.ids import WORKFLOW_TYPES
from swf_temporal.temporal.client import send
from swf_temporal.temporal.client_errors import not_there
from swf_temporal.temporal.constants import DELIVER, ENDING, GIVE_WAY, PROBE
from swf_temporal.temporal.instance_parts import PARTS
from swf_temporal.temporal.mailbox_records import MAILBOX, TAKE, Regained, Untaken, digest_of_event
from swf_temporal.temporal.place_records import TELL
from swf_temporal.temporal.records import ENVIRONMENT, EVALUATE, LIMITS, RESOLVE
from swf_temporal.temporal.restarting import SentEvent

Outcome = Literal["completed", "failed", "timed out", "cancelled", "no result yet"]

_ENDS: Final[dict[str, Outcome]] = {
    "completed": "completed",
    "failed": "failed",
    "timed_out": "timed out",
    "canceled": "cancelled",
    "terminated": "cancelled",
}
_OUTCOMES: Final[dict[str, Outcome]] = {
    f"{what}_{end}_event_attributes": outcome
    for what in ("activity_task", "child_workflow_execution")
    for end, outcome in _ENDS.items()
}
_INSIDE: Final = frozenset({ENVIRONMENT, EVALUATE, GIVE_WAY, LIMITS, RESOLVE, ENDING, TELL, "read variable"})
"""Activities without external effects."""
_NO_EVENTS: Final = frozenset({PROBE}).union(*(part.SIGNALS for part in PARTS))
"""Signals that carry no events."""
_AGAIN: Final = "swf-again"
"""The header of a signal that sends an event once more."""
_LOCAL_ACTIVITY: Final = "core_local_activity"
"""The marker that the SDK records for a local activity."""


@dataclass(slots=True)
class StartedCall:
    """A call or a sub-workflow that an execution started."""

    id: str
    name: str
    """The function, or the definition."""
    kind: Literal["call", "subflow"]
    outcome: Outcome = "no result yet"
    result: Payload | None = None
    """Its result, if it is completed."""


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """An event that an execution received."""

    signal: str | None
    """The name of the signal that carried it; None for an update."""
    payloads: tuple[Payload, ...]
    is_repeated: bool = False
    """True if a rerun has sent it once more: an earlier run had received it."""

    async def sent(self, client: Client) -> SentEvent:
        """Return the event as an instance receives it."""
        values = await client.data_converter.decode(self.payloads, [RawValue] * len(self.payloads))
        return SentEvent(self.signal, values[0] if values else None)

    async def send(self, client: Client, workflow_id: str) -> None:
        """Send it to an instance once more. Raises UsageError if the instance does not exist, or has ended."""
        values = await client.data_converter.decode(self.payloads)
        if self.signal is None:
            await send(client, workflow_id, values[0])
            return
        try:
            await client.get_workflow_handle(workflow_id).signal(self.signal, args=values)
        except RPCError as error:
            raise not_there(error, workflow_id) from None


@dataclass(frozen=True, slots=True)
class MailboxMessage:
    """A message of an instance to a mailbox."""

    mailbox: str
    payloads: tuple[Payload, ...]


@dataclass(slots=True)
class HappenedSince:
    """The contents of a history after a workflow task."""

    done: list[StartedCall] = field(default_factory=list)
    """The calls started after it, in order, and those that had no result by then: they are made once more."""
    leading: list[ReceivedEvent] = field(default_factory=list)
    """The events of updates accepted by the task itself: a history has them after the task."""
    events: list[ReceivedEvent] = field(default_factory=list)
    """The events received later."""
    messages: list[MailboxMessage] = field(default_factory=list)
    """The messages that it sent to mailboxes: events that it returned by these, it has again."""


def end_of_task(events: Sequence[HistoryEvent], length: int) -> int | None:
    """Return the id of the event that ended the workflow task that began, or ended, at *length* events.

    None if it has not ended, or its worker has not completed it.
    """
    completed = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    return next((one.event_id for one in events[max(length - 1, 0) :] if one.event_type == completed), None)


def since_task(events: Sequence[HistoryEvent], task: int) -> HappenedSince:
    """Return what the history *events* has after the workflow task that ended with the event *task*."""
    found = HappenedSince()
    calls: dict[int, StartedCall] = {}
    """By the ids of their start events, calls that may have no result at the task, or started after it."""
    for event in events:
        kind = str(event.WhichOneof("attributes"))
        about: Any = getattr(event, kind)
        is_after = event.event_id > task
        begun = _begun(kind, about)
        if begun is not None and (is_after or _has_result_later(event)):
            calls[event.event_id] = begun
        began = getattr(about, "scheduled_event_id", 0) or getattr(about, "initiated_event_id", 0)
        outcome = _OUTCOMES.get(kind)
        if outcome is not None and began in calls:
            calls[began].outcome = outcome
            calls[began].result = _result(about)
            if not is_after:
                del calls[began]
        if is_after and (message := _message(kind, about)) is not None:
            found.messages.append(message)
        received = received_in(kind, about) if is_after else None
        if received is not None:
            is_leading = 0 < getattr(about, "accepted_request_sequencing_event_id", 0) < task
            (found.leading if is_leading else found.events).append(received)
    found.done = list(calls.values())
    return found


def latest_of(calls: Iterable[StartedCall]) -> dict[str, StartedCall]:
    """Return the latest state of each call, by its id: a completed one stays completed."""
    found: dict[str, StartedCall] = {}
    for one in calls:
        if one.id not in found or found[one.id].outcome != "completed":
            found[one.id] = one
    return found


async def since_length(client: Client, workflow_id: str, run: str, length: int) -> HappenedSince:
    """Return what happened in a *run* that has ended since its history had *length* events."""
    history = await client.get_workflow_handle(workflow_id, run_id=run).fetch_history()
    return since_task(history.events, length)


def _has_result_later(event: HistoryEvent) -> bool:
    """Return whether the result of what *event* starts may follow later: without one yet, it is made again."""
    about = event.start_child_workflow_execution_initiated_event_attributes
    is_waited_for = about.parent_close_policy == ParentClosePolicy.PARENT_CLOSE_POLICY_REQUEST_CANCEL
    return is_waited_for or event.HasField("activity_task_scheduled_event_attributes")


def _begun(kind: str, about: Any) -> StartedCall | None:
    """Return the external call that an event started, if any."""
    match kind:
        case "activity_task_scheduled_event_attributes" if about.activity_type.name not in _INSIDE:
            return StartedCall(about.activity_id, about.activity_type.name, "call")
        case "start_child_workflow_execution_initiated_event_attributes":
            if about.workflow_type.name not in WORKFLOW_TYPES:
                return StartedCall(about.workflow_id, about.workflow_type.name, "subflow")
        case "marker_recorded_event_attributes" if about.marker_name == _LOCAL_ACTIVITY:
            made = read_json(about.details["data"].payloads[0].data)
            if made["activity_type"] not in _INSIDE:
                outcome: Outcome = "failed" if about.HasField("failure") else "completed"
                result = next(iter(about.details["result"].payloads), None) if "result" in about.details else None
                return StartedCall(made["activity_id"], made["activity_type"], "call", outcome, result)
    return None


def _result(about: Any) -> Payload | None:
    """Return the result of a call or a sub-workflow from its final event."""
    return next(iter(about.result.payloads), None) if hasattr(about, "result") else None


def received_in(kind: str, about: Any) -> ReceivedEvent | None:
    """Return the event that an execution received by a history event of that *kind*, if it is one."""
    if kind == "workflow_execution_signaled_event_attributes" and about.signal_name not in _NO_EVENTS:
        return ReceivedEvent(about.signal_name, tuple(about.input.payloads), _AGAIN in about.header.fields)
    if kind == "workflow_execution_update_accepted_event_attributes" and about.accepted_request.input.name == DELIVER:
        return ReceivedEvent(None, tuple(about.accepted_request.input.args.payloads))
    return None


def _message(kind: str, about: Any) -> MailboxMessage | None:
    """Return the message to a mailbox that a history event represents, if it is one."""
    match kind:
        case "signal_external_workflow_execution_initiated_event_attributes" if about.signal_name == TAKE:
            return MailboxMessage(about.workflow_execution.workflow_id, tuple(about.input.payloads))
        case "start_child_workflow_execution_initiated_event_attributes" if about.workflow_type.name == MAILBOX:
            return MailboxMessage(about.workflow_id, tuple(about.input.payloads))
    return None


class _Repeating(OutboundInterceptor):
    """Marks the signals of a client as repeated ones."""

    async def signal_workflow(self, input: SignalWorkflowInput) -> None:  # noqa: A002 - the name of the SDK
        input.headers = {**input.headers, _AGAIN: Payload()}
        await super().signal_workflow(input)


class _RepeatingClients(Interceptor):
    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002 - as above
        return _Repeating(next)


def repeating(client: Client) -> Client:
    """Return *client*, for events that an earlier run has received: those without an id are known by nothing else."""
    config = client.config()
    config["interceptors"] = [*config["interceptors"], _RepeatingClients()]
    return type(client)(**config)


async def reclaim(client: Client, messages: Sequence[MailboxMessage]) -> None:
    """Notify the mailboxes of *messages* that an instance again has the events that it returned by them."""
    for message in messages:
        [value] = await client.data_converter.decode(message.payloads)
        parts = value.get("arrived", [value])  # a mailbox that did not run was begun with the message
        untaken = [Untaken.from_json(part) for part in parts if "untaken" in part]
        events = [one.event for part in untaken for one in part.untaken]
        if events:
            regained = Regained([digest_of_event(one.source, one.id) for one in events])
            await _signal(client, message.mailbox, regained)


async def _signal(client: Client, mailbox: str, regained: Regained) -> None:
    try:
        await client.get_workflow_handle(mailbox).signal(TAKE, regained.to_json())
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:  # it has ended, and keeps nothing
            raise not_there(error, mailbox) from None
