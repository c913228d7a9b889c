"""The audit trail of an instance: what was done to it from outside, when, by whom and why.

It is read from the history, which has the identity of every request (`identity.py`); nothing else is stored.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from temporalio.api.common.v1 import Payload, WorkflowExecution
from temporalio.api.enums.v1 import WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryReverseRequest
from temporalio.client import WorkflowExecutionDescription
from temporalio.converter import DataConverter
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.errors import PayloadUnavailable
from swf_temporal.operations.client import Client
from swf_temporal.operations.identity import reason_in
from swf_temporal.operations.instance_history import record_of_start, why_again
from swf_temporal.temporal.client_errors import not_there
from swf_temporal.temporal.constants import CHANGE_DATA
from swf_temporal.temporal.happened_since import received_in

MAX_ENTRIES: Final = 100
"""The number of entries of a trail: the latest."""
_MAX_READ: Final = 5000
"""The number of events of a history that are read for it: the latest."""
_PAGE: Final = 500
_SERVER: Final = "history-service"
"""The identity of the server itself, such as when it ends a run because another begins."""
_REPLACED: Final = "TerminateIfRunning WorkflowIdReusePolicy"
_RESTARTED: Final = "another run began"
_RESET: Final = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW
_HIDDEN: Final = (RPCStatusCode.NOT_FOUND, RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED)
_UNREADABLE: Final = (ValueError, RuntimeError, PayloadUnavailable)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Something that was done to an instance from outside."""

    at: datetime
    what: str
    """Such as `started`, `event`, `paused` or `terminated`."""
    by: str
    """Who did it; the id of a workflow, such as the parent; empty if it was the server."""
    detail: str = ""
    """The reason that was given, or the name or the type of an event."""

    def facts(self) -> dict[str, str]:
        """Return it as JSON."""
        found = {"at": self.at.isoformat(timespec="seconds"), "what": self.what, "by": self.by, "detail": self.detail}
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class AuditTrail:
    """The audit trail of one run of an instance: the latest entries, in order."""

    run_id: str
    length: int
    """The number of events in the history that it was read from."""
    entries: Sequence[AuditEntry]

    def facts(self) -> list[dict[str, str]]:
        """Return it as JSON."""
        return [one.facts() for one in self.entries]


async def audit_trail(
    client: Client, execution: WorkflowExecutionDescription, known: AuditTrail | None = None
) -> AuditTrail:
    """Return the audit trail of a run. Of one that is *known* from an earlier time, only what followed is read.

    It is empty if the server no longer has the run, or does not let the caller read its history.
    """
    known = known if known is not None and known.run_id == execution.run_id else None
    since = 0 if known is None else known.length
    latest, found = since, list[AuditEntry]()
    async for event in _back(client, execution, since):
        latest = max(latest, event.event_id)
        entry = await _entry_of(event, client.temporal.data_converter)
        if entry is not None:
            found.append(entry)
            if len(found) == MAX_ENTRIES:
                break
    entries = [*(() if known is None else known.entries), *reversed(found)]
    return AuditTrail(execution.run_id, latest, entries[-MAX_ENTRIES:])


async def _back(client: Client, execution: WorkflowExecutionDescription, since: int) -> AsyncIterator[HistoryEvent]:
    """Yield the events of a run after the event with the number *since*, the latest first."""
    token, read = b"", 0
    while read < _MAX_READ and (execution.history_length or 0) > since:
        asked = GetWorkflowExecutionHistoryReverseRequest(
            namespace=client.namespace,
            execution=WorkflowExecution(workflow_id=execution.id, run_id=execution.run_id),
            maximum_page_size=min(_PAGE, max(execution.history_length - since, 1)),
            next_page_token=token,
        )
        try:
            page = await client.temporal.workflow_service.get_workflow_execution_history_reverse(asked, retry=True)
        except RPCError as error:
            if error.status in _HIDDEN:
                return
            raise not_there(error, execution.id) from None
        for event in page.history.events:
            if event.event_id <= since:
                return
            yield event
        read, token = read + len(page.history.events), page.next_page_token
        if not token:
            return


async def _entry_of(event: HistoryEvent, converter: DataConverter) -> AuditEntry | None:
    kind = str(event.WhichOneof("attributes"))
    about: Any = getattr(event, kind)
    at = event.event_time.ToDatetime(tzinfo=UTC)
    if (said := _PLAIN.get(kind)) is not None:
        what, reason_of = said
        by = _sender(about) or ("" if about.identity == _SERVER else about.identity)
        sent = reason_of(about)
        return AuditEntry(at, what, by, _RESTARTED if sent == _REPLACED else reason_in(sent, about.identity))
    if kind == "workflow_execution_started_event_attributes" and not about.continued_execution_run_id:
        return AuditEntry(at, why_again(await record_of_start(converter, about.input.payloads)), about.identity)
    if kind == "workflow_task_failed_event_attributes" and about.cause == _RESET:
        return AuditEntry(at, "reset", "", about.failure.message)  # the server does not keep who asked for it
    if kind == "workflow_execution_update_accepted_event_attributes":
        asked = about.accepted_request
        if asked.input.name == CHANGE_DATA:
            return AuditEntry(at, "data changed", asked.meta.identity)
        by = asked.meta.identity
    else:
        by = _sender(about) or getattr(about, "identity", "")
    received = received_in(kind, about)
    if received is None:
        return None
    return AuditEntry(at, "event", by, await _name_of(received.payloads, converter) or received.signal or "")


def _sender(about: Any) -> str:
    """Return the id of the workflow that caused an event; empty if it was none."""
    return str(about.external_workflow_execution.workflow_id) if hasattr(about, "external_workflow_execution") else ""


async def _name_of(payloads: Sequence[Payload], converter: DataConverter) -> str:
    """Return the type of the event in *payloads*, or its name in the definition; empty if it has none."""
    try:
        value = next(iter(await converter.decode(list(payloads[:1]))), None)
    except _UNREADABLE:
        return ""
    value = value.get("event", value) if isinstance(value, dict) else None
    found = (value.get("type") or value.get("name")) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _cause(about: Any) -> str:
    return str(about.cause)


def _reason(about: Any) -> str:
    return str(about.reason)


_PLAIN: Final[dict[str, tuple[str, Callable[[Any], str]]]] = {
    "workflow_execution_cancel_requested_event_attributes": ("cancellation requested", _cause),
    "workflow_execution_terminated_event_attributes": ("terminated", _reason),
    "workflow_execution_paused_event_attributes": ("paused", _reason),
    "workflow_execution_unpaused_event_attributes": ("resumed", _reason),
}
"""Events that a person can cause, by the names of their attributes, and where they have the reason."""
