"""A virtual clock: an asyncio event loop in which time passes without waiting.

Due callbacks are called one at a time: the next one begins when everything caused by the one before is done. When none
is due, the clock jumps to the next time that something waits for. An hour passes in microseconds, and events happen in
the same order as in real time.

Callbacks that are due at the same time are ordered by `DueKey`. The host of scenarios on Temporal uses the same keys,
so that both hosts break ties in the same way.

Steps are counted, not timed: a definition is given up after the same number of steps on every machine.
"""

import asyncio
import selectors
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple, TypeVar

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import StepLimitExceeded
from swf_temporal.runtime.cycles import Rounds, named_states, too_many_executions

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
"""The default start time of simulations, fixed so that they give the same results every time."""
MICROSECOND = timedelta(microseconds=1)
_SECOND = 1_000_000

_Result = TypeVar("_Result")


class DueKey(NamedTuple):
    """The sort key of callbacks: its fields, from the first to the last."""

    due: int
    """The due time, in microseconds since the run began."""
    step: int
    """The number of steps of the simulation before it was requested."""
    place: tuple[int, ...]
    """The instance that requested it: an instance before its sub-workflows, and these in the order of their starts."""
    number: int
    """The order of requests of one instance."""


class _Delivery(NamedTuple):
    """A notification to an instance that another one, which it started, has begun or ended; sorted by delivery."""

    depth: int
    """The negative depth of the other: the deepest are delivered first."""
    starter: tuple[int, ...]
    """The place of the instance that is notified."""
    is_result: bool
    """Whether the other has ended; else it has begun."""
    place: tuple[int, ...]
    future: "asyncio.Future[None]"


