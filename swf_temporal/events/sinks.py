"""Sinks: the destinations of events that workflows produce.

Theory of operation. A message that the broker did not confirm in time may have arrived nevertheless: resending it would
duplicate it. So sending continues after an attempt times out, over the same connection, and the next attempt for the
same event awaits that. Only if the connection breaks is the message resent, over a new one.
"""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final, TypeAlias
from uuid import uuid4

from cachetools import LRUCache

from swf_temporal.base.cloud_event import CloudEvent, check_attributes
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.installed import EVENT_SINKS, offered
from swf_temporal.events.brokers.families import Brokers
from swf_temporal.events.brokers.jetstream import storing
from swf_temporal.events.brokers.port import Channel, Connecting, Message, Send
from swf_temporal.events.channels import EventSink, channel_of, client_id_of, message_of
from swf_temporal.functions.call import cause_here
from swf_temporal.functions.http.broker import HttpBroker
from swf_temporal.functions.log_scrubbing import scrub_libraries, scrubbing
from swf_temporal.functions.port import Services
from swf_temporal.functions.secrets import scrubbed
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import ROUTER, SinkSettings

Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Send]]
"""Returns a context that connects when it is entered. Raises CallFailed."""

_OUTLASTING: Final = 600.0
"""Seconds without a confirmation after which a connection counts as broken; most libraries notice earlier."""
_MAX_CONFIRMED: Final = 10_000


class Connection:
    """The connection of one sink, opened on first use, and again after it broke."""

    def __init__(self, connect: Connect, timeout: float) -> None:
        """Connect with *connect*, within *timeout* seconds."""
        self._connect = connect
        self._timeout = timeout
        self._opening = asyncio.Lock()
        self._open: _Open | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._sending: dict[str, asyncio.Task[None]] = {}
        self._confirmed: LRUCache[str, bool] = LRUCache(_MAX_CONFIRMED)
        """The keys of messages that were confirmed after their attempt had timed out."""

    async def send(self, channel: Channel, message: Message, key: str) -> None:
        """Send *message*, identified by *key*, unless that is under way or done. Raises CallFailed.

        Awaits the confirmation for the timeout of *channel*; after that, sending continues in the background.
        """
        if self._confirmed.pop(key, False):
            return
        sending = self._sending.get(key)
        if sending is None:
            whole = replace(channel, timeout=max(channel.timeout, _OUTLASTING))
            sending = self._sending[key] = asyncio.create_task(self._send_anew(whole, message))
            sending.add_done_callback(partial(self._note, key))
        done, _ = await asyncio.wait([sending], timeout=channel.timeout)
        if not done:
            raise CallFailed(f"{channel}: the broker did not answer in time", code="Timeout")
        self._confirmed.pop(key, None)
        await sending

    async def aclose(self) -> None:
        sending = [*self._sending.values()]
        for one in sending:
            one.cancel()
        self._discard(self._open)
        if ending := {*sending, *self._closing}:
            await asyncio.wait(ending)

    def _note(self, key: str, ended: asyncio.Task[None]) -> None:
        """Record the outcome of a message, which no attempt may be awaiting any more."""
        del self._sending[key]
        if not ended.cancelled() and ended.exception() is None:
            self._confirmed[key] = True

    async def _send_anew(self, channel: Channel, message: Message) -> None:
        """Send *message* over the open connection or, if that fails, over a new one.

        Only the new connection's error counts: some libraries report a broken connection as another error.
        """
        if self._open is not None:
            with suppress(CallFailed):
                await self._send(self._open, channel, message)
                return
        await self._send(await self._opened(), channel, message)

    async def _send(self, over: "_Open", channel: Channel, message: Message) -> None:
        try:
            await over.send(channel, message)
        except BaseException:  # also cancellation: an unfinished message may block those that follow
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
        """Close a connection in the background, and stop using it."""
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
        """Close the connection, which may be broken already."""
        with suppress(CallFailed):
            await self._connecting.__aexit__(None, None, None)


Deliver = Callable[[CloudEvent], Awaitable[bool]]
"""Delivers an event; returns True if a definition takes it. Raises CallFailed."""


@dataclass(frozen=True, slots=True)
class SinkDelivery:
    sink: SinkSettings
    is_taken: bool = False
    fault: CallFailed | None = None


