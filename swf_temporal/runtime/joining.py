"""Parallel paths of execution: started, joined and cancelled in order.

Theory of operation. This is the only place that starts, joins and cancels tasks. On every replay of a run, tasks must
be started, ended and cancelled in the same order, so everything here happens in the order in which the paths were
written: never in the order of a set, as asyncio's own groups and gathers do it.

- `join` runs paths until enough of them are complete. The first path to fail, in time, fails the join.
- `join_each` does so with any number of paths, of which it holds only those that are running.
- `within` runs one path against a timer.
- `Group` runs a path together with those that it detaches.

When a join is decided, the paths that are still running are cancelled, and waited for until they have really ended:
when a join returns, nothing of it is running any more. A path that was suspended is neither complete nor failed; a join
that cannot be decided without it is suspended itself.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterable, Sequence
from enum import Enum
from functools import wraps
from types import coroutine
from typing import Any, Final, Generic, ParamSpec, TypeAlias, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Path: TypeAlias = Callable[[], Coroutine[Any, Any, T]]


class Missing(Enum):
    """The type of `MISSING`."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING
"""Stands for the result of a path that was not complete when the join was decided."""


class SuspendRequested(Exception):  # noqa: N818 - not an error: it unwinds a path that is resumed later
    """Raised at the next step of every path when the host requests a suspension."""


async def join(paths: Sequence[Path[T]], *, need: int | None = None) -> list[T | Missing]:
    """Run *paths* until *need* of them (all, by default) are complete; return their results in the order of the paths.

    Raises the exception of the first path to fail.
    """
    if not paths or need == 0:
        return [MISSING] * len(paths)
    if len(paths) == 1:
        return [await paths[0]()]
    results: list[T | Missing] = [MISSING] * len(paths)
    needed = len(paths) if need is None else min(need, len(paths))
    await _Join(paths, results.__setitem__, needed, len(paths)).run()
    return results


async def join_each(paths: Iterable[Path[T]], take: Callable[[T], None], *, window: int) -> None:
    """Run all *paths*, at most *window* of them at once, and pass the result of each to *take* when it is complete.

    The next path is generated when it is started, and forgotten when it has ended. Raises the exception of the first
    path to fail, or that of *take*.
    """
    if window == 1:
        for path in paths:
            take(await path())
        return
    await _Join(paths, lambda _, result: take(result), None, window).run()


async def within(work: Coroutine[Any, Any, T], expiry: Coroutine[Any, Any, None]) -> T | Missing:
    """Return the result of *work*, or MISSING if *expiry* ends first. A suspension of *work* ends the timer, too."""

    async def timer() -> Missing:
        await expiry
        return MISSING

    results: list[T | Missing] = [MISSING, MISSING]
    paths: list[Path[T | Missing]] = [lambda: work, timer]
    await _Join(paths, results.__setitem__, 1, 2, patient=False).run()
    return results[0]


class Group(Generic[T]):
    """A path and those that it detaches, which are joined with it."""

    def __init__(self) -> None:
        self._join: _Join | None = None

    async def run(self, path: Path[T], beside: Sequence[Path[Any]]) -> T:
        """Run *path*, and those *beside* it that were detached before; return its result when all are complete."""
        results: dict[int, Any] = {}
        self._join = _Join([path, *beside], results.__setitem__, 1 + len(beside), 1 + len(beside))
        await self._join.run()
        result: T = results[0]
        return result

    def add(self, path: Path[Any]) -> None:
        """Start *path* in parallel to the others."""
        if self._join is not None:
            self._join.add(path)


