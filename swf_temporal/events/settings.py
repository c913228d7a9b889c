"""The settings of events: where they come from, and where those go that workflows produce."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Final, Literal

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.functions.operator import credentials
from swf_temporal.routing.chains import MAX_HOPS

ROUTER: Final = "router"
"""The address of a sink that hands events to the instances that they start and those that wait for them."""

Mode = Literal["structured", "binary"]
"""The content modes of CloudEvents: the event as JSON, or its attributes as headers and its payload as it is."""


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """A broker, and the queue, topic or subject there."""

    url: str
    address: str = ""
    """The queue, the topic, the subject; of WebSocket nothing."""
    exchange: str | None = None
    """Of AMQP: the exchange that leads to the queue, or that is published to."""
    routing_key: str | None = None
    """Of AMQP: the key by which the exchange routes."""
    declare: bool = False
    """Of AMQP: whether a queue that is not there is declared, durable."""
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    mechanism: str | None = None
    """How a Kafka client proves itself."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Of HTTP and WebSocket: headers of the request."""
    version: str | None = None
    """Of MQTT: `3.1.1` or `5`."""
    client_id: str | None = None
    """By which the broker knows the client. Of MQTT, no two that are connected may have the same."""
    stream: str | None = None
    """Of NATS: the stream of JetStream."""

    @property
    def credentials(self) -> list[str]:
        """All that is secret of it, as messages may repeat it."""
        login = credentials.of_login(self.username, self.password)
        token = [self.token] if self.token else []
        return [*login, *token, *credentials.in_headers(self.headers), *credentials.in_url(self.url)]


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    """One consumer: a process of `swf consume` takes events from a broker and sends them where they go."""

    name: str
    broker: BrokerAddress
    group: str | None = None
    """By which several processes share what comes: of Kafka its group, of MQTT a shared subscription."""
    prefetch: int = 100
    """The maximum number of messages that are not acknowledged."""
    ordered: bool = True
    """Whether an event is sent when the one before it was."""
    max_bytes: int = 1024 * 1024
    """The largest message that is taken."""
    dead_letter: str | None = None
    """The queue, topic or subject for messages that cannot be taken."""


@dataclass(frozen=True, slots=True)
class SinkSettings:
    """One sink: where produced events go whose type and source match."""

    name: str
    broker: BrokerAddress
    """The URL is `router`, or that of an HTTP receiver or of a broker."""
    types: tuple[str, ...] = ("*",)
    sources: tuple[str, ...] = ("*",)
    mode: Mode = "structured"
    timeout: timedelta | None = None
    ordered: bool = False
    """Whether events of an instance are delivered one after the other, in the order in which it produced them."""
    max_attempts: int | None = None
    """The number of attempts after which the run gets an error; None for no limit."""

    def takes(self, event: CloudEvent) -> bool:
        """Tell whether *event* goes here."""
        return _matches(event.type, self.types) and _matches(event.source, self.sources)


@dataclass(frozen=True, slots=True)
class EventSettings:
    """All of them."""

    consumers: tuple[ConsumerSettings, ...] = ()
    sinks: tuple[SinkSettings, ...] = ()
    lifecycle: frozenset[str] = frozenset()
    """Which lifecycle events instances produce: `workflow`, `task`, `status`."""
    max_hops: int = MAX_HOPS
    """How many instances a chain may have in which each is started by an event of the one before."""


def _matches(text: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)
