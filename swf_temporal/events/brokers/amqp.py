"""Messages to and from a broker of AMQP 0-9-1, such as RabbitMQ."""

import asyncio
import gzip
import hashlib
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.base.importing import optional
from swf_temporal.base.strict_json import show_json
from swf_temporal.events.brokers.port import (
    DENIED,
    KEPT,
    LOST,
    TOO_LARGE,
    UNKNOWN,
    BrokerMessage,
    Channel,
    Message,
    Refused,
    Send,
    connect_address,
    mapped,
    number,
    part,
    switch,
    translating,
    word,
    words,
)

_OF_A_CALL = {"x-expires": 3_600_000}
"""The arguments of a call's own queue: it survives for an hour without a consumer, such as between two attempts."""
_OF_A_SUBSCRIPTION = {"x-expires": KEPT * 1000, "x-single-active-consumer": True}
"""Those of a subscription's own. A lost attempt that is still connected gives it back before another one consumes."""
_AT_ONCE = 20
"""The number of messages that a subscription's own queue delivers before some are accepted."""
_DESCRIBING = frozenset({"type", "durable", "autoDelete", "exclusive"})
_TYPES = {"default": "direct"}


@dataclass(frozen=True, slots=True)
class AmqpRoute:
    """The exchange and queue of a channel's messages."""

    virtual_host: str
    key: str
    exchange_name: str
    """Empty for the default exchange, which leads to the queue that the key names."""
    exchange_binding: Mapping[str, JSON]
    queue_name: str
    queue_binding: Mapping[str, JSON]
    is_own_queue: bool
    """True if messages come through a queue from which only this call consumes."""

    async def exchange(self, connection: Any) -> tuple[Any, str]:
        """Return the exchange to publish to, and the routing key."""
        if self.exchange_name:
            return await self._exchange(connection), self.key
        if _is_described(self.queue_binding):
            await self._queue(connection)
        return (await _opened(connection)).default_exchange, self.queue_name

    async def queue(self, connection: Any, arguments: Mapping[str, Any] = _OF_A_CALL) -> Any:
        """Return the queue to consume from, bound to the exchange if there is one; an own one has *arguments*."""
        if self.exchange_name:
            await self._exchange(connection)
        if self.is_own_queue:
            opened = await _opened(connection)
            queue = await opened.declare_queue(self.queue_name, durable=True, arguments=dict(arguments))
        else:
            queue = await self._queue(connection)
        if self.exchange_name:
            await queue.bind(self.exchange_name, self.key)
        return queue

    async def _exchange(self, connection: Any) -> Any:
        binding = self.exchange_binding
        kind = word(binding, "type") or "direct"

        async def use(opened: Any, *, declare: bool) -> Any:
            if not declare:
                return await opened.get_exchange(self.exchange_name, ensure=True)
            return await opened.declare_exchange(
                self.exchange_name,
                _TYPES.get(kind, kind),
                durable=switch(binding, "durable", default=True),
                auto_delete=switch(binding, "autoDelete", default=False),
            )

        return await _used(connection, use, binding)

    async def _queue(self, connection: Any) -> Any:
        binding = self.queue_binding

        async def use(opened: Any, *, declare: bool) -> Any:
            if not declare:
                return await opened.get_queue(self.queue_name, ensure=True)
            return await opened.declare_queue(
                self.queue_name,
                durable=switch(binding, "durable", default=True),
                exclusive=switch(binding, "exclusive", default=False),
                auto_delete=switch(binding, "autoDelete", default=False),
            )

        return await _used(connection, use, binding)


def route_of(channel: Channel) -> AmqpRoute:
    """Return the route in the bindings of *channel*. Without bindings, its address is the name of a queue."""
    binding = channel.bindings.channel
    queue, exchange = part(binding, "queue"), part(binding, "exchange")
    by_key = word(binding, "is") == "routingKey" or (word(binding, "is") is None and bool(exchange))
    exchange_name = "" if not by_key or word(exchange, "type") == "default" else word(exchange, "name") or ""
    queue_name = word(queue, "name")
    is_own_queue = bool(exchange_name) and queue_name is None
    hosts = [word(queue, "vhost"), word(exchange, "vhost"), channel.path.removeprefix("/")]
    return AmqpRoute(
        virtual_host=next((host for host in hosts if host and host != "/"), "/"),
        key=channel.address,
        exchange_name=exchange_name,
        exchange_binding=exchange,
        queue_name=channel.client_id if is_own_queue else queue_name or channel.address,
        queue_binding=queue,
        is_own_queue=is_own_queue,
    )


