"""A consumer: takes messages from a broker, hands on the events that they carry, and acknowledges them then.

Theory of operation. A message is acknowledged when its event was taken, that is when Temporal has it. A consumer that
is killed in between gets the message again, and an event that was taken before has no second effect. So every event
counts once, as long as it keeps its source and its id.

While the receiver does not answer, the message is held, and the event is tried again. A message that can never be taken
(it is no CloudEvent, it is too large, its event is refused) must not stand in the way of others: it goes to the address
for dead letters, if there is one, with the reason in its headers; else it is refused, which lets the broker do what it
does with dead letters. An event that no definition consumes is acknowledged.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.events.channels import at, channel_of, client_id_of
from swf_temporal.events.consumers.port import Incoming, MessageSource, NeverError, NotNowError, Take
from swf_temporal.events.messages import event_in
from swf_temporal.events.settings import ConsumerSettings
from swf_temporal.functions.asyncapi.brokers.protocols import Brokers
from swf_temporal.functions.call import cause_here
from swf_temporal.functions.http.client import Http
from swf_temporal.functions.log_scrubbing import scrub_libraries, scrubbing
from swf_temporal.functions.operator.settings import Settings
from swf_temporal.functions.secrets import scrub

_log = logging.getLogger("swf.events")

_MAX_LETTER_BYTES: Final = 64 * 1024 * 1024
"""The size limit of dead letters; that of the broker may be lower."""
_FIRST_PAUSE: Final = 0.5
_MAX_PAUSE: Final = 10.0
_MAX_FAILURES: Final = 3
"""How often an event is tried that fails for a reason that nobody foresaw."""
_HOLDING: Final = 10.0
"""Seconds after which the broker is told again that a message has not been forgotten."""
_MAX_REMEMBERED: Final = 1000
"""The number of event types of which it is remembered that nobody consumes them."""


class Consumer:
    """Consumes from one source until it is cancelled, and connects again whenever the connection breaks."""

    def __init__(
        self,
        consumer: ConsumerSettings,
        source: MessageSource,
        take: Take,
        settings: Settings,
        count: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Consume from *source*; *count* is told what becomes of each message."""
        self.settings = consumer
        self._count = count
        self.is_connected = False
        self._source = source
        self._take = take
        self._family = consumer.family
        self._dead_letters = _DeadLetters(consumer, settings)
        self._hidden: dict[str, JSON] = {"credentials": [*consumer.secrets, *settings.credentials]}
        scrub_libraries()
        self._unknown: set[str] = set()

    async def run(self) -> None:
        """Consume, for good: whatever breaks, it connects again after a while. Its credentials are not logged."""
        with scrubbing(lambda: self._hidden):
            await self._run()

    async def _run(self) -> None:
        name, pause, clock = self.settings.name, _FIRST_PAUSE, asyncio.get_running_loop()
        while True:
            began = clock.time()
            try:
                async with self._source.open() as messages:
                    _log.info("%s: consuming from %s", name, self._place)
                    self.is_connected = True
                    await self._consume(messages)
            except* CallFailed as group:
                _log.warning("%s: %s", name, scrub(str(cause_here(_first(group))), self._hidden))
            except* Exception:  # noqa: BLE001 - a library may raise what it does not promise
                _log.exception("%s: the connection broke", name)
            finally:
                self.is_connected = False
            pause = _FIRST_PAUSE if clock.time() - began > _MAX_PAUSE else pause
            _log.info("%s: reconnecting in %g s", name, pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE)

    @property
    def _place(self) -> str:
        broker = self.settings
        return " ".join(filter(None, (broker.url.rpartition("@")[2], broker.address)))

    async def _consume(self, messages: AsyncGenerator[Incoming]) -> None:
        room = asyncio.Semaphore(self.settings.prefetch)
        last: dict[str, asyncio.Task[None]] = {}
        async with aclosing(messages), asyncio.TaskGroup() as tasks:
            async for incoming in messages:
                await room.acquire()
                before = last.get(incoming.lane) if self.settings.ordered else None
                task = tasks.create_task(self._handle_in_turn(incoming, before))
                task.add_done_callback(lambda _: room.release())
                last[incoming.lane] = task

    async def _handle_in_turn(self, incoming: Incoming, before: asyncio.Task[None] | None) -> None:
        while before is not None and not before.done():
            if not (await asyncio.wait([before], timeout=_HOLDING))[0]:
                await incoming.hold()
        await self._handle(incoming)

    async def _handle(self, incoming: Incoming) -> None:
        message = incoming.message
        try:
            if len(message.payload) > self.settings.max_bytes:
                raise NeverError(f"it has {len(message.payload):,} bytes, and {self.settings.max_bytes:,} are allowed")  # noqa: TRY301 - all that can never be taken ends alike
            event = event_in(message, self._family)
            number = await self._taken(event, incoming)
        except (ValueError, NeverError) as error:
            self._count(await self._dead_letters.bury(incoming, str(error)))
            return
        if not number:
            self._tell_unknown(event)
        await incoming.accept()
        self._count("taken" if number else "unknown")

    async def _taken(self, event: CloudEvent, incoming: Incoming) -> int:
        """Hand *event* on, as often as it takes until its receiver answers.

        Raises NeverError for one that is refused, or that cannot be handled for a reason that nobody foresaw.
        """
        pause, failures = _FIRST_PAUSE, 0
        while True:
            try:
                return await self._take(event)
            except NotNowError as error:
                _log.warning(
                    "%s: the event %r is not taken yet: %s; again in %g s", self.settings.name, event.id, error, pause
                )
            except NeverError:
                raise
            except Exception as error:
                failures += 1
                if failures == _MAX_FAILURES:
                    raise NeverError(f"{type(error).__name__}: {error}") from error
                _log.exception("%s: the event %r is not taken yet", self.settings.name, event.id)
            self._count("held")
            await incoming.hold()
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE)

    def _tell_unknown(self, event: CloudEvent) -> None:
        """Tell, once for each type, that nobody consumes such an event."""
        if event.type in self._unknown or len(self._unknown) >= _MAX_REMEMBERED:
            return
        self._unknown.add(event.type)
        _log.info("%s: no definition consumes events of type %r from %r", self.settings.name, event.type, event.source)


