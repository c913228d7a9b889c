"""Limits of concurrency and rate for functions and hosts."""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from aiolimiter import AsyncLimiter

from swf_temporal.functions.operator.settings import HostOptions, Settings, environment_name

_Bound: TypeAlias = AbstractAsyncContextManager[None]


class _Bounds(NamedTuple):
    """What bounds the calls of one function, of one network host, or all of them."""

    places: list[_Bound]
    moments: list[_Bound]
    turn: asyncio.Lock
    """Held by the one of them that waits for a place of all, and for the moment, with such a place."""

    @property
    def all(self) -> list[_Bound]:
        # First a place, then the moment: a call that has waited for the moment should use it.
        return [*self.places, *self.moments]


class RateLimits:
    """Lets calls wait for their turn, in each process for itself. Waiting is not part of a call's timeout."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._bounds: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, _Bounds]] = WeakKeyDictionary()

    def of_function(self, name: str) -> _Bound:
        every = self._of("all", lambda: self._settings.calls)
        own = self._of(("function", environment_name(name)), lambda: self._settings.for_function(name))
        if own.all and every.all:
            return _in_turn(own, every)
        return _all_of(own.all or every.all)

    def of_host(self, host: str, port: int) -> _Bound:
        return _all_of(self._of(("host", host, port), lambda: self._settings.for_host(host, port)).all)

    def _of(self, key: Hashable, options: Callable[[], HostOptions]) -> _Bounds:
        bounds = self._bounds.setdefault(asyncio.get_running_loop(), {})
        if key not in bounds:
            bounds[key] = _bounds(options())
        return bounds[key]


def _bounds(options: HostOptions) -> _Bounds:
    places: list[_Bound] = [] if options.concurrency is None else [asyncio.Semaphore(options.concurrency)]
    moments: list[_Bound] = [] if options.rate is None else [AsyncLimiter(options.rate.calls, options.rate.seconds)]
    return _Bounds(places, moments, asyncio.Lock())


def _all_of(bounds: list[_Bound]) -> _Bound:
    if len(bounds) == 1:  # as it is where the operator has set nothing
        return bounds[0]
    return _entered(bounds) if bounds else nullcontext()


@asynccontextmanager
async def _entered(bounds: list[_Bound]) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for bound in bounds:
            await stack.enter_async_context(bound)
        yield


@asynccontextmanager
async def _in_turn(own: _Bounds, every: _Bounds) -> AsyncIterator[None]:
    """Enter the bounds of a function, and those of all: calls that wait for their own take no places of all."""
    async with AsyncExitStack() as stack:
        for place in own.places:
            await stack.enter_async_context(place)
        async with own.turn:
            for bound in (*every.places, *own.moments, *every.moments):
                await stack.enter_async_context(bound)
        yield
