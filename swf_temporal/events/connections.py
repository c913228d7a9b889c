"""Connections of sinks to brokers: one for each sink of a worker, kept until it breaks or the worker ends."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import TypeAlias

from swf_temporal.errors import CallFailed
from swf_temporal.functions.asyncapi.brokers.port import Channel, Message, Send

Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Send]]
"""Returns what connects when it is entered. Raises CallFailed."""


class Connection:
    """The connection of one sink, made when it is first needed, and again after it broke."""

    def __init__(self, connect: Connect, timeout: float) -> None:
        """Connect by *connect*, within *timeout* seconds."""
        self._connect = connect
        self._timeout = timeout
        self._opening = asyncio.Lock()
        self._open: _Open | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def send(self, channel: Channel, message: Message) -> None:
        """Send *message*; over a new connection if that fails over the one that was kept. Raises CallFailed.

        Why it fails is known by the new one alone: some libraries report a broken connection as something else.
        """
        if self._open is not None:
            with suppress(CallFailed):
                await self._send(self._open, channel, message)
                return
        await self._send(await self._opened(), channel, message)

    async def aclose(self) -> None:
        self._discard(self._open)
        if self._closing:
            await asyncio.wait(self._closing)

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
