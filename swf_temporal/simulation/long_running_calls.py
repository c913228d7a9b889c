"""Calls and sub-workflows that go on while the run that waits for them is suspended."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.runtime.host import FunctionCall, SubflowCall
from swf_temporal.runtime.joining import SuspendRequested
from swf_temporal.simulation.clock import PLACE, VirtualLoop


class LongRunningCalls:
    """Those of one instance, which are instances of their own."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self._under_way: dict[str, asyncio.Task[Any]] = {}
        """The work of each call, by its id."""

    async def result(
        self,
        call: FunctionCall | SubflowCall,
        work: Callable[[], Coroutine[Any, Any, Any]],
        place: tuple[int, ...],
    ) -> JSON:
        """Return what *work* comes to, which is begun at *place* unless *call* is under way already."""
        if call.id not in self._under_way:
            await self._begin(call.id, work, place)
        task = self._under_way[call.id]
        assert call.outlast is not None  # noqa: S101 - for the type checker
        is_suspended = False
        try:
            return await call.outlast(task)  # type: ignore[no-any-return]  # JSON, as the work returns it
        except SuspendRequested:
            is_suspended = True
            raise
        except asyncio.CancelledError:
            task.cancel()
            with suppress(WorkflowFault, asyncio.CancelledError):  # however it ends: its path is given up
                await task
            raise
        finally:
            if not is_suspended:
                del self._under_way[call.id]

    async def _begin(self, call_id: str, work: Callable[[], Coroutine[Any, Any, Any]], place: tuple[int, ...]) -> None:
        async def at_its_place() -> Any:
            PLACE.set(place)
            return await work()

        task = self._loop.create_task(at_its_place())
        try:
            await self._loop.delivery(place, is_begin=True)
        except asyncio.CancelledError:
            task.cancel()
            raise
        self._under_way[call_id] = task
