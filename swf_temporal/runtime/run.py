"""One running instance, whatever language its definition is written in.

A run has the clock, the ids, the trace, the inbox and the progress of an instance. What its definition says is done by
an *execution*, which the language makes of its program; all that an execution waits for and writes down goes through
its run.

Progress. Every path of execution writes down how far it is, in a frame that belongs to it: a typed record. Frames nest
as paths do, and the outermost belongs to the execution. Asked to suspend, a run lets no path take another step: waits
end at once, calls in flight are waited for and their results written down, and `run` returns Suspended with the frames
and what else must survive. A run that is made with such a record takes the same way again; whatever its frame says is
done is not done again, and what was waited for is waited for until the same moment as before.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from swf_temporal.base.accounting import charge_to
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, merge_patch
from swf_temporal.base.errors import PayloadTooLarge, WorkflowFault
from swf_temporal.expressions.guarding.deferring import Evaluation, defer_here
from swf_temporal.expressions.guarding.helper import EngineAnswer
from swf_temporal.runtime.data_limit import DataLimit
from swf_temporal.runtime.evaluating import evaluated
from swf_temporal.runtime.execution import Execution
from swf_temporal.runtime.host import (
    Completed,
    ContinuedAs,
    ContinueTimeout,
    Host,
    InstanceIdentity,
    RunOutcome,
    Suspended,
    Timer,
    TraceEntry,
    TraceKind,
)
from swf_temporal.runtime.id_counters import IdCounters
from swf_temporal.runtime.inbox import Inbox, InboxRecord
from swf_temporal.runtime.joining import SuspendRequested, within
from swf_temporal.runtime.limits import CARRY_LESS, MAX_CALLS_IN_ONE_EXECUTION
from swf_temporal.runtime.pacing import Pacing
from swf_temporal.runtime.performing import size_of
from swf_temporal.runtime.progress import ProgressRecord
from swf_temporal.runtime.sharing import is_worth_sharing, with_copies, without_copies
from swf_temporal.runtime.suspension import Suspension
from swf_temporal.runtime.timer_order import TimerOrder
from swf_temporal.runtime.trace import Tracer

T = TypeVar("T")

_BRINGING: Final = {TraceKind.STATE_ENTERED: None, TraceKind.ACTION_COMPLETED: "result", TraceKind.EVENT_TAKEN: "data"}
"""The entries after which a run may have more data than before, and the detail that has what came from outside."""


class Awaited(NamedTuple):
    """The events that a path waits for."""

    state: str
    events: list[str]
    """The names of the events, any of which ends the wait."""
    deadline: float | None = None
    """Until when, as seconds of the epoch."""
    values: Mapping[str, Mapping[str, str]] = {}
    """Of each event that is correlated, what its attributes must be, by their names in lower case, as far as known."""


class Program(Protocol):
    """A definition prepared for running: shared by all its runs, and never changed."""

    @property
    def id(self) -> str:
        """The id of the definition."""

    @property
    def semantics(self) -> int:
        """The semantics number: see `runtime/semantics.py`."""

    def begin(self, run: "Run", frame: Mapping[str, Any] | None) -> Execution:
        """Return what runs for *run*, going on from the *frame* of an execution before, as JSON; None where it begins.

        Raises MalformedRecord for a frame that no release writes.
        """


class Run(Tracer):
    def __init__(
        self,
        program: Program,
        host: Host,
        data: JSON,
        instance: InstanceIdentity,
        progress: Mapping[str, Any] | None = None,
        limit: ContinueTimeout | None = None,
    ) -> None:
        """Make an instance that begins with *data*, or goes on from *progress*.

        *limit* takes the place of the workflow's own timeout: a continuation may set it.
        """
        record = ProgressRecord.from_json(with_copies(progress or {}))
        self.host = host
        self.instance = instance
        self.input = data if record.frame is None else record.input
        self.inbox = Inbox(record.inbox)
        self.limit = record.limit or limit
        self._id_counters = IdCounters(record.numbers)
        self.started = host.now().timestamp() if record.started is None else record.started
        """When the instance began, as seconds of the epoch."""
        self.pending_changes: list[JSON] = []
        """The patches that change the data of the running state, once every path has stopped."""
        self.awaited: dict[int, Awaited] = {}
        """What is waited for now."""
        self.on_wait: Callable[[Awaited], None] | None = None
        """Is told what a path begins to wait for."""
        self.on_begin: Callable[[], Awaitable[None]] | None = None
        """Is waited for before the first step."""
        self.on_leave: Callable[[ContinuedAs], Awaitable[None]] | None = None
        """Is waited for before the run goes on as another definition, and once more when that is told."""
        self._suspension = Suspension()
        self.semantics = program.semantics
        """The semantics number that it began with."""
        self._timer_order = TimerOrder(host)
        self._id = program.id
        self.pacing = Pacing(host)
        """When its host is given control."""
        self._data_limit = DataLimit(self.pacing.account, host.carries)
        self._data_limit.receive(self.input)
        self.is_new = record.frame is None
        """Whether no execution before has begun it."""
        self.execution = program.begin(self, record.frame)

    @property
    def numbers(self) -> dict[str, int]:
        """How often each id was given."""
        return self._id_counters.given

    # From outside

    async def run(self) -> RunOutcome:
        """Run to the end, or until suspended. Raises the WorkflowFault that the workflow failed with."""
        charge_to(self.pacing.account)
        defer_here()
        if self.is_new:
            self.emit(TraceKind.WORKFLOW_STARTED, self._id)
        try:
            if self.on_begin is not None:
                await self.on_begin()
            outcome = await self.execution.execute()
        except SuspendRequested:
            self._change_now()
            return Suspended(self.progress())
        except WorkflowFault as fault:
            self.emit(TraceKind.WORKFLOW_FAILED, fault.name, code=fault.code, message=fault.message)
            raise
        if isinstance(outcome, Completed):
            self.emit(TraceKind.WORKFLOW_COMPLETED, self._id)
        return outcome

    def deliver(self, event: CloudEvent, *, is_forwardable: bool = False) -> bool:
        """Take in an event. Never waits; returns False for an event that was taken in before."""
        return self.inbox.deliver(event, is_forwardable=is_forwardable)

    def change(self, patch: JSON) -> None:
        """Change the data of the running state by a JSON merge patch.

        For that every path stops before its next step, as where the run is suspended: it goes on with changed data.
        """
        self.pending_changes.append(patch)
        self.suspend()

    def _change_now(self) -> None:
        """Change the data where every path has stopped."""
        for patch in self.pending_changes:
            self.execution.latest_data = merge_patch(self.execution.latest_data, patch)
            self.emit(TraceKind.DATA_CHANGED, self.execution.state or "", patch=patch)
        self.pending_changes.clear()

    def suspend(self) -> None:
        """Ask every path to stop before its next step."""
        if not self._suspension.is_requested:
            self.inbox.interrupt()
            self._suspension.request()

    @property
    def is_suspending(self) -> bool:
        """Whether every path is to stop before its next step."""
        return self._suspension.is_requested

    def awaits(self, event: CloudEvent) -> bool:
        """Tell whether a path of this instance waits for an event like *event*."""
        return self.inbox.is_awaited(event)

    # For an execution

    def _add_entry(self, kind: TraceKind, name: str, detail: dict[str, Any]) -> None:
        """Add an entry to the trace that belongs to no path of execution."""
        self.add(TraceEntry(kind, "", "", name, self.host.now(), detail))

    def add(self, entry: TraceEntry) -> None:
        """Add an entry to the trace. Raises PayloadTooLarge where the data have grown to more than they may take."""
        self.host.emit(entry)
        if entry.kind not in _BRINGING:
            return
        brought = _BRINGING[entry.kind]
        if brought is not None:
            self._data_limit.receive(entry.detail.get(brought))
        try:
            self._data_limit.check(self._data)
        except PayloadTooLarge as fault:
            fault.state = entry.state
            raise

    def _data(self) -> tuple[object, ...]:
        return self.execution.frame.to_json(), self.execution.data, self.input

    async def evaluated(self, work: Callable[[], T]) -> T:
        """Return what *work* comes to; the host makes the evaluations in it that are not bounded."""
        return await evaluated(work, self._evaluate)

    async def _evaluate(self, evaluation: Evaluation) -> EngineAnswer:
        answer = await self.host.evaluate(evaluation)
        self.pacing.begin_activation()
        return answer

    def time(self) -> float:
        """Return the host's time as seconds of the epoch."""
        return self.host.now().timestamp()

    async def leave(self, to: ContinuedAs) -> None:
        """Come to the end of a run that goes on as another definition. As long as this waits, it can be cancelled."""
        if self.on_leave is not None:
            await self.on_leave(to)
        self.emit(TraceKind.WORKFLOW_CONTINUED, to.workflow_id)

    def checkpoint(self) -> None:
        """Pass, unless a suspension was asked for: called before every step that does something outside."""
        self._suspension.checkpoint()

    def next_id(self, what: str) -> str:
        """Return an id for *what*, which is about to be called, that was never given before in this run."""
        return f"{what}#{self._id_counters.next(what)}"

    def begin_iterations(self, path: str, calls: int = 0) -> None:
        """Let the iterations of *path* give ids that none of those before gave which had their numbers.

        Raises PayloadTooLarge where they make so many *calls* that the run has to go on in another execution, and it
        could not, whatever they come to: before the first of them is made.
        """
        if calls > MAX_CALLS_IN_ONE_EXECUTION and (size := size_of(self.progress())) > self.host.carries:
            raise PayloadTooLarge(
                f"{calls:,} calls are too many for one execution of the run, and it could not go on in another: it has "
                f"to carry on {size:,} bytes of the {self.host.carries:,} that it can; {CARRY_LESS}"
            )
        self._id_counters.merge(path)

    def forget_iteration(self, path: str, index: int, actions: AbstractSet[str] | None = None) -> None:
        """Keep of the ids that iteration *index* of *path* gave only the highest number: it gives no more.

        *actions* are all that it can have given ids to; None is that states within it gave some.
        """
        self._id_counters.forget_iteration(path, index, actions)

    async def time_out_at(self, moment: float, timer: Timer) -> None:
        """Wait until *moment*. A suspension does not end the wait: while calls in flight finish, their time runs.

        What has come by then is dealt with first, and so is what was due before.
        """
        remaining = moment - self.time()
        if remaining > 0:
            await self.host.sleep(timedelta(seconds=remaining), timer)
        await self._timer_order.at(moment)

    async def sleep_until(self, moment: float, timer: Timer) -> None:
        """Wait until *moment*; a suspension ends the wait."""
        self.checkpoint()
        remaining = moment - self.time()
        if remaining <= 0:
            await self._timer_order.at(moment)
            return
        await self._suspension.sleep(self._slept(remaining, moment, timer))

    async def _slept(self, seconds: float, moment: float, timer: Timer) -> None:
        await self.host.sleep(timedelta(seconds=seconds), timer)
        await self._timer_order.at(moment)

    async def stand_still(self) -> None:
        """Wait for nothing, until the path is cancelled or the run suspended."""
        await self.inbox.wait(lambda _: False)

    async def outlast(self, work: "asyncio.Future[T]") -> T:
        """Return what *work* comes to, which may outlast this execution: a suspension ends the wait alone."""
        return await self._suspension.outlast(work)

    async def next_event(
        self,
        accepts: Callable[[CloudEvent], bool],
        refs: Sequence[str],
        deadline: float | None,
        state: str,
        criterion: Hashable = None,
        values: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    ) -> CloudEvent | None:
        """Return the next event that *accepts* accepts, or None if *deadline* comes first.

        *refs* are the names of what *state* waits for: they are told to those who ask how far the instance is.
        *criterion* stands for what *accepts* goes by: see `Inbox.take`. *values* are what attributes must be.
        """
        awaited = Awaited(state, list(refs), deadline, values)
        self.awaited[id(awaited)] = awaited
        if self.on_wait is not None:
            self.on_wait(awaited)
        handed: list[CloudEvent] = []

        async def wait() -> None:
            handed.append(await self.inbox.wait(accepts, criterion))

        try:
            if deadline is None:
                await wait()
            else:
                await within(wait(), self.time_out_at(deadline, Timer("waiting", state, ", ".join(refs))))
            if handed and accepts(handed[0]):
                self.inbox.note_taken(handed[0])
            return handed[0] if handed else None
        except asyncio.CancelledError:
            for event in handed:  # the wait had ended, and the path was given up before it went on
                self.inbox.put_back(event)
            raise
        finally:
            del self.awaited[id(awaited)]

    def progress(self) -> dict[str, Any]:
        """Return all that must survive a suspension, as plain JSON."""
        inbox = self.inbox.record()
        record = ProgressRecord(
            self.execution.frame.to_json(),
            self.input,
            self.started,
            None if inbox == InboxRecord() else inbox,
            self.numbers,
            self.limit,
        )
        return _compact(record.to_json())


def _compact(record: dict[str, Any]) -> dict[str, Any]:
    """Return *record* with every large value once. The ids of events are many, and none of them is large."""
    inbox = record.get("inbox", {})
    seen = inbox.get("seen", ())
    if not seen or any(is_worth_sharing(text) for key in seen for text in key):
        return without_copies(record)
    compact = without_copies({**record, "inbox": {name: value for name, value in inbox.items() if name != "seen"}})
    return {**compact, "inbox": {**compact["inbox"], "seen": seen}}
