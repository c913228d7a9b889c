"""A virtual clock: how time passes where nothing takes time.

An asyncio event loop whose time is virtual. What is due is done one thing at a time: the next begins when nothing is
left to do for the one before. When nothing is due, the clock jumps to the next moment that something waits for. An hour
passes in microseconds, and in the same order as it would have passed.

Things that are due at the same moment have an order, too, and it is that of `DueKey`. The host of scenarios on Temporal
goes by the same keys, so that both hosts decide a tie alike.

Counted, not timed: a definition is given up after the same number of steps on every machine.
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
    """A key by which things are ordered that are due: by its fields, from the first to the last."""

    due: int
    """Microseconds since the run began."""
    step: int
    """How many things had happened when it was asked for."""
    place: tuple[int, ...]
    """The instance that asked for it: an instance comes before its sub-workflows, and these come as they were begun."""
    number: int
    """Of what one instance asks for, which is first."""


class _Delivery(NamedTuple):
    """What an instance is told of another that it began: that it has begun, or has ended. Sorted, they are in order."""

    depth: int
    """How deep the other is, below zero: the deepest is told of first."""
    starter: tuple[int, ...]
    """The place of the instance that is told."""
    is_result: bool
    """Whether it has ended; else it has begun."""
    place: tuple[int, ...]
    future: "asyncio.Future[None]"


PLACE: ContextVar[tuple[int, ...]] = ContextVar("PLACE", default=())
"""The place of the instance that is running."""


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, when_idle: Callable[[], bool], at_standstill: Callable[[], None]) -> None:
        """Make a loop that calls *when_idle* before time passes, and *at_standstill* when it cannot pass any more.

        *when_idle* returns whether it found something to do.
        """
        self._now = 0
        self.begin = EPOCH
        """The date at which its time begins."""
        self._shown_at, self._shown = 0, EPOCH
        self._step = 0
        self._numbers = count(1)
        self._due: list[tuple[DueKey, asyncio.TimerHandle]] = []
        self._deliveries: list[_Delivery] = []
        self._delivering: list[_Delivery] = []
        self._settling: list[asyncio.Future[None]] = []
        self._outside = 0
        self._when_idle = when_idle
        self._at_standstill = at_standstill
        super().__init__(_Jumping(self))

    def time(self) -> float:
        """Return the virtual time, in seconds since the simulation began."""
        return self._now / _SECOND

    def begin_at(self, moment: datetime) -> None:
        """Let its time begin at *moment*: before anything happens."""
        self.begin = self._shown = moment.astimezone(UTC)

    def now(self) -> datetime:
        """Return the virtual time as a date: the same object as long as the time does not move on."""
        if self._now != self._shown_at:
            self._shown_at, self._shown = self._now, self.begin + timedelta(microseconds=self._now)
        return self._shown

    def number(self) -> int:
        return next(self._numbers)

    def call_at(  # type: ignore[override]  # the base class leaves its types open
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call *callback* at a moment, after all that is due before."""
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        key = DueKey(round(when * _SECOND), self._step, PLACE.get(), self.number())
        heappush(self._due, (key, handle))
        return handle

    def moment(self, after: timedelta) -> "asyncio.Future[None]":
        """Return what is done when so much time has passed, and when it has its turn. Cancelled, it is forgotten."""
        future: asyncio.Future[None] = self.create_future()
        handle = self.call_at((self._now + after // MICROSECOND) / _SECOND, _resolve, future)
        future.add_done_callback(lambda _: handle.cancel())
        return future

    def delivery(self, place: tuple[int, ...], *, is_begin: bool = False) -> "asyncio.Future[None]":
        """Return what is done when all that runs now has come to a wait: then its starter is told of *place*.

        It is told first which have begun (*is_begin*), then the result of one after the other: what waits for one comes
        to its next wait before the next is told.
        """
        future: asyncio.Future[None] = self.create_future()
        # Sub-workflows first: what those above make of their own news, such as a cancellation, comes to them later.
        self._deliveries.append(_Delivery(-len(place), place[:-1], not is_begin, place, future))
        return future

    def settled(self) -> "asyncio.Future[None]":
        """Return what is done when all that runs now has come to a wait: before anything new is told."""
        future: asyncio.Future[None] = self.create_future()
        self._settling.append(future)
        return future

    @property
    def stands_still(self) -> bool:
        """Whether time waits for something that really happens."""
        return self._outside > 0

    @contextmanager
    def clock_frozen(self) -> Iterator[None]:
        """Let no time pass while something that another thread does is waited for."""
        self._outside += 1
        try:
            yield
        finally:
            self._outside -= 1

    def go_on(self) -> None:
        """Let the next thing happen: what is due, else what was found to do, else what is due next."""
        if self._settling:
            _resolve(self._settling.pop(0))
            return
        if not self._delivering:
            self._delivering, self._deliveries = sorted(self._deliveries, key=lambda one: one[:-1]), []
        if self._delivering:
            told = self._delivering.pop(0)
            _resolve(told.future)
            while not told.is_result and self._delivering and self._delivering[0][:3] == told[:3]:
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
    """Do *work*, which runs an event loop, in a thread of its own if this one is running a loop already."""
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
    """A selector that never waits: it lets the loop go on instead."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        """Return what is ready now; where the loop would wait, let the next thing happen."""
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
"""That a state begins with the same data in one moment. This tells most cycles much sooner."""
MAX_STEPS = 10_000
"""States and retries of a simulation that does not set another limit. They take about a second."""
MAX_EXECUTIONS = 2_000
"""That continue one another by `continueAs`, whether or not time passes."""


class Steps:
    """Counts the states and retries of all instances of a simulation."""

    def __init__(self, most: int = MAX_STEPS) -> None:
        self._most = most
        self._begun = 0

    def count(self, lately: Callable[[], str]) -> None:
        """Take note of a step. Raises StepLimitExceeded, with what *lately* says, where there were too many."""
        self._begun += 1
        if self._begun > self._most:
            raise StepLimitExceeded(
                f"{self._most:,} states and retries ran, which is the most that max_steps allows: {lately()}"
            )


class StateHistory:
    """The states that one instance ran, through all of its executions."""

    def __init__(self) -> None:
        self._workflow = ""
        self._executions = 0
        self._entered = 0
        self._now = -1.0
        # When each was met last, as a number of steps. The first to be met stands first.
        self._rounds = Rounds()
        self._workflows: dict[str, int] = {}
        self._states: dict[tuple[str, str], int] = {}

    def begin(self, workflow_id: str) -> None:
        """Take note of an execution. Raises StepLimitExceeded where there were too many."""
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

    def enter(self, state: str, data: JSON, now: float) -> None:
        """Take note of a state and its data. Raises StepLimitExceeded where both came too often in one moment."""
        if now != self._now:
            self._now, self._rounds = now, Rounds()
        self._entered += 1
        self._states[self._workflow, state] = self._entered
        if self._rounds.count(state, data) > MAX_TIMES_THE_SAME:
            raise StepLimitExceeded(
                f"{state!r} began with the same data {MAX_TIMES_THE_SAME} times without waiting for anything, in a "
                f"cycle: {self.latest_states()}"
            )

    def latest_states(self) -> str:
        """Return the names of the states that ran lately, for messages."""
        return named_states(self._states, self._entered)
