"""An instance and its sub-workflows, with all work in progress.

Theory of operation. That a run is idle must be known, not guessed from a lack of activity. So everything that was begun
and has not arrived is recorded as *in progress*: a workflow that is to begin, a call that may answer, a signal that was
sent, an execution that is about to close. The runner of the workflows reports the jobs and the commands of each, before
the server gets the latter. While nothing is in progress, all of them wait for something due, which is in their agenda,
or for events.

Due items are released one at a time, by the keys of the simulation's clock; a function that is called has to wait for
its turn, so that both hosts use the same order.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from temporalio.bridge.proto.child_workflow import ParentClosePolicy
from temporalio.bridge.proto.workflow_activation import WorkflowActivationJob
from temporalio.bridge.proto.workflow_commands import WorkflowCommand

from swf_temporal.sdk.scenarios.virtual_time import CLOCK, CLOSING, ActivationReport, Issued
from swf_temporal.simulation.clock import DueKey


@dataclass(slots=True, eq=False)
class Member:
    """An instance: the main one, or a sub-workflow."""

    workflow_id: str
    place: tuple[int, ...] = ()
    parent_run: str | None = None
    seq: int = 0
    """The sequence number of the parent's command that started it."""
    policy: int = 0
    """Its parent close policy."""
    run_id: str | None = None
    """Its latest execution, once it has begun."""
    ended: str | None = None
    """How it ended, if it has."""
    ended_at: int = 0
    is_reported: bool = False
    """Whether its parent has been notified of its end."""
    is_cancelled: bool = False
    """Whether it was cancelled, and has been notified."""
    news: int = 0
    """The number of times that something arrived for it."""
    closing: list[tuple[str, str, int]] = field(default_factory=list)
    """Items in progress because it asked to be closed: dropped if the server refuses that."""


@dataclass(slots=True, eq=False)
class PendingCall:
    """A function call, or an event to be sent, that has no answer yet."""

    member: Member
    run_id: str
    seq: int
    end: int | None = None
    """When it times out, in microseconds."""
    attempt: int = 1
    """The number of the current attempt, not counting lost ones."""
    asked: int = 0
    """The number of Temporal's attempt that waits for its turn."""
    is_over: bool = False
    """Whether its answer is no longer needed."""
    turn: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(slots=True, eq=False)
class Due:
    key: DueKey
    kind: str
    """`timer` (fires), `call` (has its turn), `activity` or `child` (times out)."""
    member: Member
    run_id: str
    seq: int


