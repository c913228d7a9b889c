"""Events from brokers: taken once, acknowledged when Temporal has them, whatever else comes."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from types import SimpleNamespace
from typing import Any

import nats
import pytest
from websockets import Subprotocol
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as websocket_server

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.brokers.families import Brokers
from swf_temporal.events.brokers.jetstream import unaccepted
from swf_temporal.events.brokers.port import Message
from swf_temporal.events.channels import channel_of, message_of
from swf_temporal.events.consumers.consumer import Consumer, Incoming, NotNowError, nothing
from swf_temporal.events.consumers.nats import NatsSource
from swf_temporal.functions.http.broker import HttpBroker
from swf_temporal.functions.http.client import Http
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.sdk.event_router import Router
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import BrokerAddress, ConsumerSettings
from swf_temporal.temporal.client import result
from tests.brokers.servers import HOST, Server
from tests.events.conftest import Take, brokers, consuming, every_broker, led_by_link, publish, settings_of, until
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


async def test_one_that_is_cancelled_while_its_connection_breaks_ends(take: Take) -> None:
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

    settings = ConsumerSettings(name="breaking", url="amqp://127.0.0.1", queue="q")
    task = asyncio.create_task(Consumer(settings, Breaking(), take, Settings()).run())
    await asyncio.wait([task], timeout=20)
    assert task.cancelled()
    assert Breaking.opened == 1


async def test_one_that_is_cancelled_as_a_message_comes_ends(take: Take) -> None:
    """It waits for no other, though its library has hidden that it is cancelled."""

    class Hiding:
        @asynccontextmanager
        async def open(self) -> AsyncIterator[AsyncGenerator[Incoming]]:
            yield self.messages()

        async def messages(self) -> AsyncGenerator[Incoming]:
            await _hidden_cancellation()
            yield Incoming(message_of(events_of("a")[0], "amqp", "binary"), nothing, nothing)
            await asyncio.Event().wait()

    settings = ConsumerSettings(name="hiding", url="amqp://127.0.0.1", queue="q")
    task = asyncio.create_task(Consumer(settings, Hiding(), take, Settings()).run())
    await asyncio.wait([task], timeout=20)
    assert task.cancelled()


async def test_one_that_is_cancelled_as_nothing_comes_ends() -> None:
    """As above, for what asks a stream of NATS again and again."""

    class Subscription:
        async def fetch(self, *_: Any, **_options: Any) -> list[Any]:
            await _hidden_cancellation()
            raise nats.errors.TimeoutError

        async def consumer_info(self) -> Any:
            await asyncio.sleep(0.01)
            return SimpleNamespace(num_ack_pending=0)

    settings = ConsumerSettings(name="hiding", url="nats://127.0.0.1", subject="s")
    channel, connection = channel_of(Settings(), settings, "id"), SimpleNamespace(is_closed=False)
    source = NatsSource(channel, settings)

    async def first(of: AsyncIterator[Any]) -> Any:
        return await anext(of)

    for asking in (unaccepted(channel, connection, Subscription()), source._messages(connection, Subscription())):
        task = asyncio.create_task(first(asking))
        await asyncio.wait([task], timeout=20)
        assert task.cancelled()


async def _hidden_cancellation() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(0)


def router_to(running: Running) -> Router:
    return Router(Client(running.bench.client), Catalogue(running.definitions), running.queue)


async def outputs(running: Running, number: int) -> list[Any]:
    found = await listed(running.bench.client, f"WorkflowType = '{running.definitions[0].id}'", number)
    assert len(found) == number
    return [await result(running.bench.client.get_workflow_handle(one.id)) for one in found]


@every_broker
async def test_events_find_their_instances(bench: Bench, broker: BrokerAddress) -> None:
    async with bench.worker(order()) as running, consuming(broker, router_to(running).take):
        sent = [event for key in "abc" for event in events_of(key)]
        await publish(broker, [*sent, *sent])
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
        settings = settings_of(broker, max_bytes=1000, dead_letter=dead.address)
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
    assert {letter.payload[:8] for letter in letters} == {b"no event", b'{"specve', b"xxxxxxxx"}
    assert all("swf-reason" in letter.headers for letter in letters)


@brokers("amqp", "mqtt", *(pytest.param(slow, marks=pytest.mark.long) for slow in ("kafka", "nats")))
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
        async with consuming(broker, router_to(running).take, is_there=False):
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

    async with consuming(broker, take):
        await publish(broker, events_of("a"))
        await until(lambda: len(taken) == 2)
    assert (tried, taken) == (["p-a", "p-a", "p-a", "b-a"], ["p-a", "b-a"])


@brokers("nats")
async def test_an_event_that_breaks_its_taker_is_given_up(broker: BrokerAddress) -> None:
    """After three attempts: those behind it are taken. What becomes of each message is counted."""
    tried: list[str] = []
    counted: list[str] = []

    async def take(event: CloudEvent) -> int:
        tried.append(event.id)
        if event.id == "p-a":
            raise KeyError("unforeseen")
        return 1

    async with consuming(broker, take, counted.append):
        await publish(broker, events_of("a"))
        await until(lambda: len(counted) == 4)
    assert tried == ["p-a", "p-a", "p-a", "b-a"]
    assert counted == ["held", "held", "refused", "taken"]


@every_broker
async def test_a_connection_that_breaks_is_made_again(broker: BrokerAddress, take: Take, taken: list[str]) -> None:
    """What comes then is taken, and so is what was sent meanwhile."""
    async with led_by_link(broker) as (link, led), consuming(broker if broker.family == "kafka" else led, take):
        await publish(broker, events_of("a"))
        await until(lambda: len(taken) == 2)
        link.cut()
        await publish(broker, events_of("b"))
        await until(lambda: {"p-b", "b-b"} <= set(taken))


async def test_events_come_over_a_websocket(take: Take, taken: list[str]) -> None:
    """In JSON, over the subprotocol of CloudEvents; the connection is made again when it ends."""
    offered: list[Any] = []

    async def serve(connection: ServerConnection) -> None:
        offered.append(connection.subprotocol)
        event = CloudEvent(str(len(offered)), "shop", "placed")
        await connection.send(json.dumps(event.to_json()))
        await connection.send("no event")

    async with websocket_server(serve, HOST, 0, subprotocols=[Subprotocol("cloudevents.json")]) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with consuming(ConsumerSettings(name="ws", url=f"ws://{HOST}:{port}"), take, is_there=False):
            await until(lambda: len(taken) >= 2)
    assert taken[:2] == ["1", "2"]
    assert offered[0] == "cloudevents.json"


async def test_mqtt_of_version_3(mosquitto: Server, topic: str, take: Take, taken: list[str]) -> None:
    """It carries events in JSON alone, and shares them within a group."""
    broker = BrokerAddress(url=f"mqtt://{HOST}:{mosquitto.port}", topic=topic, version="3.1.1")
    one, two = (settings_of(broker, name=name, client_id=f"{topic}-{name}", group="group") for name in ("one", "two"))
    async with consuming(one, take), consuming(two, take):
        await publish(broker, [*events_of("a"), *events_of("b")], "structured")
        await until(lambda: len(taken) == 4)
    assert sorted(taken) == ["b-a", "b-b", "p-a", "p-b"]
