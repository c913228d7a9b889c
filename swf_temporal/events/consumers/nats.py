"""Messages from a NATS subject, kept by a JetStream stream until they are acknowledged."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from swf_temporal.base.importing import optional
from swf_temporal.base.stopping import end_if_cancelled
from swf_temporal.events.brokers.jetstream import stream_of
from swf_temporal.events.brokers.nats import connected, incoming, mapping_faults
from swf_temporal.events.brokers.port import LOST, Channel, Refused
from swf_temporal.events.consumers.consumer import Incoming
from swf_temporal.settings.events import ConsumerSettings

_ASKING: Final = 5.0
"""Seconds for which a request waits for a message at the server."""
_ACK_WAIT: Final = 10.0
"""Seconds after which the server redelivers a message that is neither acknowledged nor held."""
_OTHER: Final = ("OtherSubject", "the durable consumer belongs to another subject")


class NatsSource:
    """Pulls from a durable JetStream consumer, which the server keeps under the name of the group."""

    def __init__(self, channel: Channel, settings: ConsumerSettings) -> None:
        self._channel = channel
        self._settings = settings
        self._durable = settings.group or settings.name

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncGenerator[Incoming]]:
        """Connect, and use the durable consumer, which is created if it does not exist."""
        channel = self._channel
        async with connected(channel) as (connection, _):
            with mapping_faults(channel):
                async with asyncio.timeout(channel.timeout):
                    subscription = await self._subscribed(connection)
                    if self._settings.dead_letter is not None:
                        await stream_of(connection, self._settings.dead_letter)
            yield self._messages(connection, subscription)

    async def _subscribed(self, connection: Any) -> Any:
        library, subject = _library("nats.js.api"), self._channel.address
        stream = self._settings.stream or await stream_of(connection, subject)
        subscription = await connection.jetstream().pull_subscribe(
            subject,
            durable=self._durable,
            stream=stream,
            config=library.ConsumerConfig(
                ack_policy=library.AckPolicy.EXPLICIT, ack_wait=_ACK_WAIT, max_ack_pending=self._settings.prefetch
            ),
        )
        config = (await subscription.consumer_info()).config
        taken = [config.filter_subject] if config.filter_subject else config.filter_subjects or [">"]
        if taken != [subject]:
            what = f"the durable consumer {self._durable!r} of the stream {stream!r} takes {' and '.join(taken)}"
            raise Refused(_OTHER, f"{what}, not {subject}: name another `group`, or delete that consumer")
        return subscription

    async def _messages(self, connection: Any, subscription: Any) -> AsyncGenerator[Incoming]:
        timed_out = _library("nats.errors").TimeoutError
        with mapping_faults(self._channel):
            info = await subscription.consumer_info()
            if self._settings.ordered and info.num_ack_pending:
                # Messages that an earlier connection left are redelivered after that time; newer ones must follow them.
                await asyncio.sleep(info.config.ack_wait or _ACK_WAIT)
            while True:
                end_if_cancelled()
                if connection.is_closed:
                    raise Refused(LOST)
                try:
                    (received,) = await subscription.fetch(1, timeout=_ASKING)
                except timed_out:
                    # If the consumer was deleted, the library reports the same as for no message yet.
                    await subscription.consumer_info()
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

        place = f"stream {received.metadata.stream}, sequence {received.metadata.sequence.stream}"
        return Incoming(incoming(received), accept, refuse, hold, place=place)


def _library(module: str) -> Any:
    return optional(module, "nats", "messages of NATS")