class _Join:
    def __init__(
        self,
        paths: Iterable[Path[Any]],
        take: Callable[[int, Any], None],
        need: int | None,
        window: int,
        *,
        patient: bool = True,
    ) -> None:
        self.paths = iter(paths)
        self.take = take
        """Receives the index of each path that is complete, in the order of their starts, and its result."""
        self.need = need
        """How many must be complete; None means all."""
        self.window = window
        self.patient = patient
        """Whether the others may finish when one path was suspended."""
        self.tasks: dict[int, asyncio.Task[Any]] = {}
        """The running paths, in the order in which they were started."""
        self.started = 0
        self.complete = 0
        self.suspended = False
        self.failure: BaseException | None = None
        self.decided: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        while len(self.tasks) < self.window and self._start_next():
            pass
        if not self.tasks:
            return
        try:
            await self.decided
        except asyncio.CancelledError:
            await self._stop()
            raise
        await self._stop()
        if self.failure is not None:
            raise self.failure
        if self.suspended if self.need is None else self.complete < self.need:
            raise SuspendRequested

    def add(self, path: Path[Any]) -> None:
        """Start one more path, which has to be complete as well."""
        if self.need is not None:
            self.need += 1
        self._start(path)

    def _start_next(self) -> bool:
        """Start the next path; return whether there was one."""
        if self.need is None and self.decided.done():
            return False
        path = next(self.paths, None)
        if path is None:
            return False
        self._start(path)
        return True

    def _start(self, path: Path[Any]) -> None:
        index = self.started
        self.started += 1
        task = self.tasks[index] = asyncio.get_running_loop().create_task(path())
        task.add_done_callback(lambda done: self._ended(index, done))

    def _ended(self, index: int, task: "asyncio.Task[Any]") -> None:
        del self.tasks[index]
        if task.cancelled():
            if not self.decided.done():
                self.failure = asyncio.CancelledError()
                self._decide()
            return
        failure = task.exception()
        if failure is None:
            if not self.decided.done():
                self._complete(index, task.result())
        elif isinstance(failure, SuspendRequested) and self.patient:
            self.suspended = True
        elif self.failure is None and not self.decided.done():
            self.failure = failure
        has_enough = self.need is not None and self.complete >= self.need
        if self.failure is None and not has_enough and not self.suspended and self._start_next():
            return
        if self.failure is not None or has_enough or not self.tasks:
            self._decide()

    def _complete(self, index: int, result: Any) -> None:
        self.complete += 1
        try:
            self.take(index, result)
        except Exception as failure:  # noqa: BLE001 - raised by the join
            self.failure = failure

    def _decide(self) -> None:
        if not self.decided.done():
            self.decided.set_result(None)

    async def _stop(self) -> None:
        running = list(self.tasks.values())
        for task in running:
            task.cancel()
        again: asyncio.CancelledError | None = None
        for task in running:
            while not task.done():
                try:
                    await end_of(task)
                except asyncio.CancelledError as error:  # of the path around this one: still wait for all tasks
                    again = error
        if again is not None:
            raise again


def cancel_next_wait() -> None:
    """Postpone a cancellation that the current path could not act on to the next time that it waits."""
    if (path := asyncio.current_task()) is not None:
        path.uncancel()
        path.cancel()


def heeding_cancellation(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Decorate a wait in a library that may swallow a cancellation, so that the path is cancelled in any case.

    Temporal waits for an activity or a child that it was asked to cancel; if that has ended at the same time, Temporal
    reports its result or its failure, and no cancellation. A cancelled path must not continue with it.
    """

    @wraps(method)
    async def heeding(*args: P.args, **kwargs: P.kwargs) -> T:
        path = asyncio.current_task()
        before, thrown = path.cancelling() if path else 0, False

        def on_cancel() -> None:
            nonlocal thrown
            thrown = True

        def is_cancelled() -> bool:
            # If it waits for a task of the library, the cancellation is passed on to that instead.
            return thrown or (path is not None and path.cancelling() > before)

        try:
            result = await _observing_cancellation(method(*args, **kwargs), on_cancel)
        except Exception:
            if is_cancelled():
                raise asyncio.CancelledError from None
            raise
        if is_cancelled():
            raise asyncio.CancelledError
        return result

    return heeding


@coroutine
def _observing_cancellation(work: Coroutine[Any, Any, T], on_cancel: Callable[[], None]) -> Generator[Any, Any, T]:
    """Return the result of *work*; *on_cancel* is called when a cancellation is thrown into it.

    A library may uncancel the task, which leaves no other trace of the cancellation. This does not start a task: the
    steps and their order are those of *work*.
    """
    error: BaseException | None = None
    while True:
        try:
            waited = work.send(None) if error is None else work.throw(error)
        except StopIteration as end:
            result: T = end.value
            return result
        error = None
        try:
            yield waited
        except GeneratorExit:
            work.close()  # a host that evicts the run may have closed it before
            raise
        except BaseException as thrown:  # noqa: BLE001 - passed on, whatever it is
            if isinstance(thrown, asyncio.CancelledError):
                on_cancel()
            error = thrown


async def end_of(work: "asyncio.Future[Any]") -> None:
    """Wait until *work* has ended, however it ends. A cancellation ends the wait alone: *work* continues."""
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    work.add_done_callback(lambda _: _resolve(ended))
    if not work.done():
        await ended


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
