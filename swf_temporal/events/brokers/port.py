"""The port of protocols: what each must be able to do for operations of an AsyncAPI document."""

import asyncio
import base64
import re
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, causes, permanent_failure
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


_TRYING = 2.0
"""Seconds for one of several addresses of a host, before the next one is tried."""


async def connect_address(channel: Channel, port: int) -> str:
    """Return what to connect to, of that which may be connected to.

    That is an address, as a name that is looked up again may lead elsewhere. A secure connection goes by the name,
    because certificates are for names: who is elsewhere cannot prove to be the host.
    """
    if channel.tls is not None or not channel.addresses:
        return channel.host
    *others, last = channel.addresses
    for address in others:
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(address, port), _TRYING)
        except (OSError, TimeoutError):
            continue
        writer.transport.abort()
        return address
    return last


_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*")
_OWN = frozenset(
    {
        *("connection", "content-length", "host", "transfer-encoding", "upgrade"),
        *(f"sec-websocket-{what}" for what in ("accept", "extensions", "key", "version")),
    }
)
"""The headers that say how the connection goes on, which is not for a message to say."""


def url_of(channel: Channel) -> str:
    """Return the URL of a channel: that of its server, and its address behind it."""
    host = f"[{channel.host}]" if ":" in channel.host else channel.host
    port = "" if channel.port is None else f":{channel.port}"
    address = channel.address.lstrip("/")
    return f"{channel.protocol}://{host}{port}{channel.path}/{address}"


def headers_of(channel: Channel, message: Message | None = None) -> list[tuple[str, str]]:
    """Return the headers to begin with. What the message itself says wins over what shows who is calling.

    Raises CallFailed for what is not a header or would begin another one, and for those that the connection needs.
    """
    headers = list(message.headers.items()) if message else []
    given = {name.lower() for name, _ in headers}
    headers += [(name, value) for name, value in channel.credentials.headers if name.lower() not in given]
    username, password = channel.credentials.username, channel.credentials.password
    if username is not None and "authorization" not in {name.lower() for name, _ in headers}:
        login = base64.b64encode(f"{username}:{password or ''}".encode()).decode("ascii")
        headers.append(("Authorization", f"Basic {login}"))
    for name, value in headers:
        if not _NAME.fullmatch(name) or name.lower() in _OWN or not _VALUE.fullmatch(value):
            raise permanent_failure(
                "BadArguments", f"{channel}: a message there cannot have the header {name!r}, or its value"
            )
    return headers


Fault: TypeAlias = tuple[str, str]
"""A code, and what it means."""
Faults: TypeAlias = Mapping[type[BaseException], Fault]
_T = TypeVar("_T")

DENIED: Fault = ("AuthFailed", "the broker does not permit this")
UNKNOWN: Fault = ("UnknownChannel", "the broker has no such channel")
TOO_LARGE: Fault = ("MessageTooLarge", "the message is larger than the broker takes")
LOST: Fault = ("ConnectionLost", "the connection broke")
REFUSED: Fault = ("BrokerError", "the broker refused")

_CONNECTING: Faults = {
    ConnectionRefusedError: ("ConnectionRefused", "the connection was refused"),
    socket.gaierror: ("UnknownHost", "the host name is unknown"),
    ssl.SSLError: ("TlsFailed", "no secure connection could be made"),
}
"""Causes that say more than the library's own exceptions do."""
_OF_ALL: Faults = {
    TimeoutError: ("Timeout", "the broker did not answer in time"),
    ConnectionError: LOST,
    OSError: ("Unreachable", "no connection could be made"),
}
_FOR_GOOD = frozenset({"AuthFailed", "MessageTooLarge", "BadArguments"})


class Refused(Exception):  # noqa: N818 - it carries a fault, and is none itself
    """The broker refused, in a way that its library does not raise."""

    def __init__(self, fault: Fault, detail: str = "") -> None:
        self.fault = fault
        super().__init__(detail)


@contextmanager
def translating(channel: Channel, known: Faults, root: type[Exception], general: Fault = REFUSED) -> Iterator[None]:
    """Turn what goes wrong within into a CallFailed that names *channel*.

    *known* has the faults of a library's exceptions, special ones first. The library's *root* may mean anything: it
    is the *general* fault where neither the error nor what lies beneath it says more.
    """
    try:
        yield
    except CallFailed:
        raise
    except Exception as error:
        raise _failure(error, channel, {**_CONNECTING, **known, **_OF_ALL, root: general}) from error


@asynccontextmanager
async def mapped(
    connecting: AbstractAsyncContextManager[_T], mapping: Callable[[], AbstractContextManager[None]]
) -> AsyncIterator[_T]:
    """Connect and disconnect with faults that *mapping* turns into CallFailed; what is raised between stays itself."""
    with mapping():
        connection = await connecting.__aenter__()
    try:
        yield connection
    finally:
        with mapping():
            await connecting.__aexit__(None, None, None)


def _failure(error: Exception, channel: Channel, known: Faults) -> CallFailed:
    code, meaning = _fault(error, known)
    detail = str(error).strip()
    text = f"{channel}: {meaning}" + (f" ({detail})" if detail and detail not in meaning else "")
    return CallFailed(text, code=code, retryable=code not in _FOR_GOOD, cause=type(error).__name__)


def _fault(error: Exception, known: Faults) -> Fault:
    chain = [error, *causes(error)]
    for each in chain:
        if isinstance(each, Refused):
            return each.fault
    for kind, fault in known.items():
        if any(isinstance(each, kind) for each in chain):
            return fault
    raise error
