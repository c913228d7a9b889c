"""A Temporal server, and the brokers that the tests of functions start."""

from collections.abc import Iterator

import pytest

from tests.brokers.conftest import authority, certificates, kafka_cluster, mosquitto, rabbitmq, topic
from tests.brokers.servers import HOST, Server, free_ports, program, running
from tests.temporal.conftest import bench

__all__ = ["authority", "bench", "certificates", "kafka_cluster", "mosquitto", "rabbitmq", "topic"]


@pytest.fixture(scope="session")
def jetstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("jetstream")
    [port] = free_ports(1)
    command = [program("nats-server", "nats-server"), "-a", HOST, "-p", str(port), "-js", "-sd", str(folder)]
    with running(command, [port], folder / "log"):
        yield Server(port)