async def _used(connection: Any, use: Callable[..., Awaitable[Any]], binding: Mapping[str, JSON]) -> Any:
    """Return the existing exchange or queue; if there is none and the document describes it, declare it.

    Declaring one that exists would fail if it differs from its description, or if the user may only use it.
    """
    try:
        return await use(await _opened(connection), declare=False)
    except optional("aiormq.exceptions", "amqp", "functions of type 'asyncapi' over AMQP").ChannelNotFoundEntity:
        if not _is_described(binding):
            raise
    # The broker has closed the channel on which the lookup failed.
    return await use(await _opened(connection), declare=True)


def _is_described(binding: Mapping[str, JSON]) -> bool:
    return not _DESCRIBING.isdisjoint(binding)


async def _opened(connection: Any) -> Any:
    """Open a channel that closes when the broker cancels its consumer, which the library would let wait forever."""
    opened = await connection.channel(publisher_confirms=True, on_return_raises=True)
    closing: list[asyncio.Task[None]] = []

    def close(_: Any) -> None:
        closing.append(asyncio.create_task(opened.close()))

    (await opened.get_underlay_channel()).on_consumer_cancel_callbacks.add(close)
    return opened


_PORT, _SECURE_PORT = 5672, 5671
_PERSISTENT = 2
_TOO_LONG = 2**63
"""Numbers from here on are sent as strings."""
_UNSENDABLE = ("BadArguments", "this cannot be sent over AMQP")
_GZIP, _MAGIC = "gzip", b"\x1f\x8b"
_WITH_HEAD = 16 + zlib.MAX_WBITS
"""The `wbits` by which zlib expects a gzip header."""
_UNROUTABLE = ("UnknownChannel", "no queue takes the message")


class Amqp:
    """Publishes with confirmation, and consumes one message at a time."""

    async def send(self, channel: Channel, message: Message) -> None:
        """Publish *message*, and wait until the broker has confirmed it."""
        with mapping_faults(channel):
            async with asyncio.timeout(channel.timeout), self.sending(channel) as send:
                await send(channel, message)

    @asynccontextmanager
    async def sending(self, channel: Channel) -> AsyncIterator[Send]:
        """Connect; each exchange and queue that is published to has its own AMQP channel."""
        exchanges: dict[tuple[str | None, str | None], Any] = {}

        async def send(to: Channel, message: Message) -> None:
            route = route_of(to)
            place = (route.exchange_name, None if route.exchange_name else route.queue_name)
            with mapping_faults(to):
                async with asyncio.timeout(to.timeout):
                    if place not in exchanges:
                        exchanges[place], _ = await route.exchange(connection)
                    await exchanges[place].publish(
                        _outgoing(to, message),
                        route.key if route.exchange_name else route.queue_name,
                        mandatory=switch(to.bindings.operation, "mandatory", default=True),
                    )

        async with connected(channel) as connection:
            yield send

    @asynccontextmanager
    async def receive(self, channel: Channel) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        """Consume from the document's queue, or from the call's own queue, bound to the document's exchange."""
        route = route_of(channel)
        async with connected(channel) as connection:
            with mapping_faults(channel):
                async with asyncio.timeout(channel.timeout):
                    queue = await route.queue(connection)
                    await queue.channel.set_qos(prefetch_count=1)
            yield _deliveries(channel, queue)
            if route.is_own_queue:
                with mapping_faults(channel):
                    await queue.delete(if_unused=False, if_empty=False)

    @asynccontextmanager
    async def resume(self, channel: Channel, receipts: Sequence[str]) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        """Consume from the document's queue, or from the subscription's own, to which unaccepted messages go back.

        From a queue of the document others consume too: what goes back could be theirs, so there are no receipts.
        """
        route = route_of(channel)
        async with connected(channel) as connection:
            with mapping_faults(channel):
                async with asyncio.timeout(channel.timeout):
                    queue = await route.queue(connection, _OF_A_SUBSCRIPTION)
                    await queue.channel.set_qos(prefetch_count=_AT_ONCE if route.is_own_queue else 1)
            yield _unaccepted(channel, queue, receipts) if route.is_own_queue else _deliveries(channel, queue)

    async def forget(self, channel: Channel) -> None:
        """Delete the subscription's own queue."""
        route = route_of(channel)
        if route.is_own_queue:
            async with connected(channel) as connection:
                with mapping_faults(channel):
                    await (await _opened(connection)).queue_delete(route.queue_name)


