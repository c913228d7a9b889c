"""What is an instance waiting for, and until when? Read from its history."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.enums.v1 import EventType, PendingActivityState
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowHandle

_TASK_BEGINS = EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED
_TASK_ENDS = (EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,)
_CLOSED = {
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED: "completed",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED: "failed",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT: "timed out",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED: "cancelled",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED: "terminated",
}
_CHILD_ENDS = (
    EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED,
)


@dataclass(slots=True)
class Standing:
    """Where an instance stands."""

    events: int = 0
    """How long its history is."""
    ended: str | None = None
    """How it ended, if it has."""
    is_busy: bool = True
    """Whether a worker has to do something for it. It has from the start, though the first task may come late."""
    timers: dict[str, datetime] = field(default_factory=dict)
    """When each is due, in the instance's own time."""
    children: list[str] = field(default_factory=list)
    """The ids of the sub-workflows that it started, ended ones too."""
    open_children: int = 0
    resting: list[str] = field(default_factory=list)
    """The ids of activities that wait for their next attempt."""

    def read(self, event: HistoryEvent) -> None:
        """Take in the next event of the history."""
        self.events += 1
        kind = event.event_type
        if kind == _TASK_BEGINS:
            self.is_busy = True
        elif kind in _TASK_ENDS:
            self.is_busy = False
        elif kind == EventType.EVENT_TYPE_TIMER_STARTED:
            started = event.timer_started_event_attributes
            self.timers[started.timer_id] = _moment(event.event_time) + _length(started.start_to_fire_timeout)
        elif kind == EventType.EVENT_TYPE_TIMER_FIRED:
            self.timers.pop(event.timer_fired_event_attributes.timer_id, None)
        elif kind == EventType.EVENT_TYPE_TIMER_CANCELED:
            self.timers.pop(event.timer_canceled_event_attributes.timer_id, None)
        elif kind == EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED:
            self.children.append(event.start_child_workflow_execution_initiated_event_attributes.workflow_id)
            self.open_children += 1
        elif kind in _CHILD_ENDS:
            self.open_children -= 1
        elif kind == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            limit = _length(event.workflow_execution_started_event_attributes.workflow_execution_timeout)
            if limit:
                self.timers["the execution"] = _moment(event.event_time) + limit
        self.ended = _CLOSED.get(kind, self.ended)


async def standing_of(handle: WorkflowHandle[Any, Any], waiting: Collection[tuple[str, str]]) -> Standing:
    """Return where the latest run of an instance stands. *waiting* are the calls that wait for their next attempt."""
    description = (await handle.describe()).raw_description
    standing = Standing()
    async for event in handle.fetch_history_events():
        standing.read(event)
    if standing.ended:
        # It may have ended since it was described: then nothing of that is pending any more.
        standing.is_busy = False
        return standing
    for pending in description.pending_activities:
        is_begun = pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
        if is_begun or (handle.id, pending.activity_id) not in waiting:
            standing.is_busy = True
        else:
            standing.resting.append(pending.activity_id)
    return standing


def _moment(time: Timestamp) -> datetime:
    return time.ToDatetime(tzinfo=UTC)


def _length(length: Duration) -> timedelta:
    return length.ToTimedelta()
