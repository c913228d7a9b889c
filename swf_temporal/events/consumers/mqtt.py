"""Messages from an MQTT topic, in a session that the broker keeps while the consumer is away."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from swf_temporal.events.brokers.mqtt import connected, incoming, mapping_faults
from swf_temporal.events.brokers.port import Channel
from swf_temporal.events.consumers.consumer import Incoming
from swf_temporal.settings.events import ConsumerSettings

_log = logging.getLogger("swf.events")

_AT_LEAST_ONCE: Final = 1


class MqttSource:
    """Subscribes with a quality of service of 1. Unacknowledged messages are redelivered after reconnecting."""

    def __init__(self, channel: Channel, settings: ConsumerSettings) -> None:
        self._channel = channel
        self._settings = settings
        self._filter = channel.address if settings.group is None else f"$share/{settings.group}/{channel.address}"

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncGenerator[Incoming]]:
        """Resume the session, or begin one, and subscribe. A broken connection is noticed at once."""
        channel = self._channel
        async with connected(channel, receives=True, at_once=self._settings.prefetch) as session:
            with mapping_faults(channel):
                await session.listen(self._filter, _AT_LEAST_ONCE)
            async with asyncio.TaskGroup() as tasks:
                watcher = tasks.create_task(self._notice(session))
                yield self._messages(session)
                watcher.cancel()

    async def _notice(self, session: Any) -> None:
        with mapping_faults(self._channel):
            await session.lost()

    async def _messages(self, session: Any) -> AsyncGenerator[Incoming]:
        messages, left = aiter(session.messages), set[str]()
        while True:
            with mapping_faults(self._channel):
                received = await anext(messages)
                topic = str(received.topic)
                if topic not in left and not received.topic.matches(self._channel.address):
                    left.add(topic)
                    await self._leave(session, topic)
            accept = session.acknowledging(received)
            # MQTT has no dead letters: a refused message is skipped.
            yield Incoming(incoming(received), accept, accept, place=f"topic {topic}, packet {received.mid}")

    async def _leave(self, session: Any, topic: str) -> None:
        """Unsubscribe from a topic that the session still has from an earlier configuration of its consumer."""
        _log.warning(
            "%s: the session at the broker is subscribed to %s, too, which was its topic before: it is unsubscribed "
            "from that; if it had been a pattern, choose another `clientId`",
            self._settings.name,
            topic,
        )
        group = self._settings.group
        await session.unsubscribe([topic, *([] if group is None else [f"$share/{group}/{topic}"])])
