"""How does a command that waits run, and how does it end when it is told to?"""

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import typer


def run_until_stopped(work: Coroutine[Any, Any, int]) -> None:
    """Do *work* and exit with the code that it returns.

    Ctrl-C and SIGTERM cancel it: it is to clean up, and the exit code is then 130 or 143. A second Ctrl-C does not
    wait for that.
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
        code = 128 + signal.SIGINT
    except asyncio.CancelledError:
        if not terminated:
            raise
        code = 128 + signal.SIGTERM
    raise typer.Exit(code)


def stop_signal() -> asyncio.Event:
    """Return what is set by the first Ctrl-C or SIGTERM: being told to stop is how a server's work is to end.

    The second ends the process at once.
    """
    told = asyncio.Event()
    loop = asyncio.get_running_loop()

    def tell() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        told.set()

    with suppress(NotImplementedError):  # on Windows Ctrl-C cancels
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, tell)
    return told
