"""What is the same with every protocol that has brokers: how it cannot be reached, and how it is given up."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

import pytest

from swf_temporal.events.brokers.amqp import Amqp
from swf_temporal.events.brokers.kafka import Kafka
from swf_temporal.events.brokers.mqtt import Mqtt
from swf_temporal.events.brokers.nats import Nats
from swf_temporal.events.brokers.port import Broker, Channel, Message
from tests.brokers.conftest import FaultOf, is_cancelled_while_connecting, next_payload
from tests.brokers.servers import HOST, free_ports, silent

MESSAGE = Message(b"x")


@dataclass(frozen=True)
class Protocol:
    """A protocol, and the module of its library that is asked for first."""

    name: str
    make: Callable[[], Broker]
    library: str

    def channel(self, port: int, *, host: str = HOST, timeout: float = 10.0) -> Channel:
        return Channel(self.name, host, port, "", uuid4().hex, uuid4().hex, timeout)


PROTOCOLS = [
    Protocol("mqtt", Mqtt, "aiomqtt"),
    Protocol("amqp", Amqp, "aiormq.exceptions"),
    Protocol("nats", Nats, "nats.errors"),
    Protocol("kafka", Kafka, "aiokafka.errors"),
]


@pytest.fixture(params=PROTOCOLS, ids=[protocol.name for protocol in PROTOCOLS])
def protocol(request: pytest.FixtureRequest) -> Protocol:
    found: Protocol = request.param
    return found


async def test_nobody_listens(protocol: Protocol, fault_of: FaultOf) -> None:
    fault = await fault_of(protocol.make().send(protocol.channel(free_ports(1)[0]), MESSAGE))
    assert (fault.code, fault.retryable) == ("ConnectionRefused", True)


async def test_an_unknown_host(protocol: Protocol, fault_of: FaultOf) -> None:
    here = protocol.channel(1883, host="broker.invalid")
    assert (await fault_of(next_payload(protocol.make(), here))).code == "UnknownHost"


async def test_a_broker_that_says_nothing(protocol: Protocol, fault_of: FaultOf) -> None:
    async with silent() as broker:
        fault = await fault_of(protocol.make().send(protocol.channel(broker.port, timeout=0.5), MESSAGE))
    assert fault.code == "Timeout"


async def test_connecting_can_be_cancelled(protocol: Protocol) -> None:
    async with silent() as broker:
        assert await is_cancelled_while_connecting(protocol.make(), protocol.channel(broker.port), broker.called)


async def test_without_its_library_the_extra_is_named(
    protocol: Protocol, fault_of: FaultOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, protocol.library, None)
    fault = await fault_of(protocol.make().send(protocol.channel(1883), MESSAGE))
    assert fault.code == "NotInstalled"
    assert f"pip install 'swf-temporal[{protocol.name}]'" in fault.message
