"""A Temporal server, and the brokers that the tests of functions start; consumers of these, and what they are sent."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from typing import Any

import nats
import pytest

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.brokers.families import Brokers
from swf_temporal.events.brokers.port import Message
from swf_temporal.events.channels import channel_of, message_of
from swf_temporal.events.consumers import consumer as consumers
from swf_temporal.events.consumers.consumer import Consumer, source_of
from swf_temporal.functions.http.broker import HttpBroker
from swf_temporal.functions.http.client import Http
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import BrokerAddress, ConsumerSettings, Mode
from tests.brokers.conftest import jetstream, kafka_cluster, mosquitto, rabbitmq, topic
from tests.brokers.servers import HOST, Link, Server
from tests.temporal.conftest import bench

__all__ = ["bench", "jetstream", "kafka_cluster", "mosquitto", "rabbitmq", "topic"]
Take = Callable[[CloudEvent], Any]
SERVERS = {"amqp": "rabbitmq", "kafka": "kafka_cluster", "mqtt": "mosquitto", "nats": "jetstream"}
_NUMBERS = count(1)


@pytest.fixture
async def broker(request: pytest.FixtureRequest, topic: str) -> BrokerAddress:
    """Return the address at the broker that a test asks for."""
    server: Server = request.getfixturevalue(SERVERS[request.param])
    url = f"{request.param}://{HOST}:{server.port}"
    match request.param:
        case "amqp":
            return BrokerAddress(url=url, queue=topic, declare=True)
        case "nats":
            async with await nats.connect(url) as connection:
                subjects = [topic, f"{topic}-dead", f"{topic}-b"]
                await connection.jetstream().add_stream(name=topic, subjects=subjects)
            return BrokerAddress(url=url, subject=topic)
    return BrokerAddress(url=url, topic=topic)


def brokers(*families: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("broker", families, indirect=True)


every_broker = brokers(*SERVERS)


@asynccontextmanager
async def led_by_link(broker: BrokerAddress) -> AsyncIterator[tuple[Link, BrokerAddress]]:
    """Lead to a broker by a link; its clients go past that where it is Kafka: the cluster names its own addresses."""
    port = broker.url.rpartition(":")[2]
    async with Link(int(port)).opened() as link:
        yield link, broker.replace(url=broker.url.replace(port, str(link.port)))


async def publish(broker: BrokerAddress, events: Sequence[CloudEvent | Message], mode: Mode = "binary") -> None:
    family = broker.url.partition(":")[0]
    brokers = Brokers(HttpBroker(Http(Settings())))
    channel = channel_of(Settings(), broker, f"producer-{next(_NUMBERS)}")
    for one in events:
        message = one if isinstance(one, Message) else message_of(one, family, mode)
        if family == "kafka":  # one partition keeps the order
            message = replace(message, headers={**message.headers, "key": "k"})
        await brokers.speaking(family).send(channel, message)
    await brokers.aclose()


def settings_of(broker: BrokerAddress, **more: Any) -> ConsumerSettings:
    return ConsumerSettings(**{"name": broker.address, **dict(broker), **more})


@asynccontextmanager
async def consuming(
    of: ConsumerSettings | BrokerAddress, take: Take, count: Callable[[str], Any] = str, *, is_there: bool = True
) -> AsyncIterator[Consumer]:
    """Run a consumer, from when it has what its broker sends: unless there is nothing, or it comes another way."""
    settings = of if isinstance(of, ConsumerSettings) else settings_of(of)
    consumer = Consumer(settings, source_of(settings, Settings()), take, Settings(), count)
    task = asyncio.create_task(consumer.run())
    try:
        if is_there:
            await until(lambda: consumer.is_connected)
        yield consumer
    finally:
        task.cancel()
        await asyncio.wait([task])


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_so():
            await asyncio.sleep(0.02)


def named_event(id_: str | int) -> CloudEvent:
    return CloudEvent(str(id_), "shop", "placed")


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let consumers try again sooner than usual."""
    monkeypatch.setattr(consumers, "_FIRST_PAUSE", 0.05)


@pytest.fixture
def taken() -> list[str]:
    return []


@pytest.fixture
def take(taken: list[str]) -> Take:
    """Return what takes every event, and notes its id in *taken*."""

    async def take(event: CloudEvent) -> int:
        taken.append(event.id)
        return 1

    return take
