"""Events from brokers: taken once, acknowledged when Temporal has them, whatever else comes."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from typing import Any

import nats
import pytest
from websockets import Subprotocol
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as websocket_server

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.brokers.port import Message
from swf_temporal.events.brokers.protocols import Brokers
from swf_temporal.events.channels import channel_of
from swf_temporal.events.consumers.consumer import Consumer, source_of
from swf_temporal.events.consumers.port import Incoming, NotNowError
from swf_temporal.events.messages import message_of
from swf_temporal.functions.http.broker import HttpBroker
from swf_temporal.functions.http.client import Http
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.sdk.event_router import Router
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import BrokerAddress, ConsumerSettings, Mode
from swf_temporal.temporal.client import result
from tests.brokers.servers import HOST, Link, Server
from tests.processes import ending_with_us
from tests.temporal.conftest import Bench, Running, listed
from tests.temporal.test_event_starts import ORDER

pytestmark = pytest.mark.temporal
_NUMBERS = count(1)


def order() -> Definition:
    return load(ORDER.replace("ID", f"consumed-{os.getpid()}-{next(_NUMBERS)}"))


def events_of(key: str) -> list[CloudEvent]:
    return [
        CloudEvent(f"p-{key}", "shop", "placed", {"of": key}, {"order": key}),
        CloudEvent(f"b-{key}", "bank", "paid", [key], {"order": key}),
    ]


@pytest.fixture
async def broker(request: pytest.FixtureRequest, topic: str) -> BrokerAddress:
    match request.param:
        case "amqp":
            server: Server = request.getfixturevalue("rabbitmq")
            return BrokerAddress(url=f"amqp://{HOST}:{server.port}", queue=topic, declare=True)
        case "kafka":
            server = request.getfixturevalue("kafka_cluster")
            return BrokerAddress(url=f"kafka://{HOST}:{server.port}", topic=topic)
        case "mqtt":
            server = request.getfixturevalue("mosquitto")
            return BrokerAddress(url=f"mqtt://{HOST}:{server.port}", topic=topic)
        case "nats":
            server = request.getfixturevalue("jetstream")
            connection = await nats.connect(f"nats://{HOST}:{server.port}")
            await connection.jetstream().add_stream(name=topic, subjects=[topic, f"{topic}-dead", f"{topic}-b"])
            await connection.close()
            return BrokerAddress(url=f"nats://{HOST}:{server.port}", subject=topic)
    raise ValueError(request.param)


every_broker = pytest.mark.parametrize("broker", ["amqp", "kafka", "mqtt", "nats"], indirect=True)


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


@asynccontextmanager
async def consuming(
    settings: ConsumerSettings, take: Any, count: Callable[[str], None] = lambda _: None
) -> AsyncIterator[Consumer]:
    consumer = Consumer(settings, source_of(settings, Settings()), take, Settings(), count)
    task = asyncio.create_task(consumer.run())
    try:
        yield consumer
    finally:
        task.cancel()
        await asyncio.wait([task])


async def connected(consumer: Consumer) -> None:
    async with asyncio.timeout(30):
        while not consumer.is_connected:
            await asyncio.sleep(0.02)


async def test_one_that_is_cancelled_while_its_connection_breaks_ends() -> None:
    """It does not connect again, though the group of its tasks fails at that moment and hides that it is cancelled."""

    class Breaking:
        opened = 0

        @asynccontextmanager
        async def open(self) -> AsyncIterator[AsyncGenerator[Incoming]]:
            Breaking.opened += 1
            yield self.messages()

        async def messages(self) -> AsyncGenerator[Incoming]:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            raise ConnectionError
            yield  # a generator

    async def take(_: CloudEvent) -> int:
        return 1

    settings = ConsumerSettings(name="breaking", url="amqp://127.0.0.1", queue="q")
    task = asyncio.create_task(Consumer(settings, Breaking(), take, Settings()).run())
    await asyncio.wait([task], timeout=20)
    assert task.cancelled()
    assert Breaking.opened == 1


def router_to(running: Running) -> Router:
    return Router(Client(running.bench.client), Catalogue(running.definitions), running.queue)


async def outputs(running: Running, number: int) -> list[Any]:
    found = await listed(running.bench.client, f"WorkflowType = '{running.definitions[0].id}'", number)
    assert len(found) == number
    return [await result(running.bench.client.get_workflow_handle(one.id)) for one in found]


@every_broker
@pytest.mark.parametrize("mode", ["binary", "structured"])
async def test_events_find_their_instances(bench: Bench, broker: BrokerAddress, mode: Mode) -> None:
    async with bench.worker(order()) as running:
        settings = ConsumerSettings(name=broker.address, **dict(broker))
        async with consuming(settings, router_to(running).take) as consumer:
            await connected(consumer)
            sent = [event for key in "abc" for event in events_of(key)]
            await publish(broker, [*sent, *sent], mode)
            found = await outputs(running, 3)
    assert sorted(found, key=json.dumps) == [{"placed": {"of": key}, "paid": [key]} for key in "abc"]


@every_broker
async def test_what_cannot_be_taken_is_no_obstacle(bench: Bench, broker: BrokerAddress) -> None:
    """It goes to the dead letters, with the reason; what nobody consumes is acknowledged."""
    dead = broker.replace(**{broker.word or "": f"{broker.address}-dead"})
    letters: list[Message] = []
    channel = channel_of(Settings(), dead, "undertaker")
    family = broker.url.partition(":")[0]
    receiver = Brokers(HttpBroker(Http(Settings()))).speaking(family)
    async with bench.worker(order()) as running, receiver.receive(channel) as dying:
        settings = ConsumerSettings(name=broker.address, **dict(broker), max_bytes=1000, dead_letter=dead.address)
        bad: list[CloudEvent | Message] = [
            Message(b"no event", "text/plain"),
            Message(b'{"specversion": "1.0"}', "application/cloudevents+json"),
            Message(b"x" * 2000, "text/plain"),
            CloudEvent("1", "shop", "unheard-of", None),
        ]
        async with consuming(settings, router_to(running).take) as consumer:
            await connected(consumer)
            await publish(broker, [*bad, *events_of("z")])
            assert await outputs(running, 1) == [{"placed": {"of": "z"}, "paid": ["z"]}]
            for _ in range(3):
                delivery = await anext(dying)
                await delivery.accept()
                letters.append(delivery.message)
    assert {letter.payload[:8] for letter in letters} == {b"no event", b'{"specve', b"xxxxxxxx"}
    assert all("swf-reason" in letter.headers for letter in letters)


@pytest.mark.parametrize(
    "broker",
    ["amqp", "mqtt", *(pytest.param(slow, marks=pytest.mark.long) for slow in ("kafka", "nats"))],
    indirect=True,
)
async def test_what_a_killed_consumer_had_not_acknowledged_comes_again(bench: Bench, broker: BrokerAddress) -> None:
    """A process is killed when Temporal has the event, and the broker does not know that yet."""
    async with bench.worker(order()) as running:
        sent = [event for key in "ab" for event in events_of(key)]
        dying = await asyncio.create_subprocess_exec(
            *ending_with_us(), sys.executable, "-m", "tests.events.dying_consumer",
            broker.url, broker.address, bench.client.service_client.config.target_host, running.queue,
            running.definitions[0].source.text,
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert dying.stdout is not None
        async with asyncio.timeout(60):
            assert await dying.stdout.readline() == b"connected\n"
            await publish(broker, sent)
            assert await dying.stdout.readline() == b"p-a\n"
        dying.send_signal(signal.SIGKILL)
        await dying.wait()
        async with consuming(ConsumerSettings(name=broker.address, **dict(broker)), router_to(running).take):
            found = await outputs(running, 2)
    assert sorted(found, key=json.dumps) == [{"placed": {"of": key}, "paid": [key]} for key in "ab"]


@every_broker
async def test_events_wait_for_a_server_that_is_away(broker: BrokerAddress) -> None:
    """The event is tried again, by the same consumer, and those behind it wait for it."""
    tried: list[str] = []
    taken: list[str] = []

    async def take(event: CloudEvent) -> int:
        tried.append(event.id)
        if len(tried) < 3:
            raise NotNowError("away")
        taken.append(event.id)
        return 1

    async with consuming(ConsumerSettings(name=broker.address, **dict(broker)), take) as consumer:
        await connected(consumer)
        await publish(broker, events_of("a"))
        async with asyncio.timeout(30):
            while len(taken) < 2:
                await asyncio.sleep(0.02)
    assert (tried, taken) == (["p-a", "p-a", "p-a", "b-a"], ["p-a", "b-a"])


@pytest.mark.parametrize("broker", ["nats"], indirect=True)
async def test_an_event_that_breaks_its_taker_is_given_up(broker: BrokerAddress) -> None:
    """After three attempts: those behind it are taken. What becomes of each message is counted."""
    tried: list[str] = []
    counted: list[str] = []

    async def take(event: CloudEvent) -> int:
        tried.append(event.id)
        if event.id == "p-a":
            raise KeyError("unforeseen")
        return 1

    settings = ConsumerSettings(name=broker.address, **dict(broker))
    async with consuming(settings, take, counted.append) as consumer:
        await connected(consumer)
        await publish(broker, events_of("a"))
        async with asyncio.timeout(30):
            while len(counted) < 4:
                await asyncio.sleep(0.02)
    assert tried == ["p-a", "p-a", "p-a", "b-a"]
    assert counted == ["held", "held", "refused", "taken"]


@every_broker
async def test_a_connection_that_breaks_is_made_again(broker: BrokerAddress) -> None:
    taken: list[str] = []

    async def take(event: CloudEvent) -> int:
        taken.append(event.id)
        return 1

    port = int(broker.url.rpartition(":")[2])
    async with Link(port).opened() as link:
        led = broker.replace(url=broker.url.replace(str(port), str(link.port)))
        if broker.url.startswith("kafka"):
            led = broker  # its clients go to the addresses that the cluster names
        async with consuming(ConsumerSettings(name=broker.address, **dict(led)), take) as consumer:
            await connected(consumer)
            await publish(broker, events_of("a"))
            async with asyncio.timeout(30):
                while len(taken) < 2:
                    await asyncio.sleep(0.02)
            link.cut()
            await publish(broker, events_of("b"))
            async with asyncio.timeout(30):
                while not {"p-b", "b-b"} <= set(taken):
                    await asyncio.sleep(0.02)


async def test_events_come_over_a_websocket() -> None:
    """In JSON, over the subprotocol of CloudEvents; the connection is made again when it ends."""
    taken: list[str] = []
    offered: list[Any] = []

    async def take(event: CloudEvent) -> int:
        taken.append(event.id)
        return 1

    async def serve(connection: ServerConnection) -> None:
        offered.append(connection.subprotocol)
        event = CloudEvent(str(len(offered)), "shop", "placed")
        await connection.send(json.dumps(event.to_json()))
        await connection.send("no event")

    async with websocket_server(serve, HOST, 0, subprotocols=[Subprotocol("cloudevents.json")]) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with consuming(ConsumerSettings(name="ws", url=f"ws://{HOST}:{port}"), take):
            async with asyncio.timeout(30):
                while len(taken) < 2:
                    await asyncio.sleep(0.02)
    assert taken[:2] == ["1", "2"]
    assert offered[0] == "cloudevents.json"


async def test_mqtt_of_version_3(mosquitto: Server, topic: str) -> None:
    """It carries events in JSON alone, and shares them within a group."""
    broker = BrokerAddress(url=f"mqtt://{HOST}:{mosquitto.port}", topic=topic, version="3.1.1")
    taken: list[str] = []

    async def take(event: CloudEvent) -> int:
        taken.append(event.id)
        return 1

    both = [broker.replace(client_id=f"{topic}-{number}") for number in range(2)]
    async with (
        consuming(ConsumerSettings(name="one", **dict(both[0]), group="group"), take) as one,
        consuming(ConsumerSettings(name="two", **dict(both[1]), group="group"), take) as two,
    ):
        await connected(one)
        await connected(two)
        await publish(broker, events_of("a"), "structured")
        await publish(broker, events_of("b"), "structured")
        async with asyncio.timeout(30):
            while len(taken) < 4:
                await asyncio.sleep(0.02)
    assert sorted(taken) == ["b-a", "b-b", "p-a", "p-b"]