class _DeadLetters:
    """The destination of messages that cannot be processed."""

    def __init__(self, consumer: ConsumerSettings, settings: Settings) -> None:
        self._name = consumer.name
        self._brokers = Brokers(Http(settings))
        self._family = consumer.family
        self._channel = None
        if consumer.dead_letter is not None:
            channel = channel_of(settings, consumer, client_id_of(f"{consumer.name}/dead"), _MAX_LETTER_BYTES)
            self._channel = at(channel, consumer.dead_letter)

    async def bury(self, incoming: Incoming, reason: str) -> str:
        """Let the message be delivered no more; return what became of it: `dead-lettered` or `refused`."""
        if self._channel is None:
            _log.error("%s: a message is refused: %s", self._name, reason)
            await incoming.refuse()
            return "refused"
        message = incoming.message
        letter = replace(message, headers={**message.headers, "swf-reason": reason[:500]}, reply_to=None)
        try:
            await self._brokers.speaking(self._family).send(self._channel, letter)
        except CallFailed as fault:
            if fault.retryable:
                raise
            _log.error("%s: a message is refused: %s; and it cannot be a dead letter: %s", self._name, reason, fault)
            await incoming.refuse()
            return "refused"
        _log.error("%s: a message goes to the dead letters at %s: %s", self._name, self._channel.address, reason)
        await incoming.accept()
        return "dead-lettered"


def _first(group: BaseExceptionGroup[CallFailed]) -> CallFailed:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, CallFailed)  # noqa: S101 - for the type checker
    return error
