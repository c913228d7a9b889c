"""Channels to brokers that the operator configures, with the options for the broker's host."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, Protocol

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.events.brokers.families import target_of
from swf_temporal.events.brokers.port import Bindings, Channel, Credentials
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import BrokerAddress, ConsumerSettings


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
