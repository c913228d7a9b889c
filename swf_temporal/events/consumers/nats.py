"""Messages from a subject of NATS, kept by a stream of JetStream until they are acknowledged."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from swf_temporal.events.consumers.port import Incoming
from swf_temporal.events.settings import ConsumerSettings
from swf_temporal.functions.asyncapi.brokers.faults import LOST, UNKNOWN, Refused
from swf_temporal.functions.asyncapi.brokers.nats import connected, incoming, mapping_faults
from swf_temporal.functions.asyncapi.brokers.port import Channel
from swf_temporal.functions.call import optional

_ASKING: Final = 5.0
"""Seconds for which the server lets a request wait for a message."""
_ACK_WAIT: Final = 30.0
"""Seconds after which the server delivers a message again that is neither acknowledged nor held."""


class NatsSource:
    """Pulls from a durable consumer of JetStream, which the server remembers by the name of the group."""

    def __init__(self, channel: Channel, settings: ConsumerSettings) -> None:
        self._channel = channel
        self._stream = settings.stream
        self._durable = settings.group or settings.name
        self._prefetch = settings.prefetch

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncGenerator[Incoming]]:
        """Connect, and use the durable consumer; it is made if it is not there."""
        channel = self._channel
        async with connected(channel) as (connection, _):
            with mapping_faults(channel):
                async with asyncio.timeout(channel.timeout):
                    subscription = await self._subscribed(connection)
            yield self._messages(connection, subscription)

    async def _subscribed(self, connection: Any) -> Any:
        library = _library("nats.js.api")
        try:
            return await connection.jetstream().pull_subscribe(
                self._channel.address,
                durable=self._durable,
                stream=self._stream,
                config=library.ConsumerConfig(
                    ack_policy=library.AckPolicy.EXPLICIT, ack_wait=_ACK_WAIT, max_ack_pending=self._prefetch
                ),
            )
        except _library("nats.js.errors").NotFoundError as error:
            raise Refused(UNKNOWN, "no stream of JetStream has the subject") from error

    async def _messages(self, connection: Any, subscription: Any) -> AsyncGenerator[Incoming]:
        timed_out = _library("nats.errors").TimeoutError
        with mapping_faults(self._channel):
            while True:
                if connection.is_closed:
                    raise Refused(LOST)
                try:
                    (received,) = await subscription.fetch(1, timeout=_ASKING)
                except timed_out:
                    continue
                yield self._told(received)

    def _told(self, received: Any) -> Incoming:
        async def accept() -> None:
            with mapping_faults(self._channel):
                await received.ack()

        async def refuse() -> None:
            with mapping_faults(self._channel):
                await received.term()

        async def hold() -> None:
            with mapping_faults(self._channel):
                await received.in_progress()

        return Incoming(incoming(received), accept, refuse, hold)


def _library(module: str) -> Any:
    return optional(module, "nats", "messages of NATS")
