"""The brokers that the tests of their clients start."""

from tests.brokers.conftest import authority, certificates, kafka_cluster, mosquitto, nats_server, rabbitmq

__all__ = ["authority", "certificates", "kafka_cluster", "mosquitto", "nats_server", "rabbitmq"]
