"""The settings of events: the brokers that they come from, and the sinks of those that workflows produce."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.grammar import with_article
from swf_temporal.events.brokers.families import CUSTOM, FAMILIES, WIRES, target_of
from swf_temporal.runtime.performing import PUBLISH_LIMIT
from swf_temporal.settings import credentials
from swf_temporal.settings.configuration import FromVariable, Section, Variable
from swf_temporal.settings.forms import HEADERS, Count, Duration, Names, Secret, Size, is_like
from swf_temporal.settings.values import MAX_HOPS
from swf_temporal.text.model_errors import validation_error

ROUTER: Final = "router"
"""The address of a sink that routes events to the instances that they start and those that wait for them."""

Mode = Literal["structured", "binary"]
"""The content modes of CloudEvents: the event as JSON, or attributes in headers and the payload as the body."""

_SINK: Final = "SWF_SINK"


def _url(value: object) -> str:
    text = str(value).strip()
    if text.startswith(f"{CUSTOM}:"):
        if not text.removeprefix(f"{CUSTOM}:"):
            raise ValueError("it must be custom: and the name that an installed package offers")
        return text
    if text.partition("://")[0].lower() not in WIRES or "://" not in text:
        raise ValueError(f"it must be a URL with one of the schemes {', '.join(WIRES)}")
    try:
        target_of(text)
    except CallFailed as error:
        raise ValueError(str(error)) from None
    return text


class Credentials(Section):
    """The credentials of a client of a broker, if they are not in its URL."""

    username: Secret | None = None
    password: Secret | None = Field(None, repr=False)
    token: Secret | None = Field(None, repr=False)
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] | None = None
    """For Kafka: the SASL mechanism."""


class BrokerAddress(Section):
    """A broker, and the queue, topic or subject there."""

    url: Annotated[str, BeforeValidator(_url)]
    queue: str | None = None
    topic: str | None = None
    subject: str | None = None
    exchange: str | None = None
    """For AMQP: the exchange that is bound to the queue, or that is published to."""
    routing_key: str | None = None
    """For AMQP: the key by which the exchange routes."""
    declare: bool = False
    """For AMQP: whether a missing queue is declared, as durable."""
    version: Literal["3.1.1", "5"] | None = None
    """For MQTT: the version of the protocol."""
    client_id: str | None = None
    """The id of the client at the broker. For MQTT, it must be unique among connected clients."""
    stream: str | None = None
    """For NATS: the stream of JetStream."""
    headers: Annotated[Mapping[str, Secret], HEADERS] = Field(default_factory=dict, repr=False)
    """For HTTP and WebSocket: headers of the request."""
    credentials: Credentials = Credentials()

    @property
    def family(self) -> str:
        """The family of protocols: amqp, kafka, mqtt, nats, ws, http or custom."""
        if self.custom is not None:
            return CUSTOM
        return WIRES[self.url.partition("://")[0].lower()].family

    @property
    def custom(self) -> str | None:
        """The name that an installed package offers it by; None if it is at a broker."""
        scheme, _, name = self.url.partition(":")
        return name if scheme == CUSTOM else None

    @property
    def word(self) -> str | None:
        """The word for the address there; None if the URL contains it."""
        return None if self.url == ROUTER else FAMILIES[self.family].word

    @property
    def address(self) -> str:
        """The queue, topic or subject; empty for WebSocket."""
        return self.queue or self.topic or self.subject or ""

    @property
    def secrets(self) -> list[str]:
        """All secrets of it, in the forms in which messages may repeat them."""
        own = self.credentials
        login = credentials.of_login(own.username, own.password)
        token = [own.token] if own.token else []
        return [*login, *token, *credentials.in_headers(self.headers), *credentials.in_url(self.url)]

    @model_validator(mode="after")
    def _is_of_its_protocol(self) -> Self:
        word = self.word
        for other in dict.fromkeys(one.word for one in FAMILIES.values() if one.word is not None):
            if other != word and getattr(self, other) is not None:
                wanted = "there is no such thing" if word is None else f"there is {with_article(word)}"
                raise validation_error(f"over {self.family} {wanted}", other)
        if word != "queue" and (self.exchange or self.routing_key or self.declare):
            raise ValueError("`exchange`, `routingKey` and `declare` are options of AMQP only")
        if word != "subject" and self.stream is not None:
            raise validation_error("only NATS has streams", "stream")
        if word is not None and not self.address and self._needs_address:
            raise validation_error(f"the {word} is missing", hint=f"write {word}: NAME")
        return self

    @property
    def _needs_address(self) -> bool:
        return True


class ConsumerSettings(BrokerAddress):
    """One consumer: a process of `swf consume` takes events from a broker and routes them."""

    name: str
    url: Annotated[str, BeforeValidator(_url)] = Field(alias="from")
    group: str | None = None
    """The group whose processes share the messages: a consumer group of Kafka, a shared subscription of MQTT."""
    prefetch: Count = 100
    """The maximum number of messages that are not acknowledged."""
    ordered: bool = True
    """Whether each event waits until the one before it was sent."""
    max_bytes: Size = 1024 * 1024
    """The maximum size of a message."""
    dead_letter: str | None = None
    """The queue, topic or subject for messages that cannot be processed."""

    @model_validator(mode="after")
    def _can_consume(self) -> Self:
        if self.family == "http":
            raise validation_error("events come over HTTP to swf gateway", hint="name a broker as `from`")
        family = FAMILIES[self.family]
        if family.acknowledges_in_order and not self.ordered:
            raise validation_error("messages of MQTT are acknowledged in their order", "ordered")
        if not family.keeps_messages and self.dead_letter is not None:
            what = "WebSocket" if self.family == "ws" else "a source of a package"
            raise validation_error(f"{what} has no place for dead letters", "deadLetter")
        return self


def _of_a_delivery(timeout: timedelta) -> timedelta:
    if timeout > PUBLISH_LIMIT:
        raise ValueError(f"it must be at most {PUBLISH_LIMIT.seconds} seconds")
    return timeout


class SinkSettings(BrokerAddress):
    """One sink: the destination of produced events whose type and source match."""

    name: str
    url: Annotated[str, BeforeValidator(lambda value: value if value == ROUTER else _url(value))] = Field(alias="to")
    """`router`, the URL of an HTTP receiver or of a broker, or `custom:` and the name of a sink of a package."""
    types: Names = ("*",)
    sources: Names = ("*",)
    mode: Mode = "structured"
    timeout: Annotated[Duration, AfterValidator(_of_a_delivery)] | None = None
    """The timeout of one delivery, in place of that of its host."""
    ordered: bool = False
    """Whether events of an instance are delivered one after the other, in the order in which it produced them."""
    max_attempts: Count | None = None
    """The number of attempts after which the run gets an error; None means no limit."""

    def takes(self, event: CloudEvent) -> bool:
        """Return whether *event* goes there."""
        return is_like(event.type, self.types) and is_like(event.source, self.sources)

    @model_validator(mode="after")
    def _can_send(self) -> Self:
        if self.mode == "binary" and self.url != ROUTER and (self.family == "ws" or self.version == "3.1.1"):
            message = "CloudEvents have no binary mode over this protocol"
            raise validation_error(message, "mode", hint="use structured")
        return self

    @property
    def _needs_address(self) -> bool:
        return self.exchange is None


_Place = TypeVar("_Place", ConsumerSettings, SinkSettings)


def _named_once(places: tuple[_Place, ...]) -> tuple[_Place, ...]:
    names = [one.name for one in places]
    for name in names:
        if not name.strip() or names.count(name) > 1:
            raise validation_error(f"{name!r} is used more than once", hint="names must be unique")
    return places


class EventSettings(Section):
    """Consumers and sinks; the variable `SWF_SINK` is a sink that gets every event."""

    section: ClassVar[str] = "events"

    consumers: Annotated[tuple[ConsumerSettings, ...], AfterValidator(_named_once)] = ()
    sinks: Annotated[tuple[SinkSettings, ...], AfterValidator(_named_once)] = ()
    lifecycle: frozenset[Literal["workflow", "task", "status"]] = frozenset()
    """The lifecycle events that instances produce."""
    max_hops: Count = MAX_HOPS
    """The maximum length of a chain of instances in which each is started by an event of the one before."""

    @classmethod
    def merged(cls, content: Any, env: Mapping[str, str], ending: str = "") -> Any:
        """Return *content* with the sink of `SWF_SINK`."""
        found, url = super().merged(content, env, ending), env.get(_SINK, "")
        if url.strip() and isinstance(found, dict) and isinstance(found.get("sinks", []), list):
            found["sinks"] = [*found.get("sinks", []), {"name": _SINK, "to": FromVariable(url, Variable(_SINK))}]
        return found
