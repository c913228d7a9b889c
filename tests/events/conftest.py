"""A Temporal server, and the brokers that the tests of functions start."""

from tests.functions.asyncapi.brokers.conftest import (
    authority,
    certificates,
    kafka_cluster,
    mosquitto,
    rabbitmq,
    topic,
)
from tests.temporal.conftest import bench

__all__ = ["authority", "bench", "certificates", "kafka_cluster", "mosquitto", "rabbitmq", "topic"]