class Sinks:
    """All sinks of a worker: an event goes to each that takes its type and source.

    Without a sink, events can still be found in each run's history.
    """

    def __init__(self, sinks: Sequence[SinkSettings] = (), settings: Settings | None = None) -> None:
        """Send to *sinks*. Raises UsageError if no installed package offers one of them."""
        self._settings = _reaching(settings or Settings(), sinks)
        self._services = Services(self._settings)
        self._sinks = tuple(sinks)
        own = self._settings.credentials
        self._hidden: dict[str, dict[str, JSON]] = {one.name: {"credentials": [*one.secrets, *own]} for one in sinks}
        """Secrets that no response, error or log line may show, by sink."""
        scrub_libraries()
        self._connections: dict[str, Connection] = {}
        # Unique for each connection: an MQTT broker ends a connection when another one has the same id.
        self._client_ids = {one.name: client_id_of(f"{one.name}/{uuid4()}") for one in sinks}
        self._custom: dict[str, EventSink] = {
            one.name: offered(EVENT_SINKS, one.custom, "send") for one in sinks if one.custom is not None
        }
        self.router: Deliver | None = None
        """Delivers events to the instances that they start and to those that wait for them."""

    @cached_property
    def _brokers(self) -> Brokers:
        return Brokers(HttpBroker(self._services.http))

    async def publish(self, event: CloudEvent) -> list[str]:
        """Deliver *event* to its sinks; return the names of those that took it. Raises CallFailed."""
        outcomes = await self.deliver(event)
        for one in outcomes:
            if one.fault is not None:
                raise one.fault
        return [one.sink.name for one in outcomes if one.is_taken]

    async def deliver(
        self, event: CloudEvent, but: Collection[str] = (), on_done: Callable[[SinkDelivery], None] | None = None
    ) -> list[SinkDelivery]:
        """Deliver *event* to its sinks concurrently, except to those named in *but*; return the outcomes.

        *on_done* is called with each delivery that succeeded.
        """

        async def one(sink: SinkSettings) -> SinkDelivery:
            hidden = self._hidden[sink.name]
            try:
                with scrubbing(lambda: hidden):
                    is_taken = await self._within_time(sink, event)
            except CallFailed as fault:
                return SinkDelivery(sink, fault=scrubbed(cause_here(fault), hidden))
            done = SinkDelivery(sink, is_taken)
            if on_done is not None:
                on_done(done)
            return done

        return await asyncio.gather(*(one(sink) for sink in self._sinks if sink.takes(event) and sink.name not in but))

    async def aclose(self) -> None:
        for connection in self._connections.values():
            await connection.aclose()
        for sink in self._custom.values():
            if hasattr(sink, "aclose"):
                await sink.aclose()
        if "_brokers" in self.__dict__:
            await self._brokers.aclose()
        await self._services.aclose()

    async def _within_time(self, sink: SinkSettings, event: CloudEvent) -> bool:
        try:
            async with asyncio.timeout(None if sink.timeout is None else sink.timeout.total_seconds()):
                return await self._to(sink, event)
        except TimeoutError as error:
            message = f"the sink {sink.name!r} did not take the event {event.id!r} in time"
            raise CallFailed(message, code="Timeout") from error

    async def _to(self, sink: SinkSettings, event: CloudEvent) -> bool:
        try:
            check_attributes(event)
            is_message = sink.url != ROUTER and sink.custom is None
            message = message_of(event, sink.family, sink.mode) if is_message else None
        except ValueError as error:
            raise CallFailed(f"the event {event.type!r} cannot be sent: {error}", retryable=False) from error
        if sink.custom is not None:
            return await self._to_custom(sink, event)
        if message is None:
            return False if self.router is None else await self.router(event)
        family = sink.family
        if family == "http":
            await self._post(sink, message)
        else:
            channel = channel_of(self._settings, sink, self._client_ids[sink.name], routing_key=event.type)
            if sink.timeout is not None:
                channel = replace(channel, timeout=sink.timeout.total_seconds())
            if family == "kafka":
                message = _with_key(message, event)
            if sink.stream is not None:
                message = _known_by_event(message, event, channel.address)
            await self._connection(sink, family, channel).send(channel, message, _key(event))
        return True

    async def _to_custom(self, sink: SinkSettings, event: CloudEvent) -> bool:
        try:
            await self._custom[sink.name].send(event)
        except CallFailed:
            raise
        except Exception as error:
            kind = type(error).__name__
            raise CallFailed(f"the sink {sink.name!r} failed: {kind}: {error}", code=kind, cause=kind) from error
        return True

    def _connection(self, sink: SinkSettings, family: str, channel: Channel) -> Connection:
        """Return the connection of *sink*, which is created on first use."""
        if sink.name not in self._connections:
            broker, stream = self._brokers.speaking(family), sink.stream
            assert isinstance(broker, Connecting)  # noqa: S101 - all but HTTP
            connect = partial(broker.sending, channel) if stream is None else partial(storing, channel, stream)
            self._connections[sink.name] = Connection(connect, channel.timeout)
        return self._connections[sink.name]

    async def _post(self, sink: SinkSettings, message: Message) -> None:
        own = {**message.headers, **sink.headers}
        token = sink.credentials.token
        if token is not None:
            own.setdefault("Authorization", f"Bearer {token}")
        elif sink.credentials.username is not None:
            pair = f"{sink.credentials.username}:{sink.credentials.password or ''}"
            own.setdefault("Authorization", f"Basic {b64encode(pair.encode()).decode()}")
        headers = (*own.items(), ("Content-Type", message.content_type or ""))
        from swf_temporal.functions.http.client import Request  # noqa: PLC0415 - heavy, and many workers have no sink

        await self._services.http.request_raw(Request("POST", sink.url, headers, message.payload, timeout=sink.timeout))


def _with_key(message: Message, event: CloudEvent) -> Message:
    """Return *message* with a Kafka key: events of an instance go to one partition, which keeps their order."""
    key = event.attribute("partitionkey") or event.attribute("swfinstanceid")
    return message if not isinstance(key, str) else replace(message, headers={**message.headers, "key": key})


def _reaching(settings: Settings, sinks: Sequence[SinkSettings]) -> Settings:
    """Return *settings* that also allow the receivers that the operator names as sinks."""
    return settings.reaching(sink.url for sink in sinks if sink.url.startswith(("http:", "https:")))


def _known_by_event(message: Message, event: CloudEvent, subject: str) -> Message:
    """Return *message* with an id for deduplication by the stream, within two minutes or as it is configured.

    A stream may have several subjects: the same event on another subject is another message.
    """
    return replace(message, headers={**message.headers, "Nats-Msg-Id": f"{subject} {_key(event)}"})


def _key(event: CloudEvent) -> str:
    return f"{event.source} {event.id}"
