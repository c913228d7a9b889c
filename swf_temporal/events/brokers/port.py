"""The port of protocols: what each must be able to do for operations of an AsyncAPI document."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, runtime_checkable

from swf_temporal.base.data import JSON
from swf_temporal.base.function_types import Callee


@dataclass(frozen=True, slots=True)
class Message:
    payload: bytes
    content_type: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    correlation_id: str | None = None
    """Where the protocol has a place of its own for it; otherwise it stands in the headers or the payload."""
    reply_to: str | None = None
    scalars: Mapping[str, float] = field(default_factory=dict)
    """The headers that are numbers, true or false, for a protocol whose headers have types."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials for a server. What is None is not used."""

    username: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """For protocols that begin with HTTP."""
    mechanism: str | None = None
    """How a Kafka client proves itself: `PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512` or `OAUTHBEARER`. None: `PLAIN`
    with a password, `OAUTHBEARER` with a token."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """The bindings of a document for one protocol, each part unchanged."""

    server: Mapping[str, JSON] = field(default_factory=dict)
    channel: Mapping[str, JSON] = field(default_factory=dict)
    operation: Mapping[str, JSON] = field(default_factory=dict)
    message: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Channel:
    """A source or destination of messages: a topic, a queue, a subject, a path."""

    protocol: str
    """As the document's server says it, in lower case: `mqtt`, `amqps`, `nats`, `kafka-secure`, `wss`, `https` …"""
    host: str
    port: int | None
    path: str
    """Of the server: the virtual host of AMQP, the path in front of the address of WebSocket and HTTP."""
    address: str
    """Of the channel, its parameters filled in."""
    client_id: str
    """The same for all attempts at one call, and for no other call."""
    timeout: float
    """Seconds for connecting, and for sending. Waiting for a message has no end here: the waiting call is cancelled."""
    credentials: Credentials = field(default_factory=Credentials)
    bindings: Bindings = field(default_factory=Bindings)
    tls: ssl.SSLContext | None = None
    """Where the connection is to be secure, how its server is to be checked."""
    version: str | None = None
    """The protocol's, as the document's server says it: `3.1.1` or `5` of MQTT."""
    addresses: tuple[str, ...] = ()
    """Of the host, those that may be connected to. A name that is looked up again may lead elsewhere."""
    max_bytes: int = 2 * 1024 * 1024
    """The largest message that is taken."""
    callee: Callee | None = None
    """The target of the call, whose settings hold."""
    subprotocols: tuple[str, ...] = ()
    """Of WebSocket: those that the client offers."""

    def __str__(self) -> str:
        """Return the channel as people read it, `mqtt://broker:1883 streetlights/lamp-1`."""
        port = "" if self.port is None else f":{self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.protocol}://{host}{port}{self.path} {self.address}"


@dataclass(frozen=True, slots=True)
class BrokerMessage:
    """A message that came. One that is not accepted goes back to where the protocol keeps it, if it keeps any."""

    message: Message
    accept: Callable[[], Awaitable[None]]


Send: TypeAlias = Callable[[Channel, Message], Awaitable[None]]
"""Sends a message over a connection, and returns when the server has it, as far as the protocol tells."""


class Broker(Protocol):
    """One protocol. Its own exceptions become CallFailed."""

    async def send(self, channel: Channel, message: Message) -> None:
        """Send *message*, and return when the server has it, as far as the protocol tells."""

    def receive(self, channel: Channel) -> AbstractAsyncContextManager[AsyncIterator[BrokerMessage]]:
        """Subscribe: entering returns when messages that are sent from now on will come."""


@runtime_checkable
class Connecting(Broker, Protocol):
    """A protocol in which one connection carries any number of messages."""

    def sending(self, channel: Channel) -> AbstractAsyncContextManager[Send]:
        """Connect: entering returns when messages can be sent to channels of the same server. What breaks stays so."""


@runtime_checkable
class Conversing(Broker, Protocol):
    """A protocol whose servers answer on the connection on which they were asked."""

    def converse(self, channel: Channel, message: Message) -> AbstractAsyncContextManager[AsyncIterator[BrokerMessage]]:
        """Send *message*: entering returns when it is sent, and what comes back on its connection follows."""
