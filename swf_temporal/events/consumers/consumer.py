"""A consumer: receives messages from a broker, delivers the events that they carry, and then acknowledges them.

Theory of operation. A message is acknowledged once its event was taken, that is when Temporal has it. A consumer that
is killed in between gets the message again, and an event that was taken before has no second effect. So every event
counts once, as long as it keeps its source and its id.

While the receiver does not answer, the message is held, and the event is retried. A message that can never be taken
(it is not a CloudEvent, it is too large, its event is refused) must not block others: it goes to the dead letter
address, if there is one, with the reason in its headers; otherwise it is refused, and the broker applies its own dead
letter rules. An event that no definition consumes is acknowledged.
"""

import asyncio
import importlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.importing import optional
from swf_temporal.base.installed import EVENT_SOURCES, offered
from swf_temporal.base.stopping import end_if_cancelled
from swf_temporal.base.strict_json import write_json
from swf_temporal.events.brokers.families import FAMILIES, Brokers
from swf_temporal.events.brokers.jetstream import storing
from swf_temporal.events.brokers.port import Channel, Message
from swf_temporal.events.channels import (
    STRUCTURED,
    EventSource,
    channel_of,
    client_id_of,
    dead_letters_at,
    event_in,
    id_in,
)
from swf_temporal.functions.call import cause_here
from swf_temporal.functions.http.broker import HttpBroker
from swf_temporal.functions.http.client import Http
from swf_temporal.functions.log_scrubbing import scrub_libraries, scrubbing
from swf_temporal.functions.secrets import scrub
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import ConsumerSettings


class NotNowError(Exception):
    """The event cannot be taken at the moment, because its receiver does not answer; it is retried."""


class NeverError(Exception):
    """The event can never be taken, such as one that is too large."""


Take: TypeAlias = Callable[[CloudEvent], Awaitable[int]]
"""Takes an event; returns how many definitions consume it. Raises NotNowError or NeverError."""


async def nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A received message. If it is neither accepted nor refused, the broker redelivers it."""

    message: Message
    accept: Callable[[], Awaitable[None]]
    """Acknowledge the message: the broker need not redeliver it."""
    refuse: Callable[[], Awaitable[None]]
    """Reject the message: the broker must not redeliver it, and may keep it as a dead letter."""
    hold: Callable[[], Awaitable[None]] = nothing
    """Notify the broker that the message is still being worked on."""
    lane: str = ""
    """The partition: the broker keeps the order of messages in the same lane."""
    place: str = ""
    """The location of the message at the broker: its partition and offset, its stream and sequence."""


class MessageSource(Protocol):
    """One queue, topic or subject of a broker. The exceptions of its library become CallFailed."""

    def open(self) -> AbstractAsyncContextManager[AsyncGenerator[Incoming]]:
        """Connect: entering returns once messages are received, from this consumer's last position."""


_log = logging.getLogger("swf.events")

RESULTS: Final = ("taken", "unknown", "dead-lettered", "refused", "held")
"""The outcomes of a message that are counted."""
_MAX_LETTER_BYTES: Final = 64 * 1024 * 1024
"""The size limit of dead letters; the broker's may be lower."""
_FIRST_PAUSE: Final = 0.5
_MAX_PAUSE: Final = 10.0


class DeadLetters:
    """Disposes of messages that a consumer cannot take: sends them to the dead letter address, or refuses them."""

    def __init__(self, consumer: ConsumerSettings, settings: Settings) -> None:
        self._consumer = consumer
        self._brokers = Brokers(HttpBroker(Http(settings)))
        self._channel: Channel | None = None
        if consumer.dead_letter is not None:
            channel = channel_of(settings, consumer, client_id_of(f"{consumer.name}/dead"), _MAX_LETTER_BYTES)
            self._channel = dead_letters_at(channel, consumer)

    def tell_loss(self) -> None:
        """Log a warning if messages that cannot be taken will be lost."""
        if self._channel is None and not FAMILIES[self._consumer.family].refuses_messages:
            _log.warning(
                "%s: messages that cannot be taken will be lost: %s has no dead letters, and `deadLetter` is not set",
                self._consumer.name,
                self._consumer.url.partition(":")[0],
            )

    async def bury(self, incoming: Incoming, reason: str) -> str:
        """End the delivery of a message; return what became of it: `dead-lettered` or `refused`.

        Sending it to the dead letter address is retried until that takes it.
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
        """Return the *headers* that a dead letter keeps."""
        routing = FAMILIES[self._consumer.family].routing_headers
        return {name: value for name, value in headers.items() if name not in routing}

    def _described(self, incoming: Incoming) -> str:
        """Return where the message can be found at the broker, and its event's id."""
        message = incoming.message
        is_small = len(message.payload) <= self._consumer.max_bytes
        id_ = id_in(message, self._consumer.family) if is_small else None
        found = ", ".join(filter(None, (incoming.place, id_ and f"event {id_[:200]!r}")))
        return f" ({found})" if found else ""


_MAX_FAILURES: Final = 3
"""The number of attempts at an event that fails with an unexpected error."""
_HOLDING: Final = 3.0
"""Seconds between two notices to the broker that messages are still being worked on."""
_FINISHING: Final = 10.0
"""Seconds in which a consumer that ends delivers the messages that it holds, if its server would not resend them."""
_MAX_REMEMBERED: Final = 1000
"""The number of unconsumed event types that are remembered."""


