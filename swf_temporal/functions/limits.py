"""Limits of concurrency and rate for functions, services and hosts."""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from aiolimiter import AsyncLimiter

from swf_temporal.base.function_types import Callee, environment_name
from swf_temporal.settings.calls import HostOptions, Settings

_Bound: TypeAlias = AbstractAsyncContextManager[None]


class _Bounds(NamedTuple):
    """The limits for calls of one function, of one service, of one network host, or of all together."""

    places: asyncio.Semaphore | None
    moments: AsyncLimiter | None
    turn: asyncio.Semaphore
    """Held by the call among these that waits for a place of all and for its rate, while it has such a place.

    A lock does not show that it is about to be handed to a waiting call: calls that wait behind it must not hold a
    place.
    """

    @property
    def are_set(self) -> bool:
        return not (self.places is None and self.moments is None)

    @property
    def are_free(self) -> bool:
        """Whether there is nothing to wait for."""
        is_taken = self.turn.locked() or (self.places is not None and self.places.locked())
        return not is_taken and (self.moments is None or self.moments.has_capacity())


class _Place:
    """The place of one call among all, which others may have while it waits for something else."""

    def __init__(self, places: asyncio.Semaphore) -> None:
        self._places = places
        self._is_held = False

    async def take(self) -> None:
        await self._places.acquire()
        self._is_held = True

    def leave(self) -> None:
        """Release it; has no effect if it is released already."""
        if self._is_held:
            self._is_held = False
            self._places.release()


_PLACE: ContextVar[_Place | None] = ContextVar("swf_place", default=None)
"""The place of the current call; None if the number of concurrent calls is not limited."""


class RateLimits:
    """Makes calls wait for their turn, in each process separately. Waiting is not part of a call's timeout."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._bounds: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, _Bounds]] = WeakKeyDictionary()

    def of_callee(self, callee: Callee) -> _Bound:
        """Return the limits of a function, of its service, and of all calls together."""
        settings = self._settings
        every = self._of("all", lambda: settings.calls)
        function = ("function", environment_name(callee.function))
        found = [self._of(function, lambda: settings.for_function(callee.function))]
        for name in callee.services:
            options = settings.for_service(name)
            if options.concurrency is not None or options.rate is not None:  # data may contain any number of names
                found.append(self._of(("service", environment_name(name)), partial(settings.for_service, name)))
        own = [one for one in found if one.are_set]
        if own or every.are_set:
            return _of_call(own, every)
        return nullcontext()  # as without settings

    def of_host(self, host: str, port: int) -> _Bound:
        own = self._of(("host", host, port), lambda: self._settings.for_host(host, port))
        return _of_request(own) if own.are_set else nullcontext()

    def _of(self, key: Hashable, options: Callable[[], HostOptions]) -> _Bounds:
        bounds = self._bounds.setdefault(asyncio.get_running_loop(), {})
        if key not in bounds:
            bounds[key] = _bounds(options())
        return bounds[key]


def _bounds(options: HostOptions) -> _Bounds:
    places = None if options.concurrency is None else asyncio.Semaphore(options.concurrency)
    moments = None if options.rate is None else AsyncLimiter(options.rate.calls, options.rate.seconds)
    return _Bounds(places, moments, asyncio.Semaphore(1))


@asynccontextmanager
async def _of_call(own: Sequence[_Bounds], every: _Bounds) -> AsyncIterator[None]:
    """Enter the limits of a function and its service, then those of all calls, whose place is taken last.

    All calls enter the limits of their function before those of their service, so that they cannot deadlock.
    """
    place = None if every.places is None else _Place(every.places)
    async with AsyncExitStack() as stack:
        for places in (one.places for one in own):
            if places is not None:
                await stack.enter_async_context(places)
        if place is not None:
            stack.callback(place.leave)
        async with AsyncExitStack() as turns:
            for one in own:
                await turns.enter_async_context(one.turn)
            await _take(place, *(one.moments for one in own), every.moments)
        token = _PLACE.set(place)
        stack.callback(_PLACE.reset, token)
        yield


@asynccontextmanager
async def _of_request(own: _Bounds) -> AsyncIterator[None]:
    """Enter the limits of a network host. The calling function releases its place among all while it waits.

    The host is only known once the call is made, and has its place.
    """
    place = None if own.are_free else _PLACE.get()
    if place is not None:
        place.leave()
    async with own.places or nullcontext():
        async with own.turn:
            await _take(place, own.moments)
        yield


@asynccontextmanager
async def in_line(turn: asyncio.Semaphore) -> AsyncIterator[None]:
    """Hold *turn*. A call that waits for another holder releases its place among all meanwhile."""
    place = _PLACE.get() if turn.locked() else None
    if place is not None:
        place.leave()
    async with turn:
        await _take(place)
        yield


async def _take(place: _Place | None, *moments: AsyncLimiter | None) -> None:
    """Wait for a place of all and then for the rates: a call that has waited for these should use them."""
    if place is not None:
        await place.take()
    for moment in moments:
        if moment is not None:
            await moment.acquire()
