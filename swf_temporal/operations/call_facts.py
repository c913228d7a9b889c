"""Calls and sub-workflows of a run, as its history has them: who made them, their attempts, and how each ended.

Of the failed attempts Temporal keeps the last one's failure, which also has what the workers told of those before. As
long as a call is in progress, only the server's description of the instance has that.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple

from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.converter import DataConverter
from temporalio.exceptions import ApplicationError

from swf_temporal.base.errors import PayloadUnavailable, WorkflowFault
from swf_temporal.base.strict_json import read_json
from swf_temporal.temporal.call_records import FailedAttempt, attempts_in, carried

_ENDS: Final = {
    "completed": "completed",
    "failed": "failed",
    "timed_out": "timed out",
    "canceled": "cancelled",
    "terminated": "terminated",
}
_OUTCOMES: Final = {
    f"{what}_{end}_event_attributes": outcome
    for what in ("activity_task", "child_workflow_execution")
    for end, outcome in _ENDS.items()
}
_LOCAL: Final = "core_local_activity"
"""The marker that the SDK records for a local activity."""


@dataclass(slots=True)
class CallFacts:
    """A call or a sub-workflow, as the history has it."""

    id: str
    name: str
    kind: Literal["call", "local call", "subflow"]
    scheduled: datetime
    queue: str = ""
    """The task queue."""
    began: datetime | None = None
    """When its last attempt began."""
    ended: datetime | None = None
    outcome: str = "in progress"
    attempts: int = 1
    """The number of attempts so far."""
    worker: str = ""
    """The identity of the worker that made the last attempt."""
    failed: list[FailedAttempt] = field(default_factory=list)
    """The failed attempts that are known, in order."""
    fault: WorkflowFault | None = None
    """The error of the latest attempt that failed."""
    run: str = ""
    """The run of a sub-workflow."""
    following: datetime | None = None
    """When its next attempt begins."""

    @property
    def untold(self) -> int:
        """The number of failed attempts of which nothing is known."""
        made = self.attempts if self.outcome in ("failed", "timed out") else self.attempts - 1
        return max(0, made - len(self.failed))


def calls_in(
    events: Iterable[HistoryEvent], pending: Iterable[PendingActivityInfo], converter: DataConverter
) -> "CallReader":
    """Return a reader of the calls in the history *events*; *pending* are those in progress."""
    return CallReader(list(events), {one.activity_id: one for one in pending}, converter)


class CallReader(NamedTuple):
    """Reads the calls of one history."""

    events: list[HistoryEvent]
    pending: Mapping[str, PendingActivityInfo]
    converter: DataConverter

    async def read(self) -> dict[str, list[CallFacts]]:
        """Return the calls by their ids; one that did not stay local is there twice."""
        found: dict[str, list[CallFacts]] = {}
        by_event: dict[int, CallFacts] = {}
        for event in self.events:
            kind = str(event.WhichOneof("attributes"))
            about: Any = getattr(event, kind)
            begun = await self._begun(event, kind, about)
            if begun is not None:
                by_event[event.event_id] = begun
                found.setdefault(begun.id, []).append(begun)
                continue
            first = getattr(about, "scheduled_event_id", 0) or getattr(about, "initiated_event_id", 0)
            if first in by_event:
                await self._note(by_event[first], event, kind, about)
        for id_, waiting in self.pending.items():
            if id_ in found:
                await self._add_pending(found[id_][-1], waiting)
        return found

    async def _begun(self, event: HistoryEvent, kind: str, about: Any) -> CallFacts | None:
        at = _time(event.event_time)
        match kind:
            case "activity_task_scheduled_event_attributes":
                return CallFacts(about.activity_id, about.activity_type.name, "call", at, about.task_queue.name)
            case "start_child_workflow_execution_initiated_event_attributes":
                return CallFacts(about.workflow_id, about.workflow_type.name, "subflow", at, about.task_queue.name)
            case "marker_recorded_event_attributes" if about.marker_name == _LOCAL:
                made = read_json(about.details["data"].payloads[0].data)
                facts = CallFacts(made["activity_id"], made["activity_type"], "local call", at, ended=at)
                facts.outcome = "failed" if about.HasField("failure") else "completed"
                if about.HasField("failure"):
                    await self._add_failure(facts, about.failure)
                return facts
        return None

    async def _note(self, facts: CallFacts, event: HistoryEvent, kind: str, about: Any) -> None:
        if kind == "activity_task_started_event_attributes":
            facts.began, facts.worker, facts.attempts = _time(event.event_time), about.identity, about.attempt
            if about.HasField("last_failure"):
                await self._add_failure(facts, about.last_failure)
        elif kind == "child_workflow_execution_started_event_attributes":
            facts.began, facts.run = _time(event.event_time), about.workflow_execution.run_id
        elif kind in _OUTCOMES:
            facts.outcome, facts.ended = _OUTCOMES[kind], _time(event.event_time)
            if hasattr(about, "failure") and about.HasField("failure"):
                await self._add_failure(facts, about.failure)

    async def _add_failure(self, facts: CallFacts, failure: Failure) -> None:
        """Note an attempt that failed with *failure*, and what that reports of those before it."""
        try:
            error = await self.converter.decode_failure(failure)
        except (PayloadUnavailable, ValueError, RuntimeError):
            facts.fault = WorkflowFault("what it failed with cannot be read here", name="Unreadable")
            return
        cause = error if isinstance(error, ApplicationError) else error.__cause__ or error
        told = attempts_in(cause)
        if told:
            facts.failed = told
            facts.attempts = max(facts.attempts, told[-1].number)
        facts.fault = carried(cause) if isinstance(cause, ApplicationError) else WorkflowFault(str(cause), name="Lost")

    async def _add_pending(self, facts: CallFacts, pending: PendingActivityInfo) -> None:
        facts.attempts = max(facts.attempts, pending.attempt)
        facts.worker = pending.last_worker_identity or facts.worker
        if pending.HasField("last_started_time"):
            facts.began = _time(pending.last_started_time)
        if pending.HasField("last_failure"):
            await self._add_failure(facts, pending.last_failure)
        rests = not facts.worker or (facts.failed and facts.failed[-1].number >= pending.attempt - 1)
        if pending.attempt > 1 and rests and pending.HasField("next_attempt_schedule_time"):
            facts.following = _time(pending.next_attempt_schedule_time)


def _time(stamp: Timestamp) -> datetime:
    return stamp.ToDatetime(tzinfo=UTC)