@contextmanager
def mapping_faults(channel: Channel) -> Iterator[None]:
    """Turn exceptions raised in the context into CallFailed."""
    errors = _library("aiormq.exceptions")
    known = {
        errors.ProbableAuthenticationError: DENIED,
        errors.AuthenticationError: DENIED,
        errors.ConnectionNotAllowed: DENIED,
        errors.ChannelAccessRefused: DENIED,
        errors.ChannelNotFoundEntity: UNKNOWN,
        errors.PublishError: _UNROUTABLE,
        errors.ChannelInvalidStateError: LOST,
    }
    with translating(channel, known, errors.AMQPError):
        try:
            yield
        except errors.ChannelPreconditionFailed as error:
            if "message size" in str(error):
                raise Refused(TOO_LARGE, str(error)) from error
            raise
        except errors.InvalidFrameError as error:
            # The library does not expect a broker to accept a user and then refuse the virtual host.
            if "Connection.Close" in str(error):
                raise Refused(DENIED, "the virtual host does not exist, or this user may not use it") from error
            raise


def connected(channel: Channel) -> AbstractAsyncContextManager[Any]:
    """Connect until the context is left, without reconnecting. Raises CallFailed."""
    return mapped(_connected(channel), partial(mapping_faults, channel))


@asynccontextmanager
async def _connected(channel: Channel) -> AsyncIterator[Any]:
    port = channel.port or (_SECURE_PORT if channel.tls else _PORT)
    credentials = channel.credentials
    name, password = (
        ("guest", "guest") if credentials.username is None else (credentials.username, credentials.password)
    )
    if credentials.token is not None:
        # A token is sent as the password; a broker that accepts tokens reads the user's name from it.
        name, password = credentials.username or "", credentials.token
    library = _library("aio_pika")
    made: list[Any] = []

    def make(*given: Any, **options: Any) -> Any:
        made.append(library.Connection(*given, **options))
        return made[0]

    try:
        connection = await library.connect(
            host=await connect_address(channel, port),
            port=port,
            login=name,
            password=password or "",
            virtualhost=route_of(channel).virtual_host,
            ssl=channel.tls is not None,
            ssl_context=channel.tls,
            timeout=channel.timeout,
            client_properties={"connection_name": channel.client_id},
            connection_class=make,
        )
    except BaseException:
        for one in made:
            await _close(one)
        raise
    try:
        yield connection
    finally:
        await _close(connection)


async def _close(connection: Any) -> None:
    """Close *connection*, even if closing is cancelled.

    Left open, it would close itself when it is garbage-collected, perhaps when no loop is running any more.
    """
    try:
        await connection.close()
    finally:
        # A cancelled close has released the transport; the second one only marks the connection as closed.
        await connection.close()


async def _unaccepted(channel: Channel, queue: Any, receipts: Sequence[str]) -> AsyncIterator[BrokerMessage]:
    """Yield what is in the queue without the messages of *receipts*, which are accepted."""
    waiting, arrived = list(receipts), asyncio.Queue[Any]()
    queue.channel.close_callbacks.add(lambda *_: arrived.put_nowait(None))
    with mapping_faults(channel):
        # Only the end of the connection ends the consumer, and gives back its messages before another one gets any.
        await queue.consume(arrived.put)
        while (received := await arrived.get()) is not None:
            receipt = _receipt_of(received)
            if received.redelivered and receipt in waiting:
                waiting.remove(receipt)
                await received.ack()
            else:
                yield BrokerMessage(incoming(channel, received), partial(_accept, channel, received), receipt)
        raise Refused(LOST)


