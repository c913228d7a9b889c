"""Dead letters: where the messages of a consumer go that can never be taken."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from swf_temporal.base.errors import CallFailed
from swf_temporal.events.brokers.jetstream import storing
from swf_temporal.events.brokers.port import Channel, Message
from swf_temporal.events.brokers.protocols import Brokers
from swf_temporal.events.channels import channel_of, client_id_of, dead_letters_at
from swf_temporal.events.consumers.port import Incoming
from swf_temporal.events.messages import id_in
from swf_temporal.functions.http.broker import HttpBroker
from swf_temporal.functions.http.client import Http
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import ConsumerSettings

_log = logging.getLogger("swf.events")

_MAX_LETTER_BYTES: Final = 64 * 1024 * 1024
"""The size limit of dead letters; that of the broker may be lower."""
_FIRST_PAUSE: Final = 0.5
_MAX_PAUSE: Final = 10.0
_ROUTING: Final = frozenset({"CC", "BCC"})
"""Headers of RabbitMQ that lead to other queues as well. It refuses them as the texts that headers are here."""
_KEEPING: Final = frozenset({"amqp", "nats"})
"""The families whose brokers can be told to refuse a message; the others know nothing but how far a consumer is."""


class DeadLetters:
    """Puts away what a consumer cannot take: at the address for it or, without one, as the broker does."""

    def __init__(self, consumer: ConsumerSettings, settings: Settings) -> None:
        self._consumer = consumer
        self._brokers = Brokers(HttpBroker(Http(settings)))
        channel = channel_of(settings, consumer, client_id_of(f"{consumer.name}/dead"), _MAX_LETTER_BYTES)
        self._channel = dead_letters_at(channel, consumer)

    def tell_loss(self) -> None:
        """Say that nothing is left of messages that cannot be taken, where it is so."""
        if self._channel is None and self._consumer.family not in _KEEPING:
            _log.warning(
                "%s: messages that cannot be taken will be gone: %s has no dead letters of its own, and no "
                "`deadLetter` is set",
                self._consumer.name,
                self._consumer.url.partition(":")[0],
            )

    async def bury(self, incoming: Incoming, reason: str) -> str:
        """Let the message be delivered no more; return what became of it: `dead-lettered` or `refused`.

        While its address does not take it, it is tried again.
        """
        name, what = self._consumer.name, f"{self._described(incoming)}: {reason}"
        if self._channel is None:
            _log.error("%s: a message is refused%s", name, what)
            await incoming.refuse()
            return "refused"
        message = incoming.message
        letter = replace(message, headers={**self._kept(message.headers), "swf-reason": reason[:500]}, reply_to=None)
        pause = _FIRST_PAUSE
        while True:
            try:
                await self._send(self._channel, letter)
                break
            except CallFailed as fault:
                if not fault.retryable:
                    _log.error("%s: a message is refused, and cannot be a dead letter (%s)%s", name, fault, what)
                    await incoming.refuse()
                    return "refused"
                if pause == _FIRST_PAUSE:
                    _log.error("%s: a message cannot be a dead letter yet, and is kept (%s)%s", name, fault, what)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE)
        _log.error("%s: a message goes to the dead letters at %s%s", name, self._channel.address, what)
        await incoming.accept()
        return "dead-lettered"

    async def _send(self, channel: Channel, letter: Message) -> None:
        if self._consumer.family != "nats":
            await self._brokers.speaking(self._consumer.family).send(channel, letter)
            return
        async with storing(channel) as send:
            await send(channel, letter)

    def _kept(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        """Return those of *headers* that a letter has."""
        routing = _ROUTING if self._consumer.family == "amqp" else ()
        return {name: value for name, value in headers.items() if name not in routing}

    def _described(self, incoming: Incoming) -> str:
        """Return what finds the message again."""
        message = incoming.message
        is_small = len(message.payload) <= self._consumer.max_bytes
        id_ = id_in(message, self._consumer.family) if is_small else None
        found = ", ".join(filter(None, (incoming.place, id_ and f"event {id_[:200]!r}")))
        return f" ({found})" if found else ""
