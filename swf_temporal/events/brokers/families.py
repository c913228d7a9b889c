"""The brokers of each kind: their protocols, servers and ports, and what distinguishes their addresses and messages."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self
from urllib.parse import SplitResult, unquote, urlsplit

from swf_temporal.base.errors import permanent_failure
from swf_temporal.events.brokers.port import Broker


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of brokers, which speak one protocol in several variants."""

    module: str = ""
    """The module of its classes, named like its extra; empty for HTTP, whose client has its own owner."""
    broker: str = ""
    """The class that sends and receives."""
    source: str = ""
    """The class of its source of messages; empty if there are no consumers."""
    library: str = ""
    """The library that the extra installs."""
    loggers: tuple[str, ...] = ()
    """The library's loggers, whose lines may contain secrets."""
    logs_data: tuple[str, ...] = ()
    """Those whose lines contain payloads at the level DEBUG."""
    word: str | None = None
    """The word for an address at a broker, which is the setting's name; None if the URL contains the address."""
    attribute_prefixes: tuple[str, ...] = ()
    """The prefixes of an event's attributes among headers; the first one is written. Empty: there is no binary mode."""
    has_ascii_headers: bool = False
    """Whether headers are ASCII: other characters are percent-encoded."""
    refuses_messages: bool = False
    """Whether a message can be refused; otherwise a consumer can only record its position."""
    acknowledges_in_order: bool = False
    """Whether messages must be acknowledged in the order in which they came."""
    keeps_messages: bool = True
    """Whether it keeps messages that are not acknowledged, and has a place for dead letters."""
    routing_headers: frozenset[str] = frozenset()
    """Headers that route a message to further addresses. They are dropped from dead letters."""
    wildcards: str = "\0"
    """The characters that make an address a pattern, or invalid."""
    separator: str = ""
    """The separator within addresses: a parameter that contains it would lead to another channel."""
    begins_by_http: bool = False
    """Whether a connection begins with an HTTP request, which carries headers and a query."""


CUSTOM: Final = "custom"
"""The family of sources and sinks that installed packages offer: `custom:NAME`."""

FAMILIES: Final[Mapping[str, Family]] = {
    "mqtt": Family(
        "mqtt", "Mqtt", "MqttSource", "aiomqtt", ("paho",),
        word="topic", attribute_prefixes=("",), acknowledges_in_order=True, wildcards="+#\0", separator="/",
    ),
    "amqp": Family(
        "amqp", "Amqp", "AmqpSource", "aio_pika", ("aiormq.connection", "aio_pika.connection"), ("aiormq",),
        # `ce-` is the binding for RabbitMQ; the others occur when it forwards a message of AMQP 1.0.
        word="queue", attribute_prefixes=("ce-", "cloudevents_", "cloudevents:"), refuses_messages=True,
        routing_headers=frozenset({"CC", "BCC"}),  # RabbitMQ would refuse them as strings
    ),
    "nats": Family(
        "nats", "Nats", "NatsSource", "nats", ("nats",), ("nats",),
        word="subject", attribute_prefixes=("ce-",), has_ascii_headers=True, refuses_messages=True,
        wildcards="*> \t\r\n\0", separator=".",
    ),
    "kafka": Family(
        "kafka", "Kafka", "KafkaSource", "aiokafka", ("aiokafka",), ("aiokafka",),
        word="topic", attribute_prefixes=("ce_",),
    ),
    "ws": Family(
        "websocket", "WebSocket", "WebSocketSource", "websockets",
        ("websockets.client", "websockets.server"), ("websockets",), keeps_messages=False, begins_by_http=True,
    ),
    "http": Family(attribute_prefixes=("ce-",), has_ascii_headers=True, begins_by_http=True),
    CUSTOM: Family(keeps_messages=False),
}  # fmt: skip
"""By the name of the protocol's bindings."""


@dataclass(frozen=True, slots=True)
class Wire:
    """A protocol as documents and URLs name it."""

    family: str
    """The name of its family."""
    port: int
    """The default port."""
    is_secure: bool = False


WIRES: Final[Mapping[str, Wire]] = {
    "mqtt": Wire("mqtt", 1883),
    "mqtt5": Wire("mqtt", 1883),
    "mqtts": Wire("mqtt", 8883, is_secure=True),
    "secure-mqtt": Wire("mqtt", 8883, is_secure=True),
    "amqp": Wire("amqp", 5672),
    "amqps": Wire("amqp", 5671, is_secure=True),
    "nats": Wire("nats", 4222),
    "nats+tls": Wire("nats", 4222, is_secure=True),
    "kafka": Wire("kafka", 9092),
    "kafka-secure": Wire("kafka", 9093, is_secure=True),
    "ws": Wire("ws", 80),
    "wss": Wire("ws", 443, is_secure=True),
    "http": Wire("http", 80),
    "https": Wire("http", 443, is_secure=True),
}
"""By name; some documents and URLs use different ones for the same protocol."""


class Brokers:
    """One broker for each family of protocols, created on first use, since each needs its own library.

    *by_http* is the broker for HTTP, which the owner of the HTTP client supplies.
    """

    def __init__(self, by_http: Broker) -> None:
        self._made: dict[str, Any] = {"http": by_http}

    def speaking(self, family: str) -> Broker:
        """Return the broker of a family. Raises CallFailed if the worker lacks its library."""
        if family not in self._made:
            self._made[family] = self._make(family)
        broker: Broker = self._made[family]
        return broker

    async def aclose(self) -> None:
        """Close all connections that are kept open."""
        for broker in self._made.values():
            if hasattr(broker, "aclose"):
                await broker.aclose()

    def _make(self, family: str) -> Any:
        kind = FAMILIES[family]
        return getattr(importlib.import_module(f"swf_temporal.events.brokers.{kind.module}"), kind.broker)()


@dataclass(frozen=True, slots=True)
class Target:
    """The address of a server, and its protocol."""

    protocol: str
    wire: Wire
    host: str
    port: int
    path: str = ""
    username: str | None = None
    password: str | None = field(default=None, repr=False)

    @classmethod
    def at(cls, protocol: str, rest: str) -> Self:
        """Return the server at *rest*, a URL without its scheme. Raises CallFailed if it is invalid."""
        wire = WIRES[protocol]
        parts, port = _split(rest)
        if not parts.hostname:
            message = f"the server '{rest}' names no host; it is written {protocol}://host:port"
            raise permanent_failure("BadUrl", message)
        return cls(
            protocol=protocol,
            wire=wire,
            host=parts.hostname,
            port=port or wire.port,
            path=parts.path.rstrip("/") if wire.family != "amqp" else parts.path,
            username=None if parts.username is None else unquote(parts.username),
            password=None if parts.password is None else unquote(parts.password),
        )


def target_of(url: str) -> Target:
    """Return the server that *url* names, whose scheme is a protocol. Raises CallFailed if it is invalid."""
    scheme, _, rest = url.partition("://")
    return Target.at(scheme.lower(), rest)


def _split(rest: str) -> tuple[SplitResult, int | None]:
    """Return the parts of a URL without its scheme. Of several hosts, as in Kafka, the first is used."""
    hosts, slash, path = rest.partition("/")
    try:
        parts = urlsplit(f"//{hosts.partition(',')[0]}{slash}{path}")
        port = parts.port
    except ValueError as error:
        raise permanent_failure("BadUrl", f"the server '{rest}' is not one: {error}") from error
    return parts, port
