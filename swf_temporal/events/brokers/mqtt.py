"""Messages to and from an MQTT broker, versions 3.1.1 and 5."""

import asyncio
import hashlib
import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from functools import partial
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.base.importing import optional
from swf_temporal.events.brokers.port import (
    KEPT,
    LOST,
    BrokerMessage,
    Channel,
    Message,
    Send,
    connect_address,
    mapped,
    number,
    part,
    switch,
    translating,
    word,
)

_PORT, _SECURE_PORT = 1883, 8883
_AT_LEAST_ONCE = 1
_UNSENDABLE = ("BadArguments", "this cannot be sent or requested over MQTT")
_SESSION_EXPIRY = 3600
"""Seconds for which the broker keeps messages that arrive between two attempts at a call."""


class Mqtt:
    """Publishes, and subscribes with a session that outlives an attempt."""

    async def send(self, channel: Channel, message: Message) -> None:
        """Publish *message*; with a quality of service of 1 or 2, wait until the broker has confirmed it."""
        async with self.sending(channel) as send:
            await send(channel, message)

    @asynccontextmanager
    async def sending(self, channel: Channel) -> AsyncIterator[Send]:
        """Connect. Messages are sent one after the other, so that a refusal can be matched with its message."""
        turn = asyncio.Lock()

        async def send(to: Channel, message: Message) -> None:
            operation = to.bindings.operation
            with mapping_faults(to):
                async with turn:
                    await session.send(
                        to.address,
                        message.payload,
                        timeout=to.timeout,
                        qos=number(operation, "qos", _AT_LEAST_ONCE),
                        retain=switch(operation, "retain", default=False),
                        properties=_properties(to, message),
                    )

        async with connected(channel, receives=False) as session:
            yield send

    @asynccontextmanager
    async def receive(self, channel: Channel) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        """Subscribe with the call's own session; unacknowledged messages are redelivered when the call is repeated."""
        async with connected(channel, receives=True) as session:
            with mapping_faults(channel):
                await session.listen(channel.address, number(channel.bindings.operation, "qos", _AT_LEAST_ONCE))
            yield _deliveries(channel, session)
            # The call has its message: the session must not collect more until it expires.
            with mapping_faults(channel):
                await session.unsubscribe(channel.address)

    @asynccontextmanager
    async def resume(self, channel: Channel, receipts: Sequence[str]) -> AsyncIterator[AsyncIterator[BrokerMessage]]:
        """Subscribe with the subscription's own session; unaccepted messages are redelivered to its next connection.

        The quality of service is 1 at most: with 2, a message is not sent again once it has arrived.
        """
        async with connected(channel, receives=True, expiry=KEPT) as session:
            with mapping_faults(channel):
                qos = number(channel.bindings.operation, "qos", _AT_LEAST_ONCE)
                await session.listen(channel.address, min(qos, _AT_LEAST_ONCE))
            yield _unaccepted(channel, session, receipts)

    async def forget(self, channel: Channel) -> None:
        """Take over the session with one that ends with its connection."""
        async with connected(channel, receives=True, expiry=0):
            pass


def mapping_faults(channel: Channel) -> AbstractContextManager[None]:
    """Turn exceptions raised in the context into CallFailed."""
    root = _library("aiomqtt").MqttError
    # A value that is too long for its field in a packet, such as a header of 64 KiB, raises struct.error.
    return translating(channel, dict.fromkeys((ValueError, struct.error), _UNSENDABLE), root, LOST)


async def _deliveries(channel: Channel, session: Any) -> AsyncIterator[BrokerMessage]:
    messages = aiter(session.messages)
    while True:
        with mapping_faults(channel):
            received = await anext(messages)
        accept = session.acknowledging(received)
        yield BrokerMessage(incoming(received), accept)
        # A caller that asks for the next message does not want this one. It is this subscription's own copy, and a
        # broker stops sending when too many are unacknowledged.
        await accept()


async def _unaccepted(channel: Channel, session: Any, receipts: Sequence[str]) -> AsyncIterator[BrokerMessage]:
    """Yield what comes without the messages of *receipts*, which are accepted."""
    messages, waiting = aiter(session.messages), set(receipts)
    while True:
        with mapping_faults(channel):
            received = await anext(messages)
        accept, receipt = session.acknowledging(received), None
        if received.qos:  # a redelivered message has the same packet identifier
            receipt = f"{received.mid}:{hashlib.sha256(bytes(received.payload)).hexdigest()[:16]}"
        # A broker sends a retained message whenever a client subscribes, also again. One that it has sent before only
        # counts if no call has returned anything yet.
        is_known = session.is_resumed and received.retain and (receipts or received.mid not in session.redelivered)
        if receipt in waiting or is_known:
            waiting.discard(receipt or "")
            await accept()
        else:
            yield BrokerMessage(incoming(received), accept, receipt)


