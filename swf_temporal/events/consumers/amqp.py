"""Messages from an AMQP 0-9-1 queue, such as one of RabbitMQ."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from swf_temporal.events.brokers.amqp import connected, incoming, mapping_faults, route_of
from swf_temporal.events.brokers.port import LOST, Channel, Refused
from swf_temporal.events.channels import dead_letters_at
from swf_temporal.events.consumers.consumer import Incoming
from swf_temporal.settings.events import ConsumerSettings


class AmqpSource:
    """Consumes from a queue. Refused messages go to its dead letter exchange, if it has one."""

    def __init__(self, channel: Channel, settings: ConsumerSettings) -> None:
        self._channel = channel
        self._prefetch = settings.prefetch
        self._dead_letters = dead_letters_at(channel, settings)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncGenerator[Incoming]]:
        """Consume; the queue and the dead letter queue must exist, or be declared by the settings."""
        channel = self._channel
        async with connected(channel) as connection:
            if self._dead_letters is not None:
                with mapping_faults(self._dead_letters):
                    await route_of(self._dead_letters).queue(connection)
            with mapping_faults(channel):
                queue = await route_of(channel).queue(connection)
                await queue.channel.set_qos(prefetch_count=self._prefetch)
            yield self._messages(queue)

    async def _messages(self, queue: Any) -> AsyncGenerator[Incoming]:
        with mapping_faults(self._channel):
            async with queue.iterator() as messages:
                async for received in messages:
                    yield self._told(received)
            raise Refused(LOST)

    def _told(self, received: Any) -> Incoming:
        async def accept() -> None:
            with mapping_faults(self._channel):
                await received.ack()

        async def refuse() -> None:
            with mapping_faults(self._channel):
                await received.reject(requeue=False)

        known = {"routing key": received.routing_key, "message id": received.message_id}
        place = ", ".join(f"{name} {value}" for name, value in known.items() if value)
        return Incoming(incoming(self._channel, received), accept, refuse, place=place)
