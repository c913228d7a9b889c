"""The port of messaging protocols: what each must implement for the operations of an AsyncAPI document.

A protocol reads the fields of a binding, whose values are constants or schemas that allow a single value.
"""

import asyncio
import base64
import re
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias, TypeVar, runtime_checkable

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, causes, permanent_failure
from swf_temporal.base.function_types import Callee


def number(binding: Mapping[str, JSON], name: str, default: int) -> int:
    value = _constant(binding.get(name))
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(name, value, "a whole number")
    return value


def switch(binding: Mapping[str, JSON], name: str, *, default: bool) -> bool:
    value = _constant(binding.get(name))
    if value is None:
        return default
    if not isinstance(value, bool):
        raise _wrong(name, value, "true or false")
    return value


def word(binding: Mapping[str, JSON], name: str) -> str | None:
    """Return the string in a field of *binding*, if there is one."""
    value = _constant(binding.get(name))
    if value is not None and not isinstance(value, str):
        raise _wrong(name, value, "a text")
    return value


def words(binding: Mapping[str, JSON], name: str) -> list[str]:
    value = binding.get(name, [])
    if not isinstance(value, list):
        raise _wrong(name, value, "a list of texts")
    return [str(item) for item in value]


def part(binding: Mapping[str, JSON], name: str) -> Mapping[str, JSON]:
    """Return the object in a field of *binding*; empty if there is none."""
    value = binding.get(name, {})
    if not isinstance(value, Mapping):
        raise _wrong(name, value, "an object")
    return value


def _constant(value: JSON) -> Any:
    if not isinstance(value, Mapping):
        return value
    allowed = value.get("enum")
    return value.get("const", allowed[0] if isinstance(allowed, list) and len(allowed) == 1 else value.get("default"))


def _wrong(name: str, value: JSON, wanted: str) -> Exception:
    return permanent_failure(
        "BadDocument", f"the AsyncAPI document's binding '{name}' is {value!r}; it must be {wanted}"
    )


@dataclass(frozen=True, slots=True)
class Message:
    payload: bytes
    content_type: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    correlation_id: str | None = None
    """Used if the protocol has a field for it; otherwise it is in the headers or the payload."""
    reply_to: str | None = None
    scalars: Mapping[str, float] = field(default_factory=dict)
    """The headers that are numbers or booleans, for a protocol whose headers have types."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials for a server. None means not used."""

    username: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """For protocols that begin with HTTP."""
    mechanism: str | None = None
    """The SASL mechanism of a Kafka client: `PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512` or `OAUTHBEARER`. None: `PLAIN`
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
    """The protocol in the document's server, in lower case: `mqtt`, `amqps`, `nats`, `kafka-secure`, `wss`, `https`."""
    host: str
    port: int | None
    path: str
    """The path of the server: the virtual host of AMQP, the path before the address of WebSocket and HTTP."""
    address: str
    """The address of the channel, with its parameters filled in."""
    client_id: str
    """An id that all attempts at a call share, and no other call has."""
    timeout: float
    """The limit in seconds for connecting, and for sending. Waiting for a message ends when the call is cancelled."""
    credentials: Credentials = field(default_factory=Credentials)
    bindings: Bindings = field(default_factory=Bindings)
    tls: ssl.SSLContext | None = None
    """The TLS context of a secure connection; None for one without TLS."""
    version: str | None = None
    """The protocol version of the document's server: `3.1.1` or `5` of MQTT."""
    addresses: tuple[str, ...] = ()
    """The addresses of the host that may be connected to. A second DNS lookup might return others."""
    max_bytes: int = 2 * 1024 * 1024
    """The size limit of a received message."""
    callee: Callee | None = None
    """The target of the call, whose settings apply."""
    subprotocols: tuple[str, ...] = ()
    """The subprotocols that a WebSocket client offers."""

    def __str__(self) -> str:
        """Return the channel for messages: `mqtt://broker:1883 streetlights/lamp-1`."""
        port = "" if self.port is None else f":{self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.protocol}://{host}{port}{self.path} {self.address}"


@dataclass(frozen=True, slots=True)
class BrokerMessage:
    """A received message. If it is not accepted, it goes back to its queue, in protocols that have one."""

    message: Message
    accept: Callable[[], Awaitable[None]]
    receipt: str | None = None
    """By which a later connection of the same subscription can accept it; None if only this one can."""


