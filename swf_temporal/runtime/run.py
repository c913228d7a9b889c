"""One running instance, whatever language its definition is written in.

A run has the clock, the ids, the trace, the inbox and the progress of an instance. What its definition says is done by
an *execution*, which the language makes of its program; all that an execution waits for and writes down goes through
its run.

Progress. Every path of execution writes down how far it is, in a frame of plain JSON that belongs to it; frames nest
as paths do. Asked to suspend, a run lets no path take another step: waits end at once, calls in flight are waited for
and their results written down, and `run` returns Suspended with the frames and what else must survive. A run that is
made with such a record takes the same way again; whatever its frame says is done is not done again, and what was
waited for is waited for until the same moment as before.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeAlias, TypedDict

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON
from swf_temporal.errors import WorkflowFault
from swf_temporal.runtime.execution import Execution
from swf_temporal.runtime.host import (
    Completed,
    ContinuedAs,
    Host,
    Instance,
    Limit,
    LimitRecord,
    Outcome,
    Suspended,
    TraceEntry,
    TraceKind,
)
from swf_temporal.runtime.inbox import Inbox, InboxRecord
from swf_temporal.runtime.joining import MISSING, SuspendRequested, within
from swf_temporal.runtime.trace import Tracer

Frame: TypeAlias = dict[str, Any]

MAX_STEPS_WITHOUT_WAIT = 200
"""After how many states or tasks in a row the host is given control."""


class ProgressRecord(TypedDict, total=False):
    """What survives the suspension of a run: this, and what the language's execution adds under keys of its own.

    A field that this release does not know belongs to a moment that has passed once the run goes on: it is passed over.
    """

    frame: Frame
    """How far every path is, in the language's terms."""
    input: JSON
    started: float
    """When the instance began, as seconds of the epoch."""
    inbox: InboxRecord
    numbers: dict[str, int]
    """How often each id was given."""
    limit: LimitRecord | float | None
    """What takes the place of the workflow's own timeout."""


class Program(Protocol):
    """A definition prepared for running: shared by all its runs, and never changed."""

    @property
    def id(self) -> str:
        """The id of the definition."""

    @property
    def semantics(self) -> int:
        """The number of the reading: see `runtime/semantics.py`."""

    def begin(self, run: "Run", record: Mapping[str, Any]) -> Execution:
        """Return what runs for *run*, going on from what an execution before wrote in *record*."""


