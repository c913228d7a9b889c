"""One running instance, whatever language its definition is written in.

A run has the clock, the ids, the trace, the inbox and the progress of an instance. Its definition is carried out by an
*execution*, which the language creates from its program; an execution waits and records its progress only through its
run.

Progress. Every path of execution records its progress in a frame that belongs to it: a typed record. Frames nest
as paths do, and the outermost belongs to the execution. When a run is asked to suspend, no path takes another step:
waits end at once, calls in flight are waited for and their results recorded, and `run` returns Suspended with the
frames and whatever else must survive. A run that is made from such a record takes the same way again: steps that are
done according to its frames are not repeated, and waits keep the deadlines that they had.

Id counters. Those of complete iterations are merged, so that their number does not grow with that of the iterations:
only the highest numbers of an iteration are kept, under `[*]`, and of all the times that a path was run, under `[]`.

Timer order. When workers were away, Temporal delivers at once what came meanwhile: results of calls, and timers that
fired. Which path of a run then takes the first step would depend on the number of tasks between it and what it waited
for. So a path that has waited for a time waits for its turn, too: first the run processes everything that has arrived,
then the timer that was due first, and so on. So a result wins over a timeout, and the shorter of two sleeps over the
longer.

Data limit. The results of evaluations and the data of calls and events are counted: they bound the growth of the data
of a run. A run that has grown by `STEP` is measured at its next step. The measurement depends on its data alone, so
that a replay fails at the same step.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from heapq import heappop, heappush
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from swf_temporal.base.accounting import MIB, Account, charge_to, json_size, memory_of
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, merge_patch
from swf_temporal.base.errors import PayloadTooLarge, WorkflowFault
from swf_temporal.expressions.guarding.deferring import Evaluation, defer_here
from swf_temporal.expressions.guarding.helper import EngineAnswer
from swf_temporal.runtime.cycles import Pacing
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
    evaluated,
)
from swf_temporal.runtime.inbox import Inbox, InboxRecord, is_worth_sharing, with_copies, without_copies
from swf_temporal.runtime.joining import SuspendRequested, within
from swf_temporal.runtime.performing import CARRY_LESS, MAX_CALLS_IN_ONE_EXECUTION, size_of
from swf_temporal.runtime.progress import ProgressRecord
from swf_temporal.runtime.trace import Tracer

T = TypeVar("T")


class Suspension:
    """Tracks whether a run is to be suspended, and the waits that a suspension has to end."""

    def __init__(self) -> None:
        self.is_requested = False
        self._sleeping: dict[asyncio.Task[None], None] = {}
        self._waiting: dict[asyncio.Future[None], None] = {}

    def request(self) -> None:
        """End all waits, and let no further step begin."""
        self.is_requested = True
        for task in list(self._sleeping):
            task.cancel()
        for waiting in list(self._waiting):
            if not waiting.done():
                waiting.set_exception(SuspendRequested())

    def checkpoint(self) -> None:
        """Raise SuspendRequested if a suspension was requested."""
        if self.is_requested:
            raise SuspendRequested

    async def sleep(self, work: Coroutine[Any, Any, None]) -> None:
        """Run *work*, which is a sleep: a suspension cancels it."""
        task = asyncio.get_running_loop().create_task(work)
        self._sleeping[task] = None
        try:
            await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if self.is_requested and not (current and current.cancelling()):
                raise SuspendRequested from None
            raise
        finally:
            del self._sleeping[task]

    async def long_wait(self, work: "asyncio.Future[T]") -> T:
        """Return the result of *work*. A suspension or a cancellation ends the wait alone: *work* continues."""
        if not work.done():
            self.checkpoint()
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()

            def wake(_: "asyncio.Future[T]") -> None:
                if not waiting.done():
                    waiting.set_result(None)

            work.add_done_callback(wake)
            self._waiting[waiting] = None
            try:
                await waiting
            finally:
                del self._waiting[waiting]
        return work.result()


_INDEX = re.compile(r"\[(\d+|\*)\]")
"""The number of an iteration in the name of a path, or the sign for all of them."""
_OF_ALL = "[]"
"""Takes the place of that number: all iterations of the earlier times that the path was run."""


class IdCounters:
    def __init__(self, given: Mapping[str, int]) -> None:
        """Continue from the numbers *given* before."""
        self.given: dict[str, int] = dict(given)
        """How often each id was used."""
        self._has_merged = any(_OF_ALL in key for key in self.given)
        """Whether some numbers stand for all earlier iterations of a path."""

    def next(self, what: str) -> int:
        given = self.given.get(what)
        number = self.given[what] = (self._given_of_all(what) if given is None else given) + 1
        return number

    def merge(self, path: str) -> None:
        """Make ids of the next iterations of *path* have higher numbers than those before."""
        self._merge([key for key in self.given if key.startswith(f"{path}[")], path, _OF_ALL)

    def forget_iteration(self, path: str, index: int, actions: AbstractSet[str] | None) -> None:
        """Keep only the highest of the numbers of iteration *index* of *path*.

        *actions* are everything that it can have created ids for; None if states within it created some.
        """
        own = f"{path}[{index}]"
        if actions is None:
            given = [key for key in self.given if key.startswith(own)]
        else:
            given = [key for action in sorted(actions) if (key := f"{own}/{action}") in self.given]
        self._merge(given, path, "[*]")

    def _merge(self, given: Sequence[str], path: str, all_: str) -> None:
        for key in given:
            rest = key[key.index("]", len(path)) + 1 :]
            merged = f"{path}{all_}{_INDEX.sub(_OF_ALL, rest)}"
            self._has_merged = self._has_merged or _OF_ALL in merged
            self.given[merged] = max(self.given.pop(key), self.given.get(merged, 0))

    def _given_of_all(self, what: str) -> int:
        """Return the highest number of the ids of *what* in earlier iterations with the same index."""
        if not self._has_merged or "[" not in what:
            return 0
        of_all = (f"{what[: at.start()]}{_INDEX.sub(_OF_ALL, what[at.start() :])}" for at in _INDEX.finditer(what))
        return max((self.given.get(one, 0) for one in of_all), default=0)


class TimerOrder:
    def __init__(self, host: Host) -> None:
        """Order turns: each begins when *host* reports that everything of the one before is done."""
        self._host = host
        self._due: list[tuple[float, int, asyncio.Future[None]]] = []
        self._number = 0
        self._giving: asyncio.Task[None] | None = None

    async def at(self, moment: float) -> None:
        """Wait for the turn of *moment*, which has passed."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._number += 1
        heappush(self._due, (moment, self._number, turn))
        if self._giving is None:
            self._giving = loop.create_task(self._give())
        await turn

    async def _give(self) -> None:
        while self._due:
            await self._host.settled()
            while self._due:
                turn = heappop(self._due)[2]
                if not turn.done():
                    turn.set_result(None)
                    break
        self._giving = None


