"""Makes the calls that a scenario does not answer itself, to its services, as a worker would.

All of it happens on an event loop in a thread of its own: time is real there, and nothing blocks the run that asks.
"""

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Mapping
from concurrent.futures import Future
from typing import Any

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import permanent_failure
from swf_temporal.functions.secrets import Secrets
from swf_temporal.performing import Calls
from swf_temporal.runtime.external_activities import parse_activity
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.simulation.model.services import Service
from swf_temporal.simulation.services.answering import RecordedRequests
from swf_temporal.simulation.services.places import Places

_WHERE_TO_SAY = {
    "UnknownSecret": "give it in `secrets`",
    "NoServer": "describe it in `services`, by the name of its document or of the function",
}
"""By the code of a fault: what a scenario does where a worker would be configured."""


class StubServices:
    """The services of one run, and who calls them. They start with the first call."""

    def __init__(self, services: Iterable[Service], secrets: Mapping[str, JSON]) -> None:
        self.recorded = RecordedRequests()
        self._services = tuple(services)
        self._secrets = Secrets(secrets)
        self._places = Places()
        self._thread: _LoopThread | None = None
        self._starting: asyncio.Task[Calls] | None = None
        self._under_way: set[asyncio.Task[JSON]] = set()
        self._turn = asyncio.Lock()
        self._is_over = False

    async def perform(self, call: FunctionCall, *, source: str, key: str, attempt: int) -> JSON:
        """Make one attempt at *call*, after those that were asked for before. Raises CallFailed."""
        # Side by side, which of them has the first answer would be another in every run.
        async with self._turn:
            if self._is_over:
                raise permanent_failure("NotScripted", "the scenario is over, and its services with it")
            if self._thread is None:
                self._thread = _LoopThread()
            under_way = asyncio.wrap_future(self._thread.do(self._perform(call, source, key, attempt)))
            try:
                return await asyncio.shield(under_way)
            except asyncio.CancelledError:
                await asyncio.wait([under_way])  # as no time passes, what has begun is seen to its end
                if not under_way.cancelled():
                    under_way.exception()  # it is not asked for any more, and asyncio would complain of that
                raise

    def close(self) -> None:
        """Stop everything that was started, and calls whose results are not wanted any more."""
        self._is_over = True
        if self._thread is not None:
            self._thread.do(self._stop()).result()
            self._thread.stop()
            self._thread = None

    async def _perform(self, call: FunctionCall, source: str, key: str, attempt: int) -> JSON:
        task = asyncio.create_task(self._attempt(call, source, key, attempt))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await task

    async def _attempt(self, call: FunctionCall, source: str, key: str, attempt: int) -> JSON:
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        calls = await asyncio.shield(self._starting)
        try:
            if parse_activity(call.function) is not None:
                message = f"function {call.function.name!r} is an activity of another worker: answer it in `functions`"
                raise permanent_failure("NotScripted", message)
            return await calls.perform(call, source=source, key=key, attempt=attempt)
        except CallFailed as fault:
            fault.message = _for_scenarios(self._places.as_named(fault.message), fault.code)
            if fault.code == "NotScripted":
                self.recorded.unanswered.append(fault.message)  # a definition may catch it
            raise

    async def _start(self) -> Calls:
        await self._places.start(self._services, self.recorded)
        return Calls(functions=self._places.functions(), secrets=self._secrets)

    async def _stop(self) -> None:
        for attempt in self._under_way:
            attempt.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        if self._starting is not None:
            [calls] = await asyncio.gather(self._starting, return_exceptions=True)
            if not isinstance(calls, BaseException):
                await calls.aclose()
        for server in self._places.servers:
            await server.stop()


class _LoopThread:
    """An event loop that runs beside everything else."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="services", daemon=True)
        self._thread.start()

    def do(self, work: Coroutine[Any, Any, Any]) -> "Future[Any]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def stop(self) -> None:
        """Stop when what is under way has stopped."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _for_scenarios(message: str, code: str) -> str:
    """Return *message* with what is to be done in a scenario, if that is not what it says."""
    return f"{message.partition(': ')[0]}: {_WHERE_TO_SAY[code]}" if code in _WHERE_TO_SAY else message