class Run(Tracer):
    """One running instance."""

    def __init__(
        self,
        program: Program,
        host: Host,
        data: JSON,
        instance: Instance,
        progress: Mapping[str, Any] | None = None,
        limit: Limit | None = None,
    ) -> None:
        """Make an instance that begins with *data*, or goes on from *progress*.

        *limit* takes the place of the workflow's own timeout: a continuation may set it.
        """
        record = progress or {}
        self.host = host
        self.instance = instance
        self.input: JSON = record.get("input", data)
        self.inbox = Inbox(record.get("inbox"))
        self.frame: Frame = record.get("frame", {})
        self.limit = Limit.from_json(record.get("limit")) or limit
        self.numbers: dict[str, int] = dict(record.get("numbers", {}))
        """How often each id was given."""
        self.started: float = record.get("started", host.now().timestamp())
        """When the instance began, as seconds of the epoch."""
        self.awaited: dict[int, tuple[str, list[str], float | None]] = {}
        """What is waited for now: in which state, which events, until when."""
        self._suspending = False
        self._sleeping: dict[asyncio.Task[None], None] = {}
        self.cost = 0
        """How much was done in this activation: what the host's time has not moved on since."""
        self._charged_at: datetime | None = None
        self._steps = 0
        self._id = program.id
        self.execution = program.begin(self, record)

    # From outside

    async def run(self) -> Outcome:
        """Run to the end, or until suspended. Raises the WorkflowFault that the workflow failed with."""
        if not self.frame:
            self.emit(TraceKind.WORKFLOW_STARTED, self._id)
        try:
            outcome = await self.execution.execute()
        except SuspendRequested:
            return Suspended(self._progress())
        except WorkflowFault as fault:
            self.emit(TraceKind.WORKFLOW_FAILED, fault.name, code=fault.code, message=fault.message)
            raise
        match outcome:
            case Completed():
                self.emit(TraceKind.WORKFLOW_COMPLETED, self._id)
            case ContinuedAs():
                self.emit(TraceKind.WORKFLOW_CONTINUED, outcome.workflow_id)
        return outcome

    def deliver(self, event: CloudEvent) -> bool:
        """Take in an event. Never waits; returns False for an event that was taken in before."""
        return self.inbox.deliver(event)

    def suspend(self) -> None:
        """Ask every path to stop before its next step."""
        if not self._suspending:
            self._suspending = True
            self.inbox.interrupt()
            for task in list(self._sleeping):
                task.cancel()

    def awaits(self, event: CloudEvent) -> bool:
        """Tell whether a path of this instance waits for an event like *event*."""
        return self.inbox.is_awaited(event)

    # For an execution

    def _add_entry(self, kind: TraceKind, name: str, detail: dict[str, Any]) -> None:
        """Add an entry to the trace that belongs to no path of execution."""
        self.host.emit(TraceEntry(kind, "", "", name, self.host.now(), detail))

    def time(self) -> float:
        """Return the host's time as seconds of the epoch."""
        return self.host.now().timestamp()

    def checkpoint(self) -> None:
        """Pass, unless a suspension was asked for: called before every step that does something outside."""
        if self._suspending:
            raise SuspendRequested

    def charge(self, cost: int = 1) -> None:
        """Count work of this activation: what is done without the host's time moving on.

        An expression costs one. Nothing bounds the sum yet; this is what there is to bound.
        """
        now = self.host.now()
        if now is not self._charged_at and now != self._charged_at:
            self.cost, self._charged_at = 0, now
        self.cost += cost

    def next_id(self, what: str) -> str:
        """Return an id for *what* that was never given before in this run."""
        number = self.numbers[what] = self.numbers.get(what, 0) + 1
        return f"{what}#{number}"

    def has_gone_on(self) -> bool:
        """Count a step that waits for nothing by itself; tell whether the host is to be given control after it."""
        self._steps += 1
        if self._steps < MAX_STEPS_WITHOUT_WAIT:
            return False
        self._steps = 0
        return True

    async def time_out_at(self, moment: float, why: str) -> None:
        """Wait until *moment*. A suspension does not end the wait: while calls in flight finish, their time runs."""
        remaining = moment - self.time()
        if remaining > 0:
            await self.host.sleep(timedelta(seconds=remaining), why)

    async def sleep_until(self, moment: float, why: str) -> None:
        """Wait until *moment*; a suspension ends the wait."""
        self.checkpoint()
        remaining = moment - self.time()
        if remaining <= 0:
            return
        self._steps = 0
        sleeping = self.host.sleep(timedelta(seconds=remaining), why)
        task = asyncio.get_running_loop().create_task(sleeping)
        self._sleeping[task] = None
        try:
            await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if self._suspending and not (current and current.cancelling()):
                raise SuspendRequested from None
            raise
        finally:
            del self._sleeping[task]

    async def next_event(
        self, accepts: Callable[[CloudEvent], bool], refs: Sequence[str], deadline: float | None, state: str
    ) -> CloudEvent | None:
        """Return the next event that *accepts* accepts, or None if *deadline* comes first.

        *refs* are the names of what *state* waits for: they are told to those who ask how far the instance is.
        """
        self._steps = 0
        waiting = id(accepts)
        self.awaited[waiting] = (state, list(refs), deadline)
        try:
            if deadline is None:
                return await self.inbox.wait(accepts)
            why = f"waiting for {', '.join(refs)}"
            got = await within(self.inbox.wait(accepts), self.time_out_at(deadline, why))
            return None if got is MISSING else got
        finally:
            del self.awaited[waiting]

    def _progress(self) -> dict[str, Any]:
        """Return all that must survive a suspension, as plain JSON."""
        record: ProgressRecord = {
            "frame": self.frame,
            "input": self.input,
            "started": self.started,
            "inbox": self.inbox.to_json(),
            "numbers": self.numbers,
            "limit": None if self.limit is None else self.limit.to_json(),
        }
        kept = {**record, **self.execution.record()}
        return {key: value for key, value in kept.items() if value not in ({}, [], None) or key == "input"}
