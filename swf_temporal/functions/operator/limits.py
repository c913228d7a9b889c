"""Limits of concurrency and rate for functions and hosts."""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from weakref import WeakKeyDictionary

from aiolimiter import AsyncLimiter

from swf_temporal.functions.operator.settings import HostOptions, Settings, environment_name

_Bounds = list[AbstractAsyncContextManager[None]]


class RateLimits:
    """Lets calls wait for their turn, in each process for itself. Waiting is not part of a call's timeout."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._bounds: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, _Bounds]] = WeakKeyDictionary()

    def of_function(self, name: str) -> AbstractAsyncContextManager[None]:
        own = self._of(("function", environment_name(name)), lambda: self._settings.for_function(name))
        return _all_of([*self._of("all", lambda: self._settings.calls), *own])

    def of_host(self, host: str, port: int) -> AbstractAsyncContextManager[None]:
        return _all_of(self._of(("host", host, port), lambda: self._settings.for_host(host, port)))

    def _of(self, key: Hashable, options: Callable[[], HostOptions]) -> _Bounds:
        bounds = self._bounds.setdefault(asyncio.get_running_loop(), {})
        if key not in bounds:
            bounds[key] = list(_bounds(options()))
        return bounds[key]


def _bounds(options: HostOptions) -> Iterable[AbstractAsyncContextManager[None]]:
    # First a place, then the moment: a call that has waited for the moment should use it.
    if options.concurrency is not None:
        yield asyncio.Semaphore(options.concurrency)
    if options.rate is not None:
        yield AsyncLimiter(options.rate.calls, options.rate.seconds)


def _all_of(bounds: _Bounds) -> AbstractAsyncContextManager[None]:
    if len(bounds) == 1:  # as it is where the operator has set nothing
        return bounds[0]
    return _entered(bounds) if bounds else nullcontext()


@asynccontextmanager
async def _entered(bounds: _Bounds) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for bound in bounds:
            await stack.enter_async_context(bound)
        yield