@asynccontextmanager
async def connected(
    channel: Channel, *, receives: bool, at_once: int | None = None, expiry: int = _SESSION_EXPIRY
) -> AsyncIterator[Any]:
    """Connect to *channel*. At most *at_once* messages that are not acknowledged are read.

    In MQTT 5 the broker gets this limit as its receive maximum; in 3.1.1 further messages are left in the socket. The
    session of one that *receives* is kept for *expiry* seconds, unless the document says otherwise; with 0 it is new.
    """
    with mapping_faults(channel):
        session = await _session_of(channel, receives=receives, at_once=at_once, expiry=expiry)
    async with mapped(session, partial(mapping_faults, channel)):
        yield session


async def _session_of(channel: Channel, *, receives: bool, at_once: int | None, expiry: int) -> Any:
    library = _library("aiomqtt")
    port = channel.port or (_SECURE_PORT if channel.tls else _PORT)
    server, credentials = channel.bindings.server, channel.credentials
    starts_clean = not receives or not expiry or switch(server, "cleanSession", default=False)
    is_5 = _is_5(channel)
    properties = None
    if is_5 and not starts_clean:
        properties = _new_properties("CONNECT")
        properties.SessionExpiryInterval = number(server, "sessionExpiryInterval", expiry)
        if at_once is not None:
            properties.ReceiveMaximum = at_once
    return _library("swf_temporal.events.brokers.mqtt_session").Session(
        await connect_address(channel, port),
        port,
        timeout=channel.timeout,
        at_once=at_once,
        identifier=_client_id(channel, receives=receives),
        protocol=library.ProtocolVersion.V5 if is_5 else library.ProtocolVersion.V311,
        # A token is sent as the password; a broker that accepts tokens reads the user's name from it.
        username="" if credentials.username is None and credentials.token else credentials.username,
        password=credentials.token or credentials.password,
        tls_context=channel.tls,
        keepalive=number(server, "keepAlive", 60),
        will=_will(part(server, "lastWill")),
        properties=properties,
        **({"clean_start": starts_clean} if is_5 else {"clean_session": starts_clean}),
    )


def _client_id(channel: Channel, *, receives: bool) -> str:
    """Return a client id for this connection: a broker ends a connection when another one has the same id."""
    own = channel.client_id if receives else f"{channel.client_id}s"
    prefix = word(channel.bindings.server, "clientId")
    return f"{prefix}-{own}" if prefix else own


def _will(will: Mapping[str, JSON]) -> Any:
    topic = word(will, "topic")
    if topic is None:
        return None
    message, qos = word(will, "message"), number(will, "qos", 0)
    return _library("aiomqtt").Will(topic, message or "", qos, switch(will, "retain", default=False))


def _is_5(channel: Channel) -> bool:
    return not (channel.version or "5").startswith("3")


def _properties(channel: Channel, message: Message) -> Any:
    """Return the MQTT 5 properties of *message*; None for 3.1.1, which carries nothing but the payload."""
    if not _is_5(channel):
        return None
    properties = _new_properties("PUBLISH")
    binding, operation = channel.bindings.message, channel.bindings.operation
    if content_type := message.content_type or word(binding, "contentType"):
        properties.ContentType = content_type
    if reply_to := message.reply_to or word(binding, "responseTopic"):
        properties.ResponseTopic = reply_to
    if message.correlation_id is not None:
        properties.CorrelationData = message.correlation_id.encode()
    if message.headers:
        properties.UserProperty = list(message.headers.items())
    if "messageExpiryInterval" in operation:
        properties.MessageExpiryInterval = number(operation, "messageExpiryInterval", 0)
    return properties


def incoming(received: Any) -> Message:
    properties = {} if received.properties is None else vars(received.properties)
    correlation = properties.get("CorrelationData")
    return Message(
        bytes(received.payload),
        content_type=properties.get("ContentType"),
        headers=dict(properties.get("UserProperty", ())),
        correlation_id=None if correlation is None else correlation.decode(errors="replace"),
        reply_to=properties.get("ResponseTopic"),
    )


def _new_properties(packet: str) -> Any:
    types = _library("paho.mqtt.packettypes").PacketTypes
    return _library("paho.mqtt.properties").Properties(getattr(types, packet))


def _library(module: str) -> Any:
    return optional(module, "mqtt", "functions of type 'asyncapi' over MQTT")
