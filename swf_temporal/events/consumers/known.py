"""The protocols that consumers speak: a line for each."""

import importlib
from typing import Final

from swf_temporal.events.channels import channel_of, client_id_of, family_of
from swf_temporal.events.consumers.port import MessageSource
from swf_temporal.events.settings import ConsumerSettings
from swf_temporal.functions.operator.settings import Settings

SOURCES: Final = {
    "amqp": ("amqp", "AmqpSource"),
    "kafka": ("kafka", "KafkaSource"),
    "mqtt": ("mqtt", "MqttSource"),
    "nats": ("nats", "NatsSource"),
    "ws": ("websocket", "WebSocketSource"),
}
"""By family: the module and the class, each with a library of its own that is an extra."""


def source_of(consumer: ConsumerSettings, settings: Settings) -> MessageSource:
    """Return where *consumer* takes messages from. Raises CallFailed if the library of its protocol is missing."""
    module, name = SOURCES[family_of(consumer.broker.url)]
    channel = channel_of(settings, consumer.broker, client_id_of(consumer.name), consumer.max_bytes)
    made: MessageSource = getattr(importlib.import_module(f"swf_temporal.events.consumers.{module}"), name)(
        channel, consumer
    )
    return made
