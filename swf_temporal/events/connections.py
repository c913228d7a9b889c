"""Connections of sinks to brokers: one for each sink of a worker, kept until it breaks or the worker ends.

Theory of operation. What a broker did not confirm in time may be there all the same: sent again, it would be there
twice. So sending goes on when an attempt ends, over the same connection, and the next attempt for the same event awaits
that. Only when the connection breaks is the message sent again, over a new one.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from cachetools import LRUCache

from swf_temporal.base.errors import CallFailed
from swf_temporal.events.brokers.port import Channel, Message, Send

Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Send]]
"""Returns what connects when it is entered. Raises CallFailed."""

_OUTLASTING: Final = 600.0
"""Seconds after which a connection is taken for broken over which no confirmation comes; most libraries know before."""
_MAX_CONFIRMED: Final = 10_000


class Connection:
    """The connection of one sink, made when it is first needed, and again after it broke."""

    def __init__(self, connect: Connect, timeout: float) -> None:
        """Connect by *connect*, within *timeout* seconds."""
        self._connect = connect
        self._timeout = timeout
        self._opening = asyncio.Lock()
        self._open: _Open | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._sending: dict[str, asyncio.Task[None]] = {}
        self._confirmed: LRUCache[str, bool] = LRUCache(_MAX_CONFIRMED)
        """What was confirmed when no attempt awaited it any more."""

    async def send(self, channel: Channel, message: Message, key: str) -> None:
        """Send *message*, which is known by *key*, unless that is under way or done. Raises CallFailed.

        Awaits the confirmation for the timeout of *channel*, and leaves it under way then.
        """
        if self._confirmed.pop(key, False):
            return
        sending = self._sending.get(key)
        if sending is None:
            whole = replace(channel, timeout=max(channel.timeout, _OUTLASTING))
            sending = self._sending[key] = asyncio.create_task(self._send_anew(whole, message))
            sending.add_done_callback(partial(self._note, key))
        done, _ = await asyncio.wait([sending], timeout=channel.timeout)
        if not done:
            raise CallFailed(f"{channel}: the broker did not answer in time", code="Timeout")
        self._confirmed.pop(key, None)
        await sending

    async def aclose(self) -> None:
        sending = [*self._sending.values()]
        for one in sending:
            one.cancel()
        self._discard(self._open)
        if ending := {*sending, *self._closing}:
            await asyncio.wait(ending)

    def _note(self, key: str, ended: asyncio.Task[None]) -> None:
        """Note what became of a message, which perhaps nobody awaits any more."""
        del self._sending[key]
        if not ended.cancelled() and ended.exception() is None:
            self._confirmed[key] = True

    async def _send_anew(self, channel: Channel, message: Message) -> None:
        """Send *message*; over a new connection if that fails over the one that was kept.

        Why it fails is known by the new one alone: some libraries report a broken connection as something else.
        """
        if self._open is not None:
            with suppress(CallFailed):
                await self._send(self._open, channel, message)
                return
        await self._send(await self._opened(), channel, message)

    async def _send(self, over: "_Open", channel: Channel, message: Message) -> None:
        try:
            await over.send(channel, message)
        except BaseException:  # cancelled, too: what was under way may stand in the way of what follows
            self._discard(over)
            raise

    async def _opened(self) -> "_Open":
        async with self._opening:
            if self._open is None:
                connecting = self._connect()
                try:
                    async with asyncio.timeout(self._timeout):
                        self._open = _Open(connecting, await connecting.__aenter__())
                except TimeoutError as error:
                    raise CallFailed("the broker did not answer in time", code="Timeout") from error
            return self._open

    def _discard(self, broken: "_Open | None") -> None:
        """Close a connection, beside what goes on, and use it no more."""
        if broken is None or broken is not self._open:
            return
        self._open = None
        closing = asyncio.get_running_loop().create_task(broken.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)


class _Open:
    def __init__(self, connecting: AbstractAsyncContextManager[Send], send: Send) -> None:
        self._connecting = connecting
        self.send = send

    async def close(self) -> None:
        """Close it; it may be broken already."""
        with suppress(CallFailed):
            await self._connecting.__aexit__(None, None, None)
