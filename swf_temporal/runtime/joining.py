"""Several paths of execution side by side: started, joined and cancelled in order.

Theory of operation. This is the only place that starts, joins and cancels tasks. An engine that replays a run must
see tasks started, ended and cancelled in the same order every time, so everything here happens in the order in
which the paths were written: never in the order of a set, as asyncio's own groups and gathers do it.

- `join` runs paths until enough of them are complete. The first path to fail, in time, fails the join.
- `within` runs one path against a timer.
- `Group` runs a path together with those that it leaves running.

Whatever is still running when a join is decided is cancelled, and waited for until it has really ended: when a join
returns, nothing of it is running any more. A path that was suspended is neither complete nor failed; a join that is
not decided without it is suspended itself.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Sequence
from enum import Enum
from types import coroutine
from typing import Any, Final, Generic, TypeAlias, TypeVar

T = TypeVar("T")
Path: TypeAlias = Callable[[], Coroutine[Any, Any, T]]


class Missing(Enum):
    """The type of `MISSING`."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING
"""Stands for the result of a path that was not complete when the join was decided."""


class SuspendRequested(Exception):  # noqa: N818 - not an error: it unwinds a path that is to go on later
    """Raised at the next step of every path when the host asked for a suspension."""


async def join(paths: Sequence[Path[T]], *, need: int | None = None, window: int | None = None) -> list[T | Missing]:
    """Run *paths* until *need* of them (all, by default) are complete; return their results in the order written.

    At most *window* of them run at once. Raises what the first path to fail raised.
    """
    if not paths or need == 0:
        return [MISSING] * len(paths)
    if len(paths) == 1 or (window == 1 and need is None):
        return [await path() for path in paths]
    return await _Join(paths, len(paths) if need is None else min(need, len(paths)), window or len(paths)).run()


async def within(work: Coroutine[Any, Any, T], expiry: Coroutine[Any, Any, None]) -> T | Missing:
    """Return the result of *work*, or MISSING if *expiry* ended first. Work that is suspended ends the timer, too."""

    async def timer() -> Missing:
        await expiry
        return MISSING

    paths: list[Path[T | Missing]] = [lambda: work, timer]
    join_of_two = _Join(paths, 1, 2, patient=False)
    await join_of_two.run()
    result: T | Missing = join_of_two.results[0]
    return result


class Group(Generic[T]):
    """A path, and those that it leaves running beside itself, which are joined with it."""

    def __init__(self) -> None:
        self._join: _Join | None = None

    async def run(self, path: Path[T], beside: Sequence[Path[Any]]) -> T:
        """Run *path*, and those *beside* it that were left running before; return its result when all are complete."""
        self._join = _Join([path, *beside], 1 + len(beside), 1 + len(beside))
        result: T = (await self._join.run())[0]
        return result

    def add(self, path: Path[Any]) -> None:
        """Start *path* beside the others."""
        if self._join is not None:
            self._join.add(path)


class _Join:
    """One join while it is running."""

    def __init__(self, paths: Sequence[Path[Any]], need: int, window: int, *, patient: bool = True) -> None:
        self.paths = list(paths)
        self.need = need
        self.window = window
        self.patient = patient
        """Whether the others may finish when one path was suspended."""
        self.tasks: list[asyncio.Task[Any]] = []
        self.results: list[Any] = [MISSING] * len(paths)
        self.running = 0
        self.complete = 0
        self.suspended = False
        self.failure: BaseException | None = None
        self.decided: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> list[Any]:
        for _ in range(min(self.window, len(self.paths))):
            self._start()
        try:
            await self.decided
        except asyncio.CancelledError:
            await self._stop()
            raise
        await self._stop()
        if self.failure is not None:
            raise self.failure
        if self.complete < self.need:
            raise SuspendRequested
        return self.results

    def add(self, path: Path[Any]) -> None:
        """Start one more path, which has to be complete as well."""
        self.paths.append(path)
        self.results.append(MISSING)
        self.need += 1
        self._start()

    def _start(self) -> None:
        index = len(self.tasks)
        task = asyncio.get_running_loop().create_task(self.paths[index]())
        self.tasks.append(task)
        self.running += 1
        task.add_done_callback(lambda done: self._ended(index, done))

    def _ended(self, index: int, task: "asyncio.Task[Any]") -> None:
        self.running -= 1
        if task.cancelled():
            if not self.decided.done():
                self.failure = asyncio.CancelledError()
                self._decide()
            return
        failure = task.exception()
        if failure is None:
            if not self.decided.done():
                self.results[index] = task.result()
                self.complete += 1
        elif isinstance(failure, SuspendRequested) and self.patient:
            self.suspended = True
        elif self.failure is None and not self.decided.done():
            self.failure = failure
        if self.failure is not None or self.complete >= self.need:
            self._decide()
        elif not self.suspended and len(self.tasks) < len(self.paths):
            self._start()
        elif self.running == 0:
            self._decide()

    def _decide(self) -> None:
        if not self.decided.done():
            self.decided.set_result(None)

    async def _stop(self) -> None:
        running = [task for task in self.tasks if not task.done()]
        for task in running:
            task.cancel()
        for task in running:
            await _end_of(task)


@coroutine
def noticing(work: Coroutine[Any, Any, T], on_trace: Callable[[], None]) -> Generator[Any, Any, T]:
    """Return the result of *work*; *on_trace* is called when a cancellation is thrown into it.

    A library may swallow a cancellation and take it back from the task, so that nothing tells of it any more. This is
    no task of its own: steps and their order are those of *work*.
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
        except BaseException as thrown:  # noqa: BLE001 - handed on, whatever it is
            if isinstance(thrown, asyncio.CancelledError):
                on_trace()
            error = thrown


async def _end_of(task: "asyncio.Task[Any]") -> None:
    """Wait until *task* has ended, however it ends. Being cancelled meanwhile is not mistaken for its end."""
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    task.add_done_callback(lambda _: _resolve(ended))
    if not task.done():
        await ended


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
