"""Resetting an execution: the server begins another one, which has the history up to a workflow task, and goes on.

What the history has after that task was done outside, and is not undone by a reset: it is told before.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal
from uuid import uuid4  # noqa: TID251 - a client's

from temporalio.api.common.v1 import Payload, WorkflowExecution
from temporalio.api.enums.v1 import EventType, ParentClosePolicy, ResetReapplyExcludeType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client
from temporalio.common import RawValue
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.errors import UsageError
from swf_temporal.runtime.names import WORKFLOW_TYPES
from swf_temporal.strict_json import NotJSON, read_json
from swf_temporal.temporal.client import send
from swf_temporal.temporal.client_errors import not_there
from swf_temporal.temporal.constants import DELIVER, ENDING, PLACE, PROBE
from swf_temporal.temporal.given_back import Posted, posted
from swf_temporal.temporal.going_on import Sent
from swf_temporal.temporal.place_records import TELL
from swf_temporal.temporal.records import EVALUATE, LIMITS, RESOLVE

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
_INSIDE: Final = frozenset({EVALUATE, LIMITS, RESOLVE, ENDING, TELL, "read variable"})
"""Activities that change nothing outside."""
_NO_EVENTS: Final = (PROBE, PLACE)
"""Signals that carry no events."""
_LOCAL_ACTIVITY: Final = "core_local_activity"
"""The marker that the SDK makes of a local activity."""
_EXCLUDED: Final = (ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_CANCEL_REQUEST,)
"""A cancellation is what the reset is to take back."""
_EVENTS: Final = (
    ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL,
    ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE,
)


@dataclass(slots=True)
class Done:
    """A call, or a sub-workflow, that an execution began."""

    id: str
    name: str
    """The function, or the definition."""
    kind: Literal["call", "subflow"]
    outcome: Outcome = "no result yet"


@dataclass(frozen=True, slots=True)
class Came:
    """An event that came to an execution."""

    signal: str | None
    """The name of the signal that carried it; None for an update."""
    payloads: tuple[Payload, ...]

    async def sent(self, client: Client) -> Sent:
        """Return what was sent, as an instance gets it."""
        values = await client.data_converter.decode(self.payloads, [RawValue] * len(self.payloads))
        return Sent(self.signal, values[0] if values else None)

    async def send(self, client: Client, workflow_id: str) -> None:
        """Send it to an instance once more. Raises UsageError if the instance is not there, or has ended."""
        values = await client.data_converter.decode(self.payloads)
        if self.signal is None:
            await send(client, workflow_id, values[0])
            return
        try:
            await client.get_workflow_handle(workflow_id).signal(self.signal, args=values)
        except RPCError as error:
            raise not_there(error, workflow_id) from None


@dataclass(slots=True)
class After:
    """What a history has after the workflow task to which it is to be reset."""

    done: list[Done] = field(default_factory=list)
    """What was begun after it, in order, and the calls that had no result by then: they are made once more."""
    leading: list[Came] = field(default_factory=list)
    """The events that the task itself took by updates: a history has them after the task."""
    events: list[Came] = field(default_factory=list)
    """The events that came later."""
    stopped: list[str] = field(default_factory=list)
    """The ids of sub-workflows that were waited for at the task, and were cancelled later: it would be told of that."""
    posted: list[Posted] = field(default_factory=list)
    """The messages that it sent to mailboxes: what it gave back by these, it has again."""
    overdue: list[str] = field(default_factory=list)
    """The summaries of timers that run at the task and are due already."""


def end_of_task(events: Sequence[HistoryEvent], length: int) -> int | None:
    """Return the id of the event with which the workflow task ended that began when a history had *length* events.

    None if it has not ended, or its worker has not completed it.
    """
    completed = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    return next((one.event_id for one in events[length:] if one.event_type == completed), None)


def after_task(events: Sequence[HistoryEvent], task: int, now: datetime) -> After:
    """Return what the history *events* has after the workflow task that ended with the event *task*."""
    found = After()
    calls: dict[int, Done] = {}
    """By the ids of the events that began them, what may have no result at the task, or was begun after it."""
    children: dict[int, str] = {}
    """As those, the ids of sub-workflows that are waited for at the task."""
    for event in events:
        kind = str(event.WhichOneof("attributes"))
        about: Any = getattr(event, kind)
        is_after = event.event_id > task
        begun = _begun(kind, about)
        if begun is not None and (is_after or event.HasField("activity_task_scheduled_event_attributes")):
            calls[event.event_id] = begun
        began = getattr(about, "scheduled_event_id", 0) or getattr(about, "initiated_event_id", 0)
        outcome = _OUTCOMES.get(kind)
        if outcome is not None and began in calls:
            calls[began].outcome = outcome
            if not is_after:
                del calls[began]
        if begun is not None and not is_after and _is_waited_for(about):
            children[event.event_id] = begun.id
        stopped = children.pop(began, None) if outcome is not None else None
        if stopped is not None and is_after and outcome == "cancelled":
            found.stopped.append(stopped)
        if is_after and (message := posted(kind, about)) is not None:
            found.posted.append(message)
        came = _came(kind, about) if is_after else None
        if came is not None:
            is_leading = 0 < getattr(about, "accepted_request_sequencing_event_id", 0) < task
            (found.leading if is_leading else found.events).append(came)
    found.done = list(calls.values())
    found.overdue = [_summary(one) for one in _running_timers(events, task) if _due(one) <= now]
    return found


async def after_length(client: Client, workflow_id: str, run: str, length: int) -> After:
    """Return what a *run* that has ended has had since its history had *length* events."""
    history = await client.get_workflow_handle(workflow_id, run_id=run).fetch_history()
    return after_task(history.events, length, datetime.now(UTC))  # noqa: TID251 - a client's


def _is_waited_for(about: Any) -> bool:
    """Tell whether what an event began is a sub-workflow that is asked to cancel where its parent ends."""
    return getattr(about, "parent_close_policy", None) == ParentClosePolicy.PARENT_CLOSE_POLICY_REQUEST_CANCEL


def _running_timers(events: Sequence[HistoryEvent], task: int) -> Iterable[HistoryEvent]:
    timers: dict[int, HistoryEvent] = {}
    for event in events[: max(task - 1, 0)]:
        if event.HasField("timer_started_event_attributes"):
            timers[event.event_id] = event
        elif event.HasField("timer_fired_event_attributes"):
            timers.pop(event.timer_fired_event_attributes.started_event_id, None)
        elif event.HasField("timer_canceled_event_attributes"):
            timers.pop(event.timer_canceled_event_attributes.started_event_id, None)
    return timers.values()


async def reset(client: Client, workflow_id: str, run_id: str, task: int, reason: str, *, with_events: bool) -> str:
    """Let an instance go on from the workflow task of its run that ended with the event *task*; return the new run.

    It is given the events again that came after, if it is to have them. Raises UsageError if the server refuses.
    """
    wanted = ResetWorkflowExecutionRequest(
        namespace=client.namespace,
        workflow_execution=WorkflowExecution(workflow_id=workflow_id, run_id=run_id),
        reason=reason,
        workflow_task_finish_event_id=task,
        request_id=str(uuid4()),
        reset_reapply_exclude_types=_EXCLUDED if with_events else (*_EXCLUDED, *_EVENTS),
        identity=client.identity,
    )
    try:
        answer = await client.workflow_service.reset_workflow_execution(wanted, retry=True)
    except RPCError as error:
        if error.status == RPCStatusCode.INVALID_ARGUMENT:
            raise UsageError(f"the server does not reset {workflow_id!r}: {error.message}") from None
        raise not_there(error, workflow_id) from None
    return answer.run_id


def _begun(kind: str, about: Any) -> Done | None:
    """Return what an event began outside, if it began something."""
    match kind:
        case "activity_task_scheduled_event_attributes" if about.activity_type.name not in _INSIDE:
            return Done(about.activity_id, about.activity_type.name, "call")
        case "start_child_workflow_execution_initiated_event_attributes":
            if about.workflow_type.name not in WORKFLOW_TYPES:
                return Done(about.workflow_id, about.workflow_type.name, "subflow")
        case "marker_recorded_event_attributes" if about.marker_name == _LOCAL_ACTIVITY:
            made = read_json(about.details["data"].payloads[0].data)
            if made["activity_type"] not in _INSIDE:
                outcome: Outcome = "failed" if about.HasField("failure") else "completed"
                return Done(made["activity_id"], made["activity_type"], "call", outcome)
    return None


def _came(kind: str, about: Any) -> Came | None:
    if kind == "workflow_execution_signaled_event_attributes" and about.signal_name not in _NO_EVENTS:
        return Came(about.signal_name, tuple(about.input.payloads))
    if kind == "workflow_execution_update_accepted_event_attributes" and about.accepted_request.input.name == DELIVER:
        return Came(None, tuple(about.accepted_request.input.args.payloads))
    return None


def _due(event: HistoryEvent) -> datetime:
    started = event.event_time.ToDatetime(tzinfo=UTC)
    return started + event.timer_started_event_attributes.start_to_fire_timeout.ToTimedelta()


def _summary(event: HistoryEvent) -> str:
    try:
        return str(read_json(event.user_metadata.summary.data))
    except NotJSON:
        return f"timer {event.timer_started_event_attributes.timer_id}"