class Agenda:
    """Everything due, and the calls that wait for their turn or for their answer."""

    def __init__(self) -> None:
        self.now = 0
        """Microseconds since the run began."""
        self._step = 0
        self._numbers = count(1)
        self._due: dict[tuple[str, str, int], Due] = {}
        """By kind, run and sequence number."""
        self._calls: dict[tuple[str, int], PendingCall] = {}
        self._calls_by_id: dict[tuple[str, str], PendingCall] = {}

    def next(self) -> Due | None:
        return min(self._due.values(), key=lambda one: one.key, default=None)

    def step(self) -> None:
        """Begin the next step: requests from now on come after earlier ones."""
        self._step += 1

    def add(self, kind: str, member: Member, run_id: str, seq: int, after: int) -> None:
        """Record something due after *after* microseconds, unless it is recorded already."""
        key = DueKey(self.now + after, self._step, member.place, next(self._numbers))
        self._due.setdefault((kind, run_id, seq), Due(key, kind, member, run_id, seq))

    def add_call(self, member: Member, run_id: str, seq: int, activity_id: str, limit: int | None) -> None:
        """Record a call that waits for its turn, with a time limit for all of its attempts."""
        if (run_id, seq) in self._calls:
            return  # the workflow task is repeated
        call = PendingCall(member, run_id, seq, None if limit is None else self.now + limit)
        self._calls[run_id, seq] = self._calls_by_id[run_id, activity_id] = call
        self.add("call", member, run_id, seq, 0)
        if limit is not None:
            self.add("activity", member, run_id, seq, limit)

    def call(self, run_id: str, activity_id: str) -> PendingCall | None:
        """Return the call that an activity is to answer, or None if the answer is no longer needed."""
        return self._calls_by_id.get((run_id, activity_id))

    def release(self, due: Due) -> None:
        """Remove *due*, which happens now: a call has its turn, or times out."""
        self.drop(due.kind, due.run_id, due.seq)
        if due.kind == "activity":
            self.drop_call(due.run_id, due.seq)
        elif due.kind == "call":
            self._calls[due.run_id, due.seq].turn.set()

    def park(self, call: PendingCall, after: int) -> bool:
        """Give *call* its next turn after *after* microseconds; return whether its answer is still needed."""
        call.turn.clear()
        if not call.is_over:
            self.add("call", call.member, call.run_id, call.seq, after)
        return not call.is_over

    def drop(self, kind: str, run_id: str, seq: int) -> None:
        """Remove something that will not happen."""
        self._due.pop((kind, run_id, seq), None)

    def drop_call(self, run_id: str, seq: int) -> None:
        """Remove a call whose answer is no longer needed."""
        self.drop("call", run_id, seq)
        self.drop("activity", run_id, seq)
        call = self._calls.get((run_id, seq))
        if call is not None:
            call.is_over = True

    def drop_run(self, run_id: str | None) -> None:
        """Remove everything of an execution that has closed, and release its calls."""
        self._due = {key: one for key, one in self._due.items() if one.run_id != run_id}
        self._release_calls([call for call in self._calls.values() if call.run_id == run_id])

    def close(self) -> None:
        """Release all calls: their answers are no longer needed."""
        self._release_calls(list(self._calls.values()))

    def _release_calls(self, calls: list[PendingCall]) -> None:
        for call in calls:
            self.drop_call(call.run_id, call.seq)
            call.turn.set()


PendingKey = tuple[str, str, int]
"""The key of work in progress: its kind, the run or instance that it belongs to, and its number there."""