def _receipt_of(received: Any) -> str:
    """Return a digest of the message: AMQP has no number that would outlive the connection."""
    known = (received.body, received.message_id, received.correlation_id, str(received.timestamp), received.headers)
    return hashlib.sha256(repr(known).encode()).hexdigest()[:24]


async def _accept(channel: Channel, received: Any) -> None:
    with mapping_faults(channel):
        await received.ack()


async def _deliveries(channel: Channel, queue: Any) -> AsyncIterator[BrokerMessage]:
    while True:
        with mapping_faults(channel):
            # A new consumer for each message. Skipped messages stay unacknowledged on this connection, so that they are
            # not redelivered to it; they return to the queue when it ends. Other consumers miss only these.
            async with queue.iterator() as messages:
                received = await anext(messages, None)
            if received is None:
                raise Refused(LOST)
        yield BrokerMessage(incoming(channel, received), partial(_accept, channel, received))


def _outgoing(channel: Channel, message: Message) -> Any:
    operation, binding = channel.bindings.operation, channel.bindings.message
    copies = {name: words(operation, key) for name, key in (("CC", "cc"), ("BCC", "bcc"))}
    expiration = number(operation, "expiration", 0)
    scalars = {name: value for name, value in message.scalars.items() if abs(value) < _TOO_LONG}
    encoding = word(binding, "contentEncoding")
    made = _library("aio_pika").Message(
        _packed(message.payload, encoding),
        headers={**message.headers, **scalars, **{name: keys for name, keys in copies.items() if keys}},
        content_type=message.content_type,
        content_encoding=encoding,
        type=word(binding, "messageType"),
        correlation_id=message.correlation_id,
        reply_to=message.reply_to or word(operation, "replyTo"),
        delivery_mode=number(operation, "deliveryMode", _PERSISTENT),
        priority=number(operation, "priority", 0),
        expiration=timedelta(milliseconds=expiration) if expiration else None,
        user_id=word(operation, "userId"),
        timestamp=datetime.now(UTC) if switch(operation, "timestamp", default=False) else None,
    )
    try:
        made.properties.marshal()  # as sending does, where a mistake could raise anything
    except (TypeError, ValueError) as error:
        raise Refused(_UNSENDABLE, str(error)) from error
    return made


def _packed(payload: bytes, encoding: str | None) -> bytes:
    """Return *payload* in its encoding, unless the call has encoded it already."""
    return gzip.compress(payload, mtime=0) if encoding == _GZIP and not payload.startswith(_MAGIC) else payload


def _unpacked(payload: bytes, encoding: str | None, most: int) -> bytes:
    """Return *payload* decoded, cut off after *most* bytes; one that cannot be decoded is returned as it is."""
    if encoding != _GZIP:
        return payload
    try:
        return zlib.decompressobj(_WITH_HEAD).decompress(payload, most + 1)
    except zlib.error:
        return payload


def incoming(channel: Channel, received: Any) -> Message:
    return Message(
        _unpacked(received.body, received.content_encoding, channel.max_bytes),
        content_type=received.content_type,
        headers=_texts(received.headers),
        correlation_id=received.correlation_id,
        reply_to=received.reply_to,
    )


def _texts(headers: Mapping[str, Any]) -> dict[str, str]:
    """Return *headers*, which have types in AMQP, as strings."""
    return {name: _text(value) for name, value in headers.items()}


def _text(value: Any) -> str:
    if isinstance(value, (bytes, bytearray)):
        return value.decode(errors="replace")
    return value if isinstance(value, str) else show_json(value)


def _library(module: str) -> Any:
    return optional(module, "amqp", "functions of type 'asyncapi' over AMQP")
