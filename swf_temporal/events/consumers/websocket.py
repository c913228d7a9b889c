"""Messages over a WebSocket, each an event in JSON.

The protocol has no acknowledgements: messages that a server sends while no consumer is connected, or while a consumer
is killed, are lost unless the server resends them by itself. Messages received before a connection ended are handled
before the next connection is made.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from swf_temporal.base.errors import CallFailed
from swf_temporal.events.brokers.port import LOST, Channel, Message, Refused
from swf_temporal.events.brokers.websocket import mapping_faults, opened
from swf_temporal.events.consumers.consumer import Incoming
from swf_temporal.settings.events import ConsumerSettings


class WebSocketSource:
    """Connects to a server, which sends events over the connection."""

    def __init__(self, channel: Channel, settings: ConsumerSettings) -> None:  # noqa: ARG002 - all sources take both
        self._channel = channel

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncGenerator[Incoming]]:
        async with opened(self._channel) as connection:
            yield self._messages(connection)

    async def _messages(self, connection: Any) -> AsyncGenerator[Incoming]:
        held, is_free = 0, asyncio.Event()

        async def finish() -> None:
            nonlocal held
            held -= 1
            is_free.set()

        try:
            with mapping_faults(self._channel):
                async for frame in connection:
                    content = frame.encode() if isinstance(frame, str) else frame
                    held += 1
                    yield Incoming(Message(content), finish, finish)
                raise Refused(LOST)
        except CallFailed:
            while held:
                is_free.clear()
                await is_free.wait()
            raise