STEP: Final = 16 * MIB
"""The growth in bytes after which a run is measured again, or half of its size if that is more."""
MAX_DATA_BYTES: Final = 128 * MIB
"""The maximum memory for the data of a run without large payloads: a history is limited to 50 MiB."""
_OF_PAYLOAD: Final = 4
"""If payloads may be large, the data of a run may take this many times the memory of one payload."""


class DataLimit:
    def __init__(self, account: Account, carries: int) -> None:
        """Limit the run that charges *account*, whose payloads may have *carries* bytes."""
        self.most = max(MAX_DATA_BYTES, _OF_PAYLOAD * carries)
        """The number of bytes of memory that its data may take."""
        self._account = account
        self._received = 0
        self._size = self._measured_at = 0

    def receive(self, value: JSON) -> None:
        """Count a value that was received from outside."""
        self._received += json_size(value, STEP)

    def check(self, data: Callable[[], Iterable[object]]) -> None:
        """Raise PayloadTooLarge if the *data* of the run exceed the limit."""
        made = self._account.made + self._received
        if made - self._measured_at < max(STEP, self._size // 2):
            return
        self._measured_at, self._size = made, memory_of(data())
        if self._size > self.most:
            raise PayloadTooLarge(
                f"the data of the run take more memory than the {self.most // MIB:,} MiB that a run may hold in its "
                "worker: keep less of what actions and expressions yield"
            )


_BRINGING: Final = {TraceKind.STATE_ENTERED: None, TraceKind.ACTION_COMPLETED: "result", TraceKind.EVENT_TAKEN: "data"}
"""The entries after which a run may have more data than before, and the detail with the data from outside."""


class Awaited(NamedTuple):
    """The events that a path waits for."""

    state: str
    events: list[str]
    """The names of the events, any of which ends the wait."""
    deadline: float | None = None
    """When the wait ends, in seconds since the epoch."""
    values: Mapping[str, Mapping[str, str]] = {}
    """For each correlated event, the required values of its attributes that are known, by lower-case names."""
    since: datetime | None = None
    """When the wait began in this execution."""


class Program(Protocol):
    """A definition prepared for running: shared by all its runs, and never changed."""

    @property
    def id(self) -> str:
        """The id of the definition."""

    @property
    def semantics(self) -> int:
        """The semantics number: see `runtime/host.py`."""

    def begin(self, run: "Run", frame: Mapping[str, Any] | None) -> Execution:
        """Return the execution of *run*. With *frame*, as JSON, it continues from that of an earlier execution.

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
        """Make an instance that begins with *data*, or continues from *progress*.

        *limit* replaces the workflow's own timeout: a continuation may set it.
        """
        record = ProgressRecord.from_json(with_copies(progress or {}))
        self.host = host
        self.instance = instance
        self.input = data if record.frame is None else record.input
        self.inbox = Inbox(record.inbox)
        self.limit = record.limit or limit
        self._id_counters = IdCounters(record.numbers)
        self.started = host.now().timestamp() if record.started is None else record.started
        """When the instance began, in seconds since the epoch."""
        self.pending_changes: list[JSON] = []
        """The patches to apply to the data of the running state, once every path has stopped."""
        self.awaited: dict[int, Awaited] = {}
        """The events that paths wait for now."""
        self.on_wait: Callable[[Awaited], None] | None = None
        """Called with the events that a path begins to wait for."""
        self.on_begin: Callable[[], Awaitable[None]] | None = None
        """Called, and awaited, before the first step."""
        self.on_answer: Callable[[CloudEvent, JSON | WorkflowFault], None] | None = None
        """Called with each event whose sender waits for an answer, and the answer."""
        self.on_leave: Callable[[ContinuedAs], Awaitable[None]] | None = None
        """Called, and awaited, before the run continues as another definition."""
        self._suspension = Suspension()
        self.semantics = program.semantics
        """The semantics number that the run began with."""
        self._timer_order = TimerOrder(host)
        self._id = program.id
        self.pacing = Pacing(host)
        """Decides when the host gets control."""
        self._data_limit = DataLimit(self.pacing.account, host.carries)
        self._data_limit.receive(self.input)
        self.is_new = record.frame is None
        """Whether this is its first execution."""
        self.execution = program.begin(self, record.frame)

    @property
    def numbers(self) -> dict[str, int]:
        """How often each id was used."""
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
        """Accept an event. Never waits; returns False for a duplicate."""
        return self.inbox.deliver(event, is_forwardable=is_forwardable)

    def change(self, patch: JSON) -> None:
        """Change the data of the running state by a JSON merge patch.

        Every path stops before its next step, as for a suspension, and the run continues with the changed data.
        """
        self.pending_changes.append(patch)
        self.suspend()

    def _change_now(self) -> None:
        """Apply the pending changes: every path has stopped."""
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
        """True if every path is to stop before its next step."""
        return self._suspension.is_requested

    def answer(self, event: CloudEvent, answer: "JSON | WorkflowFault") -> None:
        """Answer the sender of *event*, if the host knows who waits for that."""
        if self.on_answer is not None:
            self.on_answer(event, answer)

    def awaits(self, event: CloudEvent) -> bool:
        """Return whether a path of this instance waits for an event like *event*."""
        return self.inbox.is_awaited(event)

    # For an execution

    def _add_entry(self, kind: TraceKind, name: str, detail: dict[str, Any], data: JSON = None) -> None:
        """Add an entry to the trace that belongs to no path of execution."""
        self.add(TraceEntry(kind, "", "", name, self.host.now(), detail, data=data))

    def add(self, entry: TraceEntry) -> None:
        """Add an entry to the trace. Raises PayloadTooLarge if the data of the run exceed the limit."""
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
        """Return the result of *work*; the host makes the evaluations in it that are not bounded."""
        return await evaluated(work, self._evaluate)

    async def _evaluate(self, evaluation: Evaluation) -> EngineAnswer:
        answer = await self.host.evaluate(evaluation)
        self.pacing.begin_activation()
        return answer

    def time(self) -> float:
        """Return the host's time in seconds since the epoch."""
        return self.host.now().timestamp()

    async def leave(self, to: ContinuedAs) -> None:
        """Finish this run before continuing as another definition. It can be cancelled until this returns."""
        if self.on_leave is not None:
            await self.on_leave(to)
        self.emit(TraceKind.WORKFLOW_CONTINUED, to.workflow_id)

    def checkpoint(self) -> None:
        """Raise SuspendRequested if the run is suspending; to call before every step that does something outside."""
        self._suspension.checkpoint()

    def next_id(self, what: str) -> str:
        """Return an id for *what*, which is about to be called, that was never used before in this run."""
        return f"{what}#{self._id_counters.next(what)}"

    def begin_iterations(self, path: str, calls: int = 0) -> None:
        """Make the iterations of *path* create ids that earlier iterations with the same indexes did not create.

        Raises PayloadTooLarge if they make more *calls* than one execution can, and the run could not continue in
        another one, whatever the results: before the first call is made.
        """
        if calls > MAX_CALLS_IN_ONE_EXECUTION and (size := size_of(self.progress())) > self.host.carries:
            raise PayloadTooLarge(
                f"{calls:,} calls are too many for one execution of the run, and it could not continue in another: it "
                f"has to carry over {size:,} bytes of the {self.host.carries:,} that it can; {CARRY_LESS}"
            )
        self._id_counters.merge(path)

    def forget_iteration(self, path: str, index: int, actions: AbstractSet[str] | None = None) -> None:
        """Keep only the highest number of the ids that iteration *index* of *path* created: it creates no more.

        *actions* are everything that it can have created ids for; None if states within it created some.
        """
        self._id_counters.forget_iteration(path, index, actions)

    async def time_out_at(self, moment: float, timer: Timer) -> None:
        """Wait until *moment*. A suspension does not end the wait: timeouts apply while calls in flight finish.

        Everything that has arrived by then is processed first, and so are timers that were due before.
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
        """Wait until the path is cancelled or the run is suspended."""
        await self.inbox.wait(lambda _: False)

    async def long_wait(self, work: "asyncio.Future[T]") -> T:
        """Return the result of *work*, which may outlast this execution: a suspension ends the wait alone."""
        return await self._suspension.long_wait(work)

    async def next_event(
        self,
        accepts: Callable[[CloudEvent], bool],
        refs: Sequence[str],
        deadline: float | None,
        state: str,
        criterion: Hashable = None,
        values: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
        until: float | None = None,
    ) -> CloudEvent | None:
        """Return the next event that *accepts* accepts, or None if *deadline* comes first.

        *refs* are the names of the events that *state* waits for, shown in the progress of the instance. *criterion*
        identifies *accepts*: see `Inbox.take`. *values* are the required values of attributes. *until* is a deadline
        that the caller enforces, which is shown.
        """
        awaited = Awaited(state, list(refs), until if deadline is None else deadline, values, self.host.now())
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
            for event in handed:  # the wait had ended, and the path was cancelled before it continued
                self.inbox.put_back(event)
            raise
        finally:
            del self.awaited[id(awaited)]

    def progress(self) -> dict[str, Any]:
        """Return everything that must survive a suspension, as plain JSON."""
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
    """Return *record* with every large value once. The ids of events are skipped: there are many small ones."""
    inbox = record.get("inbox", {})
    seen = inbox.get("seen", ())
    if not seen or any(is_worth_sharing(text) for key in seen for text in key):
        return without_copies(record)
    compact = without_copies({**record, "inbox": {name: value for name, value in inbox.items() if name != "seen"}})
    return {**compact, "inbox": {**compact["inbox"], "seen": seen}}


async def walk(run: Run, step: Callable[[], Awaitable[T | None]]) -> T:
    """Take one *step* after the other until one returns the result of the walk; a frame says which is next.

    Between two steps a run can be suspended, and its host gets control.
    """
    while True:
        run.checkpoint()
        await run.pacing.give_way(1)
        ended = await step()
        if ended is not None:
            return ended