Send: TypeAlias = Callable[[Channel, Message], Awaitable[None]]
"""Sends a message over a connection, and returns when the server has it, as far as the protocol confirms that."""


class Broker(Protocol):
    """One protocol. Its own exceptions become CallFailed."""

    async def send(self, channel: Channel, message: Message) -> None:
        """Send *message*, and return when the server has it, as far as the protocol confirms that."""

    def receive(self, channel: Channel) -> AbstractAsyncContextManager[AsyncIterator[BrokerMessage]]:
        """Subscribe: entering returns once all messages that are sent from then on will be received."""


@runtime_checkable
class Connecting(Broker, Protocol):
    """A protocol in which one connection carries any number of messages."""

    def sending(self, channel: Channel) -> AbstractAsyncContextManager[Send]:
        """Connect: entering returns when messages can be sent to channels of this server. There is no reconnecting."""


@runtime_checkable
class Conversing(Broker, Protocol):
    """A protocol whose servers answer on the connection of the request."""

    def converse(self, channel: Channel, message: Message) -> AbstractAsyncContextManager[AsyncIterator[BrokerMessage]]:
        """Send *message*: entering returns when it is sent; the messages that come back on its connection follow."""


KEPT: Final = 7 * 24 * 3600
"""Seconds for which a broker keeps a subscription to which nobody connects."""


@runtime_checkable
class Keeping(Broker, Protocol):
    """A protocol whose brokers keep what is sent to a subscription while nobody is connected to it."""

    def resume(
        self, channel: Channel, receipts: Sequence[str]
    ) -> AbstractAsyncContextManager[AsyncIterator[BrokerMessage] | None]:
        """Connect to the subscription whose name is the client id, or begin it; accept the messages of *receipts*.

        All other messages follow that were sent since it began and not accepted, in their order. None stands for a
        channel of which this broker keeps nothing.
        """

    async def forget(self, channel: Channel) -> None:
        """End the subscription, if there is one: the broker keeps nothing for it any more."""


_TRYING = 2.0
"""The limit in seconds for one of several addresses of a host, before the next one is tried."""


async def connect_address(channel: Channel, port: int) -> str:
    """Return the first reachable of the addresses that may be connected to, or the host's name with TLS.

    It is an address because a second DNS lookup might return another one. TLS uses the name, because certificates are
    for names: another host at a new address could not authenticate.
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
"""The headers that control the connection, which a message cannot set."""


def url_of(channel: Channel) -> str:
    """Return the URL of a channel: its server's URL, followed by the channel's address."""
    host = f"[{channel.host}]" if ":" in channel.host else channel.host
    port = "" if channel.port is None else f":{channel.port}"
    address = channel.address.lstrip("/")
    return f"{channel.protocol}://{host}{port}{channel.path}/{address}"


def headers_of(channel: Channel, message: Message | None = None) -> list[tuple[str, str]]:
    """Return the headers of the opening request. Those of the message override those of the credentials.

    Raises CallFailed for an invalid header, such as one with a line break, and for those that control the connection.
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
"""A code and its meaning."""
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
"""Causes that are more specific than the library's own exceptions."""
_OF_ALL: Faults = {
    TimeoutError: ("Timeout", "the broker did not answer in time"),
    ConnectionError: LOST,
    OSError: ("Unreachable", "no connection could be made"),
}
_FOR_GOOD = frozenset({"AuthFailed", "MessageTooLarge", "BadArguments"})


class Refused(Exception):  # noqa: N818 - it carries a fault, and is not an error by itself
    """A refusal by the broker that its library does not raise as an exception."""

    def __init__(self, fault: Fault, detail: str = "") -> None:
        self.fault = fault
        super().__init__(detail)


@contextmanager
def translating(channel: Channel, known: Faults, root: type[Exception], general: Fault = REFUSED) -> Iterator[None]:
    """Turn exceptions raised in the context into a CallFailed that names *channel*.

    *known* maps a library's exceptions to faults, most specific first. The library's base exception *root* becomes the
    *general* fault if neither the error nor its causes are more specific.
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
    """Connect and disconnect, turning faults into CallFailed by *mapping*; exceptions from the body pass unchanged."""
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
