"""Paths side by side: who is waited for, who is stopped, and in which order."""

import asyncio
import types
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from typing import Any

import pytest

from swf_temporal.runtime.joining import MISSING, SuspendRequested, heeding_cancellation, join, join_each, within

Log = list[str]
FOREVER = -1


@pytest.fixture
def log() -> Log:
    return []


def _path(name: str, log: Log, turns: int = 0, outcome: Any = None) -> Callable[[], Coroutine[Any, Any, str]]:
    """Return a path that gives others *turns*, or waits FOREVER, then returns its name or raises *outcome*."""

    async def path() -> str:
        log.append(f"+{name}")
        try:
            if turns == FOREVER:
                await asyncio.get_running_loop().create_future()
            for _ in range(turns):
                await asyncio.sleep(0)
            if outcome is not None:
                raise outcome
        except asyncio.CancelledError:
            log.append(f"x{name}")
            await asyncio.sleep(0)
            log.append(f"-{name}")
            raise
        return name

    return path


async def test_starts_and_returns_results_in_the_order_written(log: Log) -> None:
    assert await join([_path("a", log, 9), _path("b", log, 1), _path("c", log, 5)]) == ["a", "b", "c"]
    assert log == ["+a", "+b", "+c"]


async def test_no_paths_are_complete_at_once(log: Log) -> None:
    assert await join([]) == []
    assert await join([_path("a", log)], need=0) == [MISSING]
    assert log == []


async def test_goes_on_when_enough_are_complete(log: Log) -> None:
    results = await join([_path("a", log, FOREVER), _path("b", log, 1), _path("c", log, FOREVER)], need=1)
    assert results == [MISSING, "b", MISSING]
    assert log == ["+a", "+b", "+c", "xa", "xc", "-a", "-c"]


async def test_needs_no_more_than_there_are(log: Log) -> None:
    assert await join([_path("a", log), _path("b", log)], need=5) == ["a", "b"]


async def test_the_first_failure_in_time_fails_the_join(log: Log) -> None:
    with pytest.raises(ValueError, match="first"):
        await join([_path("a", log, FOREVER), _path("b", log, 1, ValueError("first")), _path("c", log, FOREVER)])
    assert [entry for entry in log if entry.startswith(("x", "-"))] == ["xa", "xc", "-a", "-c"]


async def test_runs_no_more_at_once_than_the_window() -> None:
    running = 0
    most = 0

    async def path() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1

    await join_each([path] * 7, lambda _: None, window=3)
    assert most == 3


async def test_a_window_of_one_is_a_sequence(log: Log) -> None:
    paths = [_path("a", log), _path("b", log, 1, ValueError("stop")), _path("c", log)]
    with pytest.raises(ValueError, match="stop"):
        await join_each(paths, lambda _: None, window=1)
    assert log == ["+a", "+b"]


async def test_lets_the_others_finish_when_one_was_suspended(log: Log) -> None:
    ended: Log = []

    async def slow() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        ended.append("slow")

    with pytest.raises(SuspendRequested):
        await join_each([_path("a", log, 1, SuspendRequested()), slow, _path("c", log)], lambda _: None, window=2)
    assert ended == ["slow"]
    assert log == ["+a"]


async def test_is_decided_without_a_suspended_path_if_enough_are_complete(log: Log) -> None:
    assert await join([_path("a", log, 1, SuspendRequested()), _path("b", log, 3)], need=1) == [MISSING, "b"]


async def test_a_failure_outweighs_a_suspension(log: Log) -> None:
    with pytest.raises(ValueError, match="broken"):
        await join([_path("a", log, 1, SuspendRequested()), _path("b", log, 3, ValueError("broken"))])