PLACE: ContextVar[tuple[int, ...]] = ContextVar("PLACE", default=())
"""The place of the instance that is running."""


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, when_idle: Callable[[], bool], at_standstill: Callable[[], None]) -> None:
        """Make a loop that calls *when_idle* before time passes, and *at_standstill* when nothing is waited for.

        *when_idle* returns whether it found something to do.
        """
        self._now = 0
        self.begin = EPOCH
        """The time at which virtual time begins."""
        self._shown_at, self._shown = 0, EPOCH
        self._step = 0
        self._numbers = count(1)
        self._due: list[tuple[DueKey, asyncio.TimerHandle]] = []
        self._deliveries: list[_Delivery] = []
        self._delivering: list[_Delivery] = []
        self._settling: list[asyncio.Future[None]] = []
        self._withdrawn: list[asyncio.Future[None]] = []
        self.turn = 0
        """The number of the turn: instances are started at the end of the turn in which they are requested."""
        self._outside = 0
        self._when_idle = when_idle
        self._at_standstill = at_standstill
        super().__init__(_Jumping(self))

    def time(self) -> float:
        """Return the virtual time, in seconds since the simulation began."""
        return self._now / _SECOND

    def begin_at(self, moment: datetime) -> None:
        """Set the time at which virtual time begins; to call before anything happens."""
        self.begin = self._shown = moment.astimezone(UTC)

    def now(self) -> datetime:
        """Return the virtual time as a datetime: the same object as long as no time passes."""
        if self._now != self._shown_at:
            self._shown_at, self._shown = self._now, self.begin + timedelta(microseconds=self._now)
        return self._shown

    def number(self) -> int:
        return next(self._numbers)

    def call_at(  # type: ignore[override]  # the base class leaves its types open
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call *callback* at a virtual time, after all callbacks that are due before."""
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        key = DueKey(round(when * _SECOND), self._step, PLACE.get(), self.number())
        heappush(self._due, (key, handle))
        return handle

    def moment(self, after: timedelta) -> "asyncio.Future[None]":
        """Return a future that is done when the time *after* has passed and its turn has come."""
        future: asyncio.Future[None] = self.create_future()
        handle = self.call_at((self._now + after // MICROSECOND) / _SECOND, _resolve, future)
        future.add_done_callback(lambda _: handle.cancel())
        return future

    def delivery(self, place: tuple[int, ...], *, is_begin: bool = False) -> "asyncio.Future[None]":
        """Return a future that is done when everything that runs now waits: it notifies the starter of *place*.

        The starter is first notified of all instances that have begun (*is_begin*), then of results one by one: what
        waits for one of them reaches its next wait before the next result is delivered.
        """
        future: asyncio.Future[None] = self.create_future()
        # Sub-workflows first: reactions of their ancestors to other notifications, such as a cancellation, come later.
        self._deliveries.append(_Delivery(-len(place), place[:-1], not is_begin, place, future))
        return future

    def settled(self) -> "asyncio.Future[None]":
        """Return a future that is done when everything that runs now waits, before further notifications."""
        future: asyncio.Future[None] = self.create_future()
        self._settling.append(future)
        return future

    def withdrawn(self) -> "asyncio.Future[None]":
        """Return a future that is done when everything that runs now waits: the end of a cancelled request is reported.

        The ends of all that were cancelled meanwhile are reported together, before further notifications.
        """
        future: asyncio.Future[None] = self.create_future()
        self._withdrawn.append(future)
        return future

    @property
    def stands_still(self) -> bool:
        """True if virtual time waits for something in real time."""
        return self._outside > 0

    @contextmanager
    def clock_frozen(self) -> Iterator[None]:
        """Stop virtual time while waiting for another thread."""
        self._outside += 1
        try:
            yield
        finally:
            self._outside -= 1

    def end_rest(self) -> None:
        """Cancel the tasks that are left once the simulation has ended, such as the one that orders timers."""
        rest = asyncio.all_tasks(self)
        for task in rest:
            task.cancel()
        if rest:
            self.run_until_complete(asyncio.wait(rest))

    def go_on(self) -> None:
        """Take the next step: what is due now, else what `when_idle` does, else what is due next."""
        if self._settling:
            _resolve(self._settling.pop(0))
            return
        if self._withdrawn:
            withdrawn, self._withdrawn = self._withdrawn, []
            for future in withdrawn:
                _resolve(future)
            return
        self.turn += 1
        if not self._delivering:
            self._delivering, self._deliveries = sorted(self._deliveries, key=lambda one: one[:-1]), []
        if self._delivering:
            delivery = self._delivering.pop(0)
            _resolve(delivery.future)
            while not delivery.is_result and self._delivering and self._delivering[0][:3] == delivery[:3]:
                _resolve(self._delivering.pop(0).future)
            return
        while self._due and self._due[0][1].cancelled():
            heappop(self._due)
        is_due = bool(self._due) and self._due[0][0].due <= self._now
        if not is_due and self._when_idle():
            self._step += 1
        elif self._due:
            key, handle = heappop(self._due)
            self._now = max(self._now, key.due)
            self._step += 1
            self.call_soon(handle._run)  # noqa: SLF001 - as the base class does it
        else:
            self._at_standstill()


def outside_any_loop(work: Callable[[], _Result]) -> _Result:
    """Call *work*, which runs an event loop, in another thread if this one is running a loop already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    results: list[_Result] = []
    failures: list[BaseException] = []

    def target() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            failures.append(error)

    thread = threading.Thread(target=target, name="simulation", daemon=True)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return results[0]


class _Jumping(selectors.DefaultSelector):
    """A selector that never waits: it makes the loop take its next step instead."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        """Return what is ready now; if the loop would wait, make it take its next step."""
        if timeout is not None and timeout <= 0:
            return []
        if self._loop.stands_still:
            return super().select(None)
        ready: list[Any] = super().select(0)
        if not ready:
            self._loop.go_on()
        return ready


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


MAX_TIMES_THE_SAME = 500
"""How often a state may begin with the same data at the same time. This detects most cycles much sooner."""
MAX_STEPS = 10_000
"""The default limit of states and retries in a simulation. They take about a second."""
MAX_EXECUTIONS = 2_000
"""The number of executions that may continue one another by `continueAs`, whether or not time passes."""


class Steps:
    """Counts the states and retries of all instances of a simulation."""

    def __init__(self, most: int = MAX_STEPS) -> None:
        self._most = most
        self._begun = 0

    def count(self, lately: Callable[[], str]) -> None:
        """Count a step. Raises StepLimitExceeded, with the text from *lately*, if there were too many."""
        self._begun += 1
        if self._begun > self._most:
            raise StepLimitExceeded(
                f"{self._most:,} states and retries ran, which is the limit set by max_steps: {lately()}"
            )


class StateHistory:
    """The states that one instance ran, in all of its executions."""

    def __init__(self) -> None:
        self._workflow = ""
        self._executions = 0
        self._entered = 0
        self._now = -1.0
        # The step at which each ran last, in the order in which they first ran.
        self._rounds = Rounds()
        self._workflows: dict[str, int] = {}
        self._states: dict[tuple[str, str], int] = {}

    def begin(self, workflow_id: str) -> None:
        """Record an execution. Raises StepLimitExceeded if there were too many."""
        self._workflow = workflow_id
        self._rounds = Rounds()
        self._executions += 1
        self._workflows[workflow_id] = self._executions
        if self._executions > MAX_EXECUTIONS:
            cycle = too_many_executions(self._workflows, self._executions)
            raise StepLimitExceeded(
                f"{MAX_EXECUTIONS:,} executions ran, each continued as the next, and a simulation runs no more: "
                f"{cycle}, with {self.latest_states()}"
            )

    def enter(self, state: str, data: JSON, now: float, *, is_round: bool = True) -> None:
        """Record a state and its data. Raises StepLimitExceeded if both occurred too often at the same time.

        Those of branches and iterations, for which *is_round* is false, may occur as often as they do.
        """
        if now != self._now:
            self._now, self._rounds = now, Rounds()
        self._entered += 1
        self._states[self._workflow, state] = self._entered
        if is_round and self._rounds.count(state, data) > MAX_TIMES_THE_SAME:
            raise StepLimitExceeded(
                f"{state!r} began with the same data {MAX_TIMES_THE_SAME} times without waiting for anything, in a "
                f"cycle: {self.latest_states()}"
            )

    def latest_states(self) -> str:
        """Return the names of the states that ran lately, for messages."""
        return named_states(self._states, self._entered)
