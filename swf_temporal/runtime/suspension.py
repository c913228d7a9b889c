"""The suspension of a run: what was asked to stop between two steps, and the waits that end then."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from swf_temporal.runtime.joining import SuspendRequested

T = TypeVar("T")


class Suspension:
    """Whether a run is to be suspended, and what of it waits until then."""

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
        """Pass, unless a suspension was asked for."""
        if self.is_requested:
            raise SuspendRequested

    async def sleep(self, work: Coroutine[Any, Any, None]) -> None:
        """Do *work*, which is a sleep: a suspension cancels it."""
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

    async def outlast(self, work: "asyncio.Future[T]") -> T:
        """Return what *work* comes to. A suspension ends the wait alone, and so does a cancellation: *work* goes on."""
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