class Consumer:
    """Consumes from one source until it is cancelled, and reconnects whenever the connection breaks."""

    def __init__(
        self,
        consumer: ConsumerSettings,
        source: MessageSource,
        take: Take,
        settings: Settings,
        count: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Consume from *source*; *count* is called with the outcome of each message."""
        self.settings = consumer
        self._count = count
        self.is_connected = False
        self._source = source
        self._take = take
        self._family = consumer.family
        self._dead_letters = DeadLetters(consumer, settings)
        self._hidden: dict[str, JSON] = {"credentials": [*consumer.secrets, *settings.credentials]}
        scrub_libraries()
        self._unknown: set[str] = set()

    async def run(self) -> None:
        """Consume until cancelled, reconnecting after errors. Credentials are not logged."""
        with scrubbing(lambda: self._hidden):
            await self._run()

    async def _run(self) -> None:
        name, pause, clock = self.settings.name, _FIRST_PAUSE, asyncio.get_running_loop()
        self._dead_letters.tell_loss()
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
            end_if_cancelled()
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
        turns: dict[str, asyncio.Event] = {}
        held: dict[asyncio.Task[None], Incoming] = {}

        def forget(task: asyncio.Task[None]) -> None:
            del held[task]
            room.release()

        async with aclosing(messages), asyncio.TaskGroup() as tasks:
            holding = tasks.create_task(_hold(held))
            try:
                await room.acquire()
                async for incoming in messages:
                    before = turns.get(incoming.lane) if self.settings.ordered else None
                    turn = turns[incoming.lane] = asyncio.Event()
                    task = tasks.create_task(self._handle(incoming, before, turn))
                    held[task] = incoming
                    task.add_done_callback(forget)
                    end_if_cancelled()
                    await room.acquire()
            except asyncio.CancelledError:
                if held and not FAMILIES[self._family].keeps_messages:
                    await asyncio.wait(held, timeout=_FINISHING)
                raise
            holding.cancel()

    async def _handle(self, incoming: Incoming, before: asyncio.Event | None, turn: asyncio.Event) -> None:
        """Take a message once *before*, its predecessor's event, is set; set *turn* when the next one may be taken."""
        if before is not None:
            await before.wait()
        try:
            await self._hand_on(incoming)
        except (ValueError, NeverError) as error:
            if not FAMILIES[self._family].acknowledges_in_order:
                turn.set()
            self._count(await self._dead_letters.bury(incoming, str(error)))
        turn.set()

    async def _hand_on(self, incoming: Incoming) -> None:
        """Deliver the event of a message, and accept it. Raises ValueError or NeverError if it can never be taken."""
        message = incoming.message
        if len(message.payload) > self.settings.max_bytes:
            raise NeverError(f"it has {len(message.payload):,} bytes, and {self.settings.max_bytes:,} are allowed")
        event = event_in(message, self._family)
        number = await self._taken(event)
        if not number:
            self._tell_unknown(event)
        await incoming.accept()
        self._count("taken" if number else "unknown")

    async def _taken(self, event: CloudEvent) -> int:
        """Deliver *event*, retrying until its receiver answers.

        Raises NeverError if it is refused, or after repeated unexpected errors.
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
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE)

    def _tell_unknown(self, event: CloudEvent) -> None:
        """Log, once for each type, that no definition consumes such an event."""
        if event.type in self._unknown or len(self._unknown) >= _MAX_REMEMBERED:
            return
        self._unknown.add(event.type)
        _log.info("%s: no definition consumes events of type %r from %r", self.settings.name, event.type, event.source)


async def _hold(held: Mapping[asyncio.Task[None], Incoming]) -> None:
    """Notify the broker regularly that messages are still being worked on."""
    while True:
        await asyncio.sleep(_HOLDING)
        for incoming in list(held.values()):
            await incoming.hold()


def _first(group: BaseExceptionGroup[CallFailed]) -> CallFailed:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, CallFailed)  # noqa: S101 - for the type checker
    return error


class CustomSource:
    """Takes one event after the other from a source that an installed package offers."""

    def __init__(self, name: str) -> None:
        """Take the source that is offered as *name*. Raises UsageError if there is none."""
        self._source: EventSource = offered(EVENT_SOURCES, name, "events")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncGenerator[Incoming]]:
        """Take events from it within the context."""
        async with aclosing(self._source.events()) as events:
            yield _one_by_one(events)


async def _one_by_one(events: AsyncGenerator[object]) -> AsyncGenerator[Incoming]:
    async for event in events:
        done = asyncio.Event()

        async def finish(done: asyncio.Event = done) -> None:
            done.set()

        given = event.to_json() if isinstance(event, CloudEvent) else event
        yield Incoming(Message(write_json(given).encode(), content_type=STRUCTURED), finish, finish)
        await done.wait()


def source_of(consumer: ConsumerSettings, settings: Settings, deployment: str = "") -> MessageSource:
    """Return the source of *consumer*'s messages, as a client whose id is derived from its name and *deployment*.

    Raises CallFailed if the library of its protocol is missing, and UsageError if no package offers it.
    """
    if consumer.custom is not None:
        return CustomSource(consumer.custom)
    kind = FAMILIES[consumer.family]
    optional(kind.library, kind.module, f"consumers of {consumer.family}")
    channel = channel_of(settings, consumer, client_id_of(f"{deployment}/{consumer.name}"), consumer.max_bytes)
    made: MessageSource = getattr(importlib.import_module(f"swf_temporal.events.consumers.{kind.module}"), kind.source)(
        channel, consumer
    )
    return made
