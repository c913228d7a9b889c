"""Channels to brokers that the operator configures, and events as messages on them.

An event is sent in one of the content modes of the CloudEvents protocol bindings. In the mode `structured` the payload
of a message is the event in JSON. In the mode `binary` it is the event's data, and the attributes are headers: with
`ce_` before their names in Kafka, `ce-` in NATS, HTTP and RabbitMQ, and with nothing before them in MQTT 5.
"""

from base64 import b64encode
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final, Protocol
from urllib.parse import quote, unquote

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import NotJSON, read_json, write_json
from swf_temporal.events.brokers.families import FAMILIES, target_of
from swf_temporal.events.brokers.port import Bindings, Channel, Credentials, Message
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import BrokerAddress, ConsumerSettings, Mode
from swf_temporal.text.bodies import decoded, decoded_json, encoded, is_json, split_content_type

STRUCTURED: Final = "application/cloudevents+json"
_BATCH = "application/cloudevents-batch"
_JSON = "application/json"
_CONTENT_TYPE = "datacontenttype"
_UNQUOTED = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"%')


def event_in(message: Message, family: str) -> CloudEvent:
    """Return the event that *message* carries, in either mode. Raises ValueError if it carries none."""
    media_type, charset = split_content_type(message.content_type or "")
    if media_type.startswith(_BATCH):
        raise ValueError("it is a batch of CloudEvents, which no binding of this protocol has")
    attributes = _attributes_in(message, family)
    if not media_type.startswith("application/cloudevents") and "specversion" in attributes:
        return CloudEvent.from_message({**attributes, **_data_in(message, media_type, charset)})
    try:
        whole = read_json(message.payload)
    except NotJSON as error:
        raise ValueError(f"it is not a CloudEvent: neither headers with its attributes, nor JSON: {error}") from None
    if not isinstance(whole, dict) or "specversion" not in whole:
        raise ValueError("it is not a CloudEvent: it has no specversion")
    return CloudEvent.from_message(whole)


def id_in(message: Message, family: str) -> str | None:
    """Return the id of the event in *message*, even if the event is otherwise invalid; None if it has none."""
    found: JSON = _attributes_in(message, family).get("id")
    if found is None:
        with suppress(NotJSON):
            whole = read_json(message.payload)
            found = whole.get("id") if isinstance(whole, dict) else None
    return found if isinstance(found, str) and found else None


def message_of(event: CloudEvent, family: str, mode: Mode) -> Message:
    """Return the message that carries *event*, with checked attributes. Raises ValueError if *mode* is unsupported."""
    if mode == "structured":
        whole = {key.lower(): value for key, value in event.to_json().items()}
        return Message(write_json(whole, ensure_ascii=False).encode(), STRUCTURED)
    kind = FAMILIES[family]
    if not kind.attribute_prefixes:
        raise ValueError(f"CloudEvents have no binary mode over {family}")
    attributes = {key.lower(): value for key, value in event.to_json().items() if key != "data"}
    content_type = attributes.pop(_CONTENT_TYPE, None)
    prefix, quoted = kind.attribute_prefixes[0], kind.has_ascii_headers
    headers = {f"{prefix}{key}": _text(value, quoted=quoted) for key, value in attributes.items() if value is not None}
    content_type = _JSON if content_type is None else str(content_type)
    return Message(_payload(event.data, content_type), content_type, headers)


