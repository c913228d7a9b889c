"""Events from brokers: taken once, acknowledged when Temporal has them, whatever else comes."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from swf_temporal.app.client import Client
from swf_temporal.app.event_router import Router
from swf_temporal.cloud_event import CloudEvent
from swf_temporal.events.channels import channel_of
from swf_temporal.events.consumers.consumer import Consumer
from swf_temporal.events.consumers.known import source_of
from swf_temporal.events.messages import message_of
from swf_temporal.events.settings import BrokerAddress, ConsumerSettings, Mode
from swf_temporal.functions.asyncapi.brokers.port import Message
from swf_temporal.functions.asyncapi.brokers.protocols import Brokers
from swf_temporal.functions.http.client import Http
from swf_temporal.functions.operator.settings import Settings
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.loading import load
from swf_temporal.temporal.client import result
from tests.functions.asyncapi.brokers.servers import HOST, Server
from tests.temporal.conftest import Bench, Running

pytestmark = pytest.mark.temporal
_NUMBERS = count(1)

ORDER = """
id: ID
version: '1.0'
specVersion: '0.8'
start: Wait
events:
- {name: Placed, type: placed, source: shop, correlation: [{contextAttributeName: order}]}
- {name: Paid, type: paid, source: bank, correlation: [{contextAttributeName: order}]}
states:
- {name: Wait, type: event, onEvents: [{eventRefs: [Placed], eventDataFilter: {toStateData: .placed}}], transition: Pay}
- {name: Pay, type: event, onEvents: [{eventRefs: [Paid], eventDataFilter: {toStateData: .paid}}], end: true}
"""


def order() -> Definition:
    """Return the definition under an id of its own."""
    return load(ORDER.replace("ID", f"consumed-{os.getpid()}-{next(_NUMBERS)}"))


def events_of(key: str) -> list[CloudEvent]:
    """Return both events of an order."""
    return [
        CloudEvent(f"p-{key}", "shop", "placed", {"of": key}, {"order": key}),
        CloudEvent(f"b-{key}", "bank", "paid", [key], {"order": key}),
    ]


@pytest.fixture
def broker(request: pytest.FixtureRequest, topic: str) -> BrokerAddress:
    """Return the address at the broker that a test asks for."""
    match request.param:
        case "amqp":
            server: Server = request.getfixturevalue("rabbitmq")
            return BrokerAddress(f"amqp://{HOST}:{server.port}", topic, declare=True)
    raise ValueError(request.param)


every_broker = pytest.mark.parametrize("broker", ["amqp"], indirect=True)


async def publish(broker: BrokerAddress, events: Sequence[CloudEvent | Message], mode: Mode = "binary") -> None:
    """Send events to the broker."""
    family = broker.url.partition(":")[0]
    brokers = Brokers(Http(Settings()))
    channel = channel_of(Settings(), broker, f"producer-{next(_NUMBERS)}")
    for one in events:
        message = one if isinstance(one, Message) else message_of(one, family, mode)
        await brokers.speaking(family).send(channel, message)
    await brokers.aclose()


@asynccontextmanager
async def consuming(settings: ConsumerSettings, take: Any) -> AsyncIterator[Consumer]:
    """Run a consumer."""
    consumer = Consumer(settings, source_of(settings, Settings()), take, Settings())
    task = asyncio.create_task(consumer.run())
    try:
        yield consumer
    finally:
        task.cancel()
        await asyncio.wait([task])


def router_to(running: Running) -> Router:
    """Return what sends events to the definitions of a worker."""
    return Router(Client(running.bench.client), Catalogue(running.definitions), running.queue)


async def outputs(running: Running, number: int) -> list[Any]:
    """Return what the instances of the definition come to, once there are so many."""
    query = f"WorkflowType = '{running.definitions[0].id}'"
    async with asyncio.timeout(60):
        while (await running.bench.client.count_workflows(query)).count < number:
            await asyncio.sleep(0.05)
        found = [one async for one in running.bench.client.list_workflows(query)]
        assert len(found) == number
        return [await result(running.bench.client.get_workflow_handle(one.id)) for one in found]


@every_broker
@pytest.mark.parametrize("mode", ["binary", "structured"])
async def test_events_find_their_instances(bench: Bench, broker: BrokerAddress, mode: Mode) -> None:
    """Events of a key come to one instance, also if the producer sends them again."""
    async with bench.worker(order()) as running:
        settings = ConsumerSettings("orders", broker)
        async with consuming(settings, router_to(running).take):
            sent = [event for key in "abc" for event in events_of(key)]
            await publish(broker, [*sent, *sent], mode)
            found = await outputs(running, 3)
    assert sorted(found, key=json.dumps) == [{"placed": {"of": key}, "paid": [key]} for key in "abc"]


@every_broker
async def test_what_cannot_be_taken_is_no_obstacle(bench: Bench, broker: BrokerAddress) -> None:
    """It goes to the dead letters, with the reason; what nobody consumes is acknowledged."""
    dead = replace(broker, address=f"{broker.address}-dead")
    letters: list[Message] = []
    channel = channel_of(Settings(), dead, "undertaker")
    family = broker.url.partition(":")[0]
    async with bench.worker(order()) as running, Brokers(Http(Settings())).speaking(family).receive(channel) as dying:
        settings = ConsumerSettings("orders", broker, max_bytes=1000, dead_letter=dead.address)
        bad: list[CloudEvent | Message] = [
            Message(b"no event", "text/plain"),
            Message(b'{"specversion": "1.0"}', "application/cloudevents+json"),
            Message(b"x" * 2000, "text/plain"),
            CloudEvent("1", "shop", "unheard-of", None),
        ]
        async with consuming(settings, router_to(running).take):
            await publish(broker, [*bad, *events_of("z")])
            assert await outputs(running, 1) == [{"placed": {"of": "z"}, "paid": ["z"]}]
            for _ in range(3):
                delivery = await anext(dying)
                await delivery.accept()
                letters.append(delivery.message)
    assert [letter.payload[:8] for letter in letters] == [b"no event", b'{"specve', b"xxxxxxxx"]
