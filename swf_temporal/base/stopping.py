"""Work that ends when the process is stopped by Ctrl-C or SIGTERM."""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from swf_temporal.base.exit_codes import ExitCode

_T = TypeVar("_T")


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
