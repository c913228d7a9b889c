"""Consumers whose queue, position or connection ends: they go on, in the order of the broker, with nothing lost."""

import asyncio
import json
import logging

import aio_pika
import nats
import pytest
from confluent_kafka import Consumer as Member
from confluent_kafka import Producer
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as websocket_server

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.channels import STRUCTURED
from swf_temporal.events.consumers import nats as nats_sources
from swf_temporal.events.consumers.consumer import NotNowError
from swf_temporal.settings.events import BrokerAddress, ConsumerSettings
from tests.brokers.servers import HOST, Server
from tests.events.conftest import Take, brokers, consuming, led_by_link, named_event, publish, settings_of, until


async def test_a_queue_that_was_deleted_is_looked_for_again(
    rabbitmq: Server, topic: str, take: Take, taken: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """RabbitMQ ends a consumer then, as where a node is lost, and lets its connection be."""
    broker = BrokerAddress(url=f"amqp://{HOST}:{rabbitmq.port}", queue=topic)
    async with await aio_pika.connect(broker.url) as connection, await connection.channel() as channel:
        await channel.declare_queue(topic, durable=True)
        async with consuming(broker, take):
            await channel.queue_delete(topic)
            await until(lambda: "no such channel" in caplog.text)
            await channel.declare_queue(topic, durable=True)
            await publish(broker, [named_event(2)], "structured")
            await until(lambda: taken == ["2"])


@brokers("nats")
@pytest.mark.parametrize("deletes_stream", [False, True])
async def test_a_position_that_was_deleted_is_begun_again(
    broker: BrokerAddress, take: Take, taken: list[str], monkeypatch: pytest.MonkeyPatch, *, deletes_stream: bool
) -> None:
    """Alone, or with its stream. The server ends no connection for that."""
    monkeypatch.setattr(nats_sources, "_ASKING", 0.5)
    async with await nats.connect(broker.url) as connection:
        streams = connection.jetstream()
        async with consuming(broker, take):
            if deletes_stream:
                await streams.delete_stream(broker.address)
                await streams.add_stream(name=broker.address, subjects=[broker.address])
            else:
                await streams.delete_consumer(broker.address, broker.address)
            await publish(broker, [named_event(2)], "structured")
            await until(lambda: taken == ["2"])


@brokers("amqp", "mqtt", "nats")
async def test_what_comes_again_keeps_its_order(broker: BrokerAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nats_sources, "_ACK_WAIT", 2.0)
    taken: list[str] = []
    is_away = True

    async def take(event: CloudEvent) -> int:
        if event.id == "1" and is_away:
            raise NotNowError("away")
        if event.id not in taken:
            taken.append(event.id)
        return 1

    async with led_by_link(broker) as (link, led), consuming(led, take):
        await publish(broker, [named_event(number) for number in range(3)])
        await until(lambda: taken == ["0"])
        link.cut()
        is_away = False
        await publish(broker, [named_event(number) for number in range(3, 5)])
        await until(lambda: len(taken) == 5)
    assert taken == ["0", "1", "2", "3", "4"]


@pytest.mark.long
@pytest.mark.timeout(660)
@brokers("kafka")
async def test_a_group_shares_its_partitions_anew(broker: BrokerAddress, caplog: pytest.LogCaptureFixture) -> None:
    """Another member gets some, and leaves: all messages are taken, and the consumer stays connected meanwhile."""
    caplog.set_level(logging.INFO, "swf.events")
    taken: set[str] = set()

    async def take(event: CloudEvent) -> int:
        await asyncio.sleep(0.02)
        taken.add(event.id)
        return 1

    where = {"bootstrap.servers": broker.url.removeprefix("kafka://")}
    producer = Producer(where)
    for number in range(300):
        event = json.dumps(named_event(number).to_json())
        producer.produce(broker.address, event, key=str(number), headers={"content-type": STRUCTURED})
    producer.flush()
    member = Member({**where, "group.id": "group", "partition.assignment.strategy": "roundrobin"})
    async with consuming(settings_of(broker, name="shared", group="group", prefetch=20), take):
        await until(lambda: len(taken) > 50)
        member.subscribe([broker.address])
        async with asyncio.timeout(600):
            while not member.assignment():
                await asyncio.to_thread(member.poll, 0.1)
            await asyncio.to_thread(member.close)
            while len(taken) < 300:
                await asyncio.sleep(0.1)
    assert "reconnecting" not in caplog.text


@pytest.mark.parametrize("ends", ["connection", "consumer"])
async def test_what_came_over_a_websocket_outlives(ends: str) -> None:
    """The connection, which a server ends when it has sent all, and a consumer that is told to stop."""
    begun: list[str] = []
    taken: list[str] = []
    is_here = asyncio.Event()
    connections = 0

    async def take(event: CloudEvent) -> int:
        begun.append(event.id)
        await is_here.wait()
        taken.append(event.id)
        return 1

    async def serve(connection: ServerConnection) -> None:
        nonlocal connections
        connections += 1
        if connections == 1:  # it does not send again what it has sent
            for number in range(3):
                await connection.send(json.dumps(named_event(number).to_json()))
            await connection.send("no event")
        if connections > 1 or ends == "consumer":
            await connection.wait_closed()

    async with websocket_server(serve, HOST, 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        settings = ConsumerSettings(name="ws", url=f"ws://{HOST}:{port}", ordered=ends == "connection")
        async with consuming(settings, take, is_there=False):
            await until(lambda: len(begun) == (1 if ends == "connection" else 3))
            asyncio.get_running_loop().call_later(0.2, is_here.set)
            if ends == "connection":
                await until(lambda: connections == 2)
    assert taken == begun
    assert (sorted(taken) if ends == "consumer" else taken) == ["0", "1", "2"]