def _attributes_in(message: Message, family: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    kind = FAMILIES[family]
    for name, value in message.headers.items():
        for prefix in kind.attribute_prefixes:
            if name.lower().startswith(prefix):
                found.setdefault(name[len(prefix) :].lower(), unquote(value) if kind.has_ascii_headers else value)
                break
    for other in ("data", "data_base64", "content-type"):
        found.pop(other, None)
    if "specversion" in found and message.content_type is not None:
        found[_CONTENT_TYPE] = message.content_type
    return found


def _data_in(message: Message, media_type: str, charset: str) -> dict[str, JSON]:
    if not message.payload:
        return {}
    if not media_type or is_json(media_type):
        try:
            return {"data": read_json(decoded_json(message.payload, charset))}
        except NotJSON as error:
            raise ValueError(f"the payload of the CloudEvent says that it is JSON, and is not: {error}") from None
    try:
        return {"data": decoded(message.payload, charset)}
    except UnicodeError:
        return {"data_base64": b64encode(message.payload).decode()}


def _payload(data: JSON, content_type: str) -> bytes:
    if data is None:
        return b""
    media_type, charset = split_content_type(content_type)
    if isinstance(data, str) and not is_json(media_type):
        return encoded(data, charset)
    return write_json(data, ensure_ascii=False).encode()


def _text(value: JSON, *, quoted: bool) -> str:
    text = value if isinstance(value, str) else write_json(value)
    return quote(text, safe=_UNQUOTED) if quoted else text


class EventSource(Protocol):
    """Receives events from elsewhere, for a consumer. A package offers its class, which is made without arguments."""

    def events(self) -> AsyncGenerator[CloudEvent | Mapping[str, Any]]:
        """Yield each event, as a CloudEvent or in its JSON format. It is taken once the generator is resumed.

        After an exception, and at the end, it is called again. An event that can never be taken is logged, and the
        generator resumed.
        """


class EventSink(Protocol):
    """Sends events elsewhere. A package offers its class, which is made without arguments.

    If it has `async def aclose()`, that is called when the worker ends.
    """

    async def send(self, event: CloudEvent) -> None:
        """Send *event*, and return when it has arrived. After an exception, it is sent again.

        A CallFailed with `retryable=False` fails the state that produced it.
        """


_SUBPROTOCOL = "cloudevents.json"
"""The WebSocket subprotocol in the CloudEvents protocol binding."""
_SESSION_EXPIRY = 7 * 24 * 3600
"""Seconds for which an MQTT 5 broker keeps messages that arrive while a consumer is away."""


def channel_of(
    settings: Settings, broker: BrokerAddress, client_id: str, max_bytes: int | None = None, routing_key: str = ""
) -> Channel:
    """Return the channel of *broker* for a client with that id. Timeout and TLS are configured for its host.

    Its addresses are not checked, since the operator named it. *routing_key* is for AMQP exchanges, unless the operator
    has set one.
    """
    target = target_of(broker.url)
    options = settings.options_for(None, target.host, target.port)
    own = broker.credentials
    credentials = Credentials(
        username=own.username if own.username is not None else target.username,
        password=own.password if own.password is not None else target.password,
        token=own.token,
        headers=tuple({**options.headers, **broker.headers}.items()),
        mechanism=own.mechanism,
    )
    return Channel(
        protocol=target.protocol,
        host=target.host,
        port=target.port,
        path=target.path,
        address=broker.address if broker.exchange is None else broker.routing_key or routing_key,
        client_id=broker.client_id or client_id,
        timeout=options.timeout.total_seconds(),
        credentials=credentials,
        bindings=_bindings(broker, target.wire.family),
        tls=options.tls.context() if target.wire.is_secure else None,
        version=broker.version,
        max_bytes=max_bytes or options.max_response_bytes,
        subprotocols=(_SUBPROTOCOL,) if target.wire.family == "ws" else (),
    )


def client_id_of(name: str) -> str:
    """Return a short client id for *name*, of letters and digits."""
    return f"swf-{sha256(name.encode()).hexdigest()[:18]}"


def dead_letters_at(channel: Channel, consumer: ConsumerSettings) -> Channel | None:
    """Return the dead letter channel of *consumer*, at the broker of *channel*; None if it has none."""
    if consumer.dead_letter is None:
        return None
    queue: dict[str, JSON] = {"name": consumer.dead_letter, **({"durable": True} if consumer.declare else {})}
    bindings = Bindings(channel={"is": "queue", "queue": queue}) if consumer.family == "amqp" else Bindings()
    return replace(channel, address=consumer.dead_letter, bindings=bindings)


def _bindings(broker: BrokerAddress, family: str) -> Bindings:
    """Return the settings of the protocol as AsyncAPI bindings."""
    if family == "amqp":
        return Bindings(channel=_queue_or_exchange(broker))
    if family == "mqtt":
        return Bindings(server={"sessionExpiryInterval": _SESSION_EXPIRY})
    if family == "kafka":
        return Bindings(message={"key": {}})
    return Bindings()


def _queue_or_exchange(broker: BrokerAddress) -> dict[str, JSON]:
    queue: dict[str, JSON] = {"name": broker.address} if broker.address else {}
    if broker.declare:
        queue["durable"] = True
    if broker.exchange is None:
        return {"is": "queue", "queue": queue}
    return {"is": "routingKey", "exchange": {"name": broker.exchange}, "queue": queue}
