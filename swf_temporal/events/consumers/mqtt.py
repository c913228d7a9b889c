"""Messages from a topic of MQTT, in a session that the broker keeps while the consumer is away."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from swf_temporal.events.consumers.port import Incoming
from swf_temporal.events.settings import ConsumerSettings
from swf_temporal.functions.asyncapi.brokers.mqtt import connected, incoming, mapping_faults
from swf_temporal.functions.asyncapi.brokers.port import Channel

_AT_LEAST_ONCE: Final = 1


class MqttSource:
    """Subscribes with a quality of service of 1. What is not acknowledged comes again after the next connection."""

    def __init__(self, channel: Channel, settings: ConsumerSettings) -> None:
        self._channel = channel
        self._filter = channel.address if settings.group is None else f"$share/{settings.group}/{channel.address}"
        self._prefetch = settings.prefetch

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncGenerator[Incoming]]:
        """Go on with the session, or begin one, and subscribe."""
        channel = self._channel
        async with connected(channel, receives=True, at_once=self._prefetch) as session:
            with mapping_faults(channel):
                await session.listen(self._filter, _AT_LEAST_ONCE)
            yield self._messages(session)

    async def _messages(self, session: Any) -> AsyncGenerator[Incoming]:
        messages = aiter(session.messages)
        while True:
            with mapping_faults(self._channel):
                received = await anext(messages)
            accept = session.acknowledging(received)
            # MQTT knows no dead letters: what is refused is passed over.
            yield Incoming(incoming(received), accept, accept, place=f"topic {received.topic}, packet {received.mid}")
