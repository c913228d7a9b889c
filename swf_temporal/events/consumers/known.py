"""The protocols that consumers speak: a line for each."""

import importlib
from typing import Final

from swf_temporal.base.importing import optional
from swf_temporal.events.channels import channel_of, client_id_of
from swf_temporal.events.consumers.port import MessageSource
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import ConsumerSettings

SOURCES: Final = {
    "amqp": ("amqp", "AmqpSource", "aio_pika"),
    "kafka": ("kafka", "KafkaSource", "aiokafka"),
    "mqtt": ("mqtt", "MqttSource", "aiomqtt"),
    "nats": ("nats", "NatsSource", "nats"),
    "ws": ("websocket", "WebSocketSource", "websockets"),
}
"""By family: the module, which is called as its extra is, the class, and the library that the extra brings."""


def source_of(consumer: ConsumerSettings, settings: Settings, deployment: str = "") -> MessageSource:
    """Return where *consumer* takes messages from, as a client whose id is of its name and *deployment*.

    Raises CallFailed if the library of its protocol is missing.
    """
    module, name, library = SOURCES[consumer.family]
    optional(library, module, f"consumers of {consumer.family}")
    channel = channel_of(settings, consumer, client_id_of(f"{deployment}/{consumer.name}"), consumer.max_bytes)
    made: MessageSource = getattr(importlib.import_module(f"swf_temporal.events.consumers.{module}"), name)(
        channel, consumer
    )
    return made
