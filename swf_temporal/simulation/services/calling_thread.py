"""Makes calls as a worker does, on an event loop in a separate thread with real time.

Functions cannot block the event loop of the run, whose virtual time stops meanwhile.
"""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.function_types import TYPES
from swf_temporal.functions.call import CurrentCall, answering
from swf_temporal.functions.calling import Calls
from swf_temporal.functions.plain.type import is_plain_text
from swf_temporal.functions.registry import Registry
from swf_temporal.functions.secrets import Secrets
from swf_temporal.runtime.external_activities import parse_activity
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.settings.calls import Settings
from swf_temporal.simulation.services.http import RecordedRequests


class CallingThread(ABC):
    """Makes the calls of one run. The thread starts with the first."""

    def __init__(self) -> None:
        self.recorded = RecordedRequests()
        self._thread: _LoopThread | None = None
        self._starting: asyncio.Task[Calls] | None = None
        self._under_way: set[asyncio.Task[JSON]] = set()
        self._turn = asyncio.Lock()
        self._is_over = False

    @abstractmethod
    async def start(self) -> Calls:
        """Return the object that makes the calls; runs in the thread."""

    @abstractmethod
    async def attempt(self, calls: Calls, call: FunctionCall, source: str, key: str, attempt: int) -> JSON:
        """Make one attempt at *call*, in the thread. Raises CallFailed."""

    async def stop(self) -> None:  # noqa: B027 - most have nothing else to stop
        """Stop everything that was started; runs in the thread."""

    async def perform(self, call: FunctionCall, *, source: str, key: str, attempt: int) -> JSON:
        """Make one attempt at *call*, after those that were asked for before. Raises CallFailed."""
        # If they ran in parallel, the order of the responses would differ from run to run.
        async with self._turn:
            if self._is_over:
                raise permanent_failure("NotScripted", "the scenario is over, and its services with it")
            if self._thread is None:
                self._thread = _LoopThread()
            under_way = asyncio.wrap_future(self._thread.do(self._perform(call, source, key, attempt)))
            try:
                return await asyncio.shield(under_way)
            except asyncio.CancelledError:
                await asyncio.wait([under_way])  # virtual time is stopped, so wait for the call that has begun
                if not under_way.cancelled():
                    under_way.exception()  # asyncio would log an exception that is never retrieved
                raise

    def close(self) -> None:
        """Stop everything that was started, and cancelled calls that are still in progress."""
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
            self._starting = asyncio.create_task(self.start())
        return await self.attempt(await asyncio.shield(self._starting), call, source, key, attempt)

    async def _stop(self) -> None:
        for attempt in self._under_way:
            attempt.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        if self._starting is not None:
            [calls] = await asyncio.gather(self._starting, return_exceptions=True)
            if not isinstance(calls, BaseException):
                await calls.aclose()
        await self.stop()


class _LoopThread:
    """An event loop in a separate thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="services", daemon=True)
        self._thread.start()

    def do(self, work: Coroutine[Any, Any, Any]) -> "Future[Any]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def stop(self) -> None:
        """Stop when the work in progress has stopped."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class RegisteredFunctions(CallingThread):
    """The functions and types of a registry. A function also replaces one of the same name that calls a service."""

    def __init__(self, registry: Registry, secrets: Mapping[str, JSON]) -> None:
        super().__init__()
        self._registry = registry
        self._secrets = Secrets(secrets)

    async def start(self) -> Calls:
        """Provide the functions of the registry, and open its resources, without reading the environment."""
        calls = Calls(self._registry, settings=Settings(), secrets=self._secrets)
        await calls.functions.open()
        return calls

    async def attempt(self, calls: Calls, call: FunctionCall, source: str, key: str, attempt: int) -> JSON:
        """Return what the function returns. Raises CallFailed, `NotScripted` if it would leave this process."""
        here = replace(call, function=self._here(call.function))
        instance = key.removesuffix(f"/{call.id}")
        current = CurrentCall(
            function=call.function.name,
            instance=instance,
            run_id=instance,
            definition=None if "/" in instance else instance,  # the definition of a sub-workflow is not known here
            state=call.state or "",
            action=call.action or "",
            attempt=attempt,
            idempotency_key=key,
            deadline=None,
            _beat=lambda: None,
        )
        try:
            with answering(current):
                return await calls.perform(here, source=source, key=key, attempt=attempt)
        except CallFailed as fault:
            if fault.code == "UnknownSecret":
                fault.message = f"{fault.message.partition(': ')[0]}: give it in `secrets`"
            raise

    def _here(self, function: Function) -> Function:
        is_custom = function.type == "custom" or function.type not in TYPES
        leaves = is_plain_text(function.operation) or parse_activity(function) is not None
        if function.type in self._registry.types or (is_custom and not leaves):
            return function
        if function.name in self._registry:
            return replace(function, type="custom", operation=None)
        raise permanent_failure("NotScripted", f"function {function.name!r} is called elsewhere: register a stand-in")
