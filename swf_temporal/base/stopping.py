"""Work that ends when the process is stopped by Ctrl-C or SIGTERM, and what the end of a process waits for."""

import asyncio
import atexit
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

from swf_temporal.base.exit_codes import ExitCode

_T = TypeVar("_T")

_NATIVE_THREADS_END_WITHIN = 1.0
"""The most seconds that the end of a program waits for."""


def run_until_stopped(work: Coroutine[Any, Any, int]) -> int:
    """Run *work*, and return its exit code.

    Ctrl-C and SIGTERM cancel it, so that it can clean up, and the exit code is then 130 or 143. A second Ctrl-C does
    not wait for that.
    """
    terminated = False

    async def stoppable() -> int:
        task = asyncio.current_task()

        def terminate() -> None:
            nonlocal terminated
            terminated = True
            if task is not None:
                task.cancel()

        with suppress(NotImplementedError, AttributeError):  # not on Windows, where nothing sends it
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
        return await work

    try:
        code = asyncio.run(stoppable())
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except asyncio.CancelledError:
        if not terminated:
            raise
        code = ExitCode.TERMINATED
    return code


def end_if_cancelled() -> None:
    """Raise CancelledError if the task was cancelled and the error was swallowed: a loop that waits would never end.

    A task group swallows it if one of its tasks fails at the same time, and so does `asyncio.wait_for` before Python
    3.12 if its result arrives at the same time.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def beside(work: Callable[[], _T]) -> _T:
    """Run *work*, which blocks, in a daemon thread: the process can end without waiting for it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_T] = loop.create_future()

    def finish(result: _T | None, failure: BaseException | None) -> None:
        if done.cancelled():
            return
        if failure is None:
            done.set_result(result)  # type: ignore[arg-type]  # without a failure there is a result
        else:
            done.set_exception(failure)

    def target() -> None:
        result, failure = None, None
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - raised again by the waiting task
            failure = error
        with suppress(RuntimeError):  # the loop that waited has ended
            loop.call_soon_threadsafe(finish, result, failure)

    threading.Thread(target=target, daemon=True).start()
    return await done


def stop_signal() -> asyncio.Event:
    """Return an event that the first Ctrl-C or SIGTERM sets: the regular way to stop a server.

    The second ends the process at once. If Ctrl-C is ignored, as in a background job of a script, it stays so.
    """
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    handled = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        handled.append(signal.SIGINT)

    def stop() -> None:
        for number in handled:
            loop.remove_signal_handler(number)
        stopping.set()

    with suppress(NotImplementedError):  # on Windows Ctrl-C cancels
        for number in handled:
            loop.add_signal_handler(number, stop)
    return stopping


@cache
def end_after_native_threads() -> None:
    """Let the program end only when no thread that a native library started runs Python code.

    A thread that waits for the interpreter while the program ends makes the process die of a segmentation fault.
    """
    atexit.register(_wait_for_native_threads)


def _wait_for_native_threads() -> None:
    of_python = {thread.ident for thread in threading.enumerate()}
    until = time.monotonic() + _NATIVE_THREADS_END_WITHIN
    while True:
        time.sleep(0.001)  # at least once: a thread that is about to run Python code is not among the frames yet
        if sys._current_frames().keys() <= of_python or time.monotonic() > until:  # noqa: SLF001 - it is documented
            return