async def test_being_cancelled_stops_every_path(log: Log) -> None:
    task = asyncio.create_task(join([_path("a", log, FOREVER), _path("b", log, FOREVER)]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert log == ["+a", "+b", "xa", "xb", "-a", "-b"]


async def test_a_path_that_cancels_itself_cancels_the_join(log: Log) -> None:
    """Where what a path waits for was cancelled, the others are stopped: nobody waits for a result for ever."""
    with pytest.raises(asyncio.CancelledError):
        await join([_path("a", log, FOREVER), _path("b", log, 1, asyncio.CancelledError())])
    assert log[-1] == "-a"


def _stubborn(outcome: str | Exception) -> Callable[[], Coroutine[Any, Any, str]]:
    """Return a path that waits for ever, and when it is stopped returns, or raises, *outcome* in its place."""

    async def path() -> str:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            if isinstance(outcome, Exception):
                raise outcome from None
        return str(outcome)

    return path


async def test_what_comes_too_late_changes_nothing(log: Log) -> None:
    """What paths return or raise while they are stopped is neither a result nor a failure of the join."""
    late = [_stubborn("late"), _stubborn(ValueError("late"))]
    assert await join([*late, _path("c", log, 1)], need=1) == [MISSING, MISSING, "c"]
    with pytest.raises(ValueError, match="first"):
        await join([*late, _path("c", log, 1, ValueError("first"))])


async def test_within_returns_what_comes_first(log: Log) -> None:
    """Work that ends before the timer gives its result, work that does not is missing; the other one is stopped."""

    async def timer(turns: int) -> None:
        await _path("timer", log, turns)()

    assert await within(_path("work", log, 2)(), timer(FOREVER)) == "work"
    assert await within(_path("work", log, FOREVER)(), timer(2)) is MISSING
    assert [entry for entry in log if entry.startswith("-")] == ["-timer", "-work"]


async def test_suspended_work_ends_its_timer(log: Log) -> None:

    async def timer() -> None:
        await _path("timer", log, FOREVER)()

    with pytest.raises(SuspendRequested):
        await within(_path("work", log, 1, SuspendRequested())(), timer())
    assert log[-1] == "-timer"


@pytest.fixture
async def errors() -> AsyncIterator[list[dict[str, Any]]]:
    """Yield what the loop is told of that nobody caught."""
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    yield told
    asyncio.get_running_loop().set_exception_handler(None)


async def test_the_end_of_a_path_leaves_no_error_behind(log: Log, errors: list[dict[str, Any]]) -> None:
    await join([_path("a", log, 1), _path("b", log, 5)])
    await join([_path("a", log, 1), _stubborn("late"), _path("c", log, FOREVER)], need=1)
    assert errors == []


async def test_being_cancelled_again_while_paths_end_leaves_no_error_behind(errors: list[dict[str, Any]]) -> None:
    """A join that is cancelled a second time waits for them all the same, and nothing is resolved twice."""
    cleaned = asyncio.Event()

    async def slow_to_end() -> str:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await cleaned.wait()
        return "never"

    task = asyncio.create_task(join([slow_to_end, slow_to_end]))
    for _ in range(2):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
    for _ in range(5):
        await asyncio.sleep(0)
    assert not task.done()
    cleaned.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert errors == []


async def test_what_cannot_be_taken_fails_the_join(log: Log) -> None:

    def take(result: str) -> None:
        log.append(f"={result}")
        if result == "b":
            raise ValueError(result)

    paths = [_path("a", log), _path("b", log, 1), _path("c", log, FOREVER), _path("d", log)]
    with pytest.raises(ValueError, match="b"):
        await join_each(paths, take, window=2)
    assert log == ["+a", "+b", "=a", "+c", "=b", "xc", "-c"]


@pytest.mark.parametrize("window", [1, 3])
async def test_results_are_taken_one_by_one(log: Log, window: int) -> None:
    await join_each([_path(name, log, 3) for name in "abcd"], lambda name: log.append(f"={name}"), window=window)
    assert sorted(entry for entry in log if entry.startswith("=")) == ["=a", "=b", "=c", "=d"]
    assert log[:window] == [f"+{name}" for name in "abcd"[:window]]
    assert log[window] == "=a"


class Library:
    """What waits for something that ends in the moment in which the path that waits is cancelled."""

    def __init__(self, outcome: Exception | None = None) -> None:
        self.end = asyncio.Event()
        self.outcome = outcome

    async def _swallowing(self) -> str:
        while True:
            try:
                await self.end.wait()
            except asyncio.CancelledError:
                task = asyncio.current_task()
                assert task
                task.uncancel()
                self.end.set()
            else:
                if self.outcome is not None:
                    raise self.outcome
                return "done"

    @heeding_cancellation
    async def waited(self) -> str:
        return await self._swallowing()

    @heeding_cancellation
    async def handed_on(self) -> str:
        """Wait for a task, which gets the cancellation instead of the path."""
        return await asyncio.create_task(self._swallowing())


@pytest.mark.parametrize("outcome", [None, ValueError("it failed")])
@pytest.mark.parametrize("wait", [Library.waited, Library.handed_on])
async def test_heeds_a_cancellation_that_a_library_swallows(
    wait: Callable[[Library], Coroutine[Any, Any, str]], outcome: Exception | None
) -> None:
    path = asyncio.create_task(wait(Library(outcome)))
    await asyncio.sleep(0.01)
    path.cancel()
    with pytest.raises(asyncio.CancelledError):
        await path


@pytest.mark.parametrize("wait", [Library.waited, Library.handed_on])
async def test_returns_or_raises_what_a_library_does(wait: Callable[[Library], Coroutine[Any, Any, str]]) -> None:
    for outcome in (None, ValueError("it failed")):
        library = Library(outcome)
        library.end.set()
        if outcome is None:
            assert await wait(library) == "done"
        else:
            with pytest.raises(ValueError, match="it failed"):
                await wait(library)


async def test_heeds_no_cancellation_that_came_before() -> None:
    done = []

    async def path() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            library = Library()
            library.end.set()
            done.append(await library.waited())

    task = asyncio.create_task(path())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["done"]


@pytest.mark.parametrize("closed_before", [False, True])
async def test_what_is_dropped_ends_in_silence(*, closed_before: bool) -> None:
    """An engine that forgets an instance drops its paths, and what they wait for may be gone by then."""
    waited: list[Coroutine[Any, Any, str]] = []

    @types.coroutine
    def forever() -> Generator[None, None, str]:
        yield
        return ""

    async def work() -> str:
        return await forever()

    @heeding_cancellation
    def wait() -> Coroutine[Any, Any, str]:
        waited.append(work())
        return waited[0]

    path = wait()
    path.send(None)
    if closed_before:
        waited[0].close()
    path.close()
    with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
        waited[0].send(None)


async def test_a_join_that_is_stopped_while_it_stops_others_waits_for_them(log: Log) -> None:
    ends = asyncio.Event()

    async def slow() -> str:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            await ends.wait()
            log.append("-slow")
            raise
        return ""

    async def expiry() -> None:
        log.append("time is over")

    async def timed() -> Any:
        return await within(slow(), expiry())

    async def failing() -> Any:
        for _ in range(5):
            await asyncio.sleep(0)
        log.append("failed")
        asyncio.get_running_loop().call_later(0.01, ends.set)
        raise ValueError("it failed")

    with pytest.raises(ValueError, match="it failed"):
        await join([timed, failing])
    assert log == ["time is over", "failed", "-slow"]