class Family:
    """A main instance, all instances that it led to, and their time."""

    def __init__(self, workflow_id: str, on_closing: Callable[[Member, str | None], None]) -> None:
        """Make the family of a main instance that is about to be started.

        *on_closing* is called with an execution that is about to close, or an instance if its execution is unknown.
        It polls the server, and calls `closed` afterwards.
        """
        self.agenda = Agenda()
        self.main = Member(workflow_id)
        self.members = {workflow_id: self.main}
        self.traces: dict[str, Sequence[dict[str, Any]]] = {}
        """The trace of each execution of the main instance that asked to be closed, in order."""
        self._on_closing = on_closing
        self._under_way: set[PendingKey] = {("begin", workflow_id, 0)}
        self._calm = asyncio.Event()
        self._children: dict[tuple[str, int], Member] = {}
        self._deliveries: dict[tuple[str, int], Member] = {}
        self._closed: set[str] = set()
        """The executions that the server has closed."""

    async def calm(self) -> None:
        """Wait until nothing is in progress."""
        await self._calm.wait()

    @property
    def under_way(self) -> list[str]:
        """The work in progress, in words."""
        return [" ".join(map(str, one)) for one in sorted(self._under_way)]

    @property
    def open(self) -> list[Member]:
        """The instances that have begun and not ended, in order."""
        return sorted((one for one in self.members.values() if one.run_id and not one.ended), key=lambda m: m.place)

    def expect(self, kind: str, member: Member) -> None:
        """Record that something was sent to *member*."""
        self._begin((kind, member.workflow_id, 0))

    def forget(self, kind: str, member: Member) -> None:
        """Record that something sent to *member* will not arrive."""
        self._end((kind, member.workflow_id, 0))

    def take(self, report: ActivationReport) -> None:
        """Process the jobs that an execution got, and the commands that it issued."""
        member = self.members[report.workflow_id]
        member.news += 1
        if report.trace is not None:
            self.traces[report.run_id] = report.trace
        if member.run_id == report.run_id and not report.is_closing:
            # The server refused to close it, since something arrived in between.
            while member.closing:
                self._under_way.discard(member.closing.pop())
        for job in report.jobs:
            self._came(member, report.run_id, job)
        for issued in report.issued:
            self._asked(member, report.run_id, issued)
        self._look()

    def _came(self, member: Member, run_id: str, job: WorkflowActivationJob) -> None:
        match job.WhichOneof("variant"):
            case "initialize_workflow":
                member.run_id = run_id
                self._under_way.discard(("begin", member.workflow_id, 0))
            case "signal_workflow":
                kind = "clock" if job.signal_workflow.signal_name == CLOCK else "signal"
                self._under_way.discard((kind, member.workflow_id, 0))
            case "cancel_workflow":
                member.is_cancelled = True
                self._under_way.discard(("cancel", member.workflow_id, 0))
            case "resolve_request_cancel_external_workflow":
                seq = job.resolve_request_cancel_external_workflow.seq
                self._under_way.discard(("asking", run_id, seq))
            case "resolve_activity":
                seq = job.resolve_activity.seq
                self._under_way.discard(("activity", run_id, seq))
                self.agenda.drop_call(run_id, seq)
            case "resolve_child_workflow_execution_start":
                start = job.resolve_child_workflow_execution_start
                self._under_way.discard(("start", run_id, start.seq))
                self._deliveries[run_id, start.seq] = member
                if not start.HasField("succeeded"):
                    self._never_began(self._children[run_id, start.seq])
            case "resolve_child_workflow_execution":
                seq = job.resolve_child_workflow_execution.seq
                self._under_way.discard(("result", run_id, seq))
                self.agenda.drop("child", run_id, seq)
                self._children[run_id, seq].is_reported = True
                self._deliveries[run_id, seq] = member

    def _asked(self, member: Member, run_id: str, issued: Issued) -> None:
        command = issued.command
        kind = command.WhichOneof("variant")
        if kind == "start_timer":
            self.agenda.add("timer", member, run_id, command.start_timer.seq, issued.after or 0)
        elif kind == "cancel_timer":
            self.agenda.drop("timer", run_id, command.cancel_timer.seq)
        elif kind == "schedule_activity":
            activity = command.schedule_activity
            self.agenda.add_call(member, run_id, activity.seq, activity.activity_id, issued.after)
        elif kind == "schedule_local_activity":
            self._under_way.add(("activity", run_id, command.schedule_local_activity.seq))
        elif kind == "request_cancel_activity":
            self.agenda.drop_call(run_id, command.request_cancel_activity.seq)
            self._under_way.add(("activity", run_id, command.request_cancel_activity.seq))
        elif kind == "start_child_workflow_execution":
            self._start_child(member, run_id, issued)
        elif kind == "request_cancel_external_workflow_execution":
            request = command.request_cancel_external_workflow_execution
            self._under_way.add(("asking", run_id, request.seq))
            self._cancel(self.members[request.workflow_execution.workflow_id])
        elif kind == "cancel_child_workflow_execution":
            self._cancel(self._children[run_id, command.cancel_child_workflow_execution.child_workflow_seq])
        elif kind in CLOSING:
            self._close(member, run_id, command)

    def _start_child(self, parent: Member, run_id: str, issued: Issued) -> None:
        asked = issued.command.start_child_workflow_execution
        if (run_id, asked.seq) in self._children:
            return  # the workflow task is repeated
        child = Member(asked.workflow_id, issued.place, run_id, asked.seq, asked.parent_close_policy)
        self.members[asked.workflow_id] = self._children[run_id, asked.seq] = child
        self._under_way |= {("begin", asked.workflow_id, 0), ("start", run_id, asked.seq)}
        if issued.after is not None:
            self.agenda.add("child", parent, run_id, asked.seq, issued.after)

    def _cancel(self, member: Member) -> None:
        if not member.ended and not member.is_cancelled:
            self._under_way.add(("cancel", member.workflow_id, 0))

    def _close(self, member: Member, run_id: str, command: WorkflowCommand) -> None:
        member.closing = [("close", run_id, 0)]
        if command.HasField("continue_as_new_workflow_execution"):
            member.closing.append(("begin", member.workflow_id, 0))
        self._under_way.update(member.closing)
        self._on_closing(member, run_id)

    def closed(self, member: Member, run_id: str | None, how: str | None) -> None:
        """Process that the server has closed an execution, and how; None if it continued as new."""
        if run_id is not None:
            self._closed.add(run_id)
        if member.run_id in (run_id, None):
            member.closing.clear()
        self._under_way -= {one for one in self._under_way if one[1] == run_id}
        self._deliveries = {key: one for key, one in self._deliveries.items() if key[0] != run_id}
        self.agenda.drop_run(run_id)
        if how is not None:
            self._ended(member, how)
        for (parent_run, _), child in list(self._children.items()):
            if parent_run == run_id and not child.ended:
                self._orphaned(child)
        self._look()

    def _ended(self, member: Member, how: str) -> None:
        if member.ended:
            return
        member.ended, member.ended_at = how, self.agenda.now
        for kind in ("begin", "clock", "signal", "cancel", "end"):
            self._under_way.discard((kind, member.workflow_id, 0))
        if member.parent_run and member.parent_run not in self._closed and not member.is_reported:
            self._under_way.add(("result", member.parent_run, member.seq))

    def _never_began(self, member: Member) -> None:
        for kind in ("begin", "cancel"):
            self._under_way.discard((kind, member.workflow_id, 0))
        member.is_reported, member.ended = True, "never begun"
        if member.parent_run:
            self.agenda.drop("child", member.parent_run, member.seq)

    def _orphaned(self, child: Member) -> None:
        """Expect what the server does to a sub-workflow whose parent has closed."""
        if child.policy == ParentClosePolicy.PARENT_CLOSE_POLICY_TERMINATE:
            self.terminated(child)
        elif child.policy == ParentClosePolicy.PARENT_CLOSE_POLICY_REQUEST_CANCEL:
            self._cancel(child)

    def terminated(self, member: Member) -> None:
        """Expect *member* to close, since it is being terminated."""
        self._begin(_termination(member))
        self._on_closing(member, member.run_id)

    def _begin(self, token: PendingKey) -> None:
        self._under_way.add(token)
        self._look()

    def _end(self, token: PendingKey) -> None:
        self._under_way.discard(token)
        self._look()

    def _look(self) -> None:
        if self._under_way:
            self._calm.clear()
        else:
            self._calm.set()

    def deliveries(self) -> dict[str, tuple[Member, list[int]]]:
        """Return undelivered news of sub-workflows by run: the member to notify, and its children's numbers."""
        found: dict[str, tuple[Member, list[int]]] = {}
        for (run_id, seq), member in sorted(self._deliveries.items(), key=lambda one: one[0]):
            found.setdefault(run_id, (member, []))[1].append(seq)
        self._deliveries = {}
        return found

    def release(self, due: Due) -> None:
        """Carry out *due* as far as possible here: a call has its turn, or times out."""
        self.agenda.release(due)
        if due.kind in {"activity", "call"}:
            self._begin(("activity", due.run_id, due.seq))

    def park(self, call: PendingCall, after: int) -> None:
        """Give *call* its next turn after *after* microseconds."""
        if self.agenda.park(call, after):
            self._end(("activity", call.run_id, call.seq))

    def child(self, due: Due) -> Member:
        """Return the sub-workflow that has timed out."""
        return self._children[due.run_id, due.seq]


def _termination(member: Member) -> PendingKey:
    return ("end", member.workflow_id, 0)
