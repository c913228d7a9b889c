"""Subscriptions that are consumed in portions: what a broker keeps between them, and between two attempts at one."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import aio_pika
import aiomqtt
import nats
import pytest
from aiokafka import AIOKafkaProducer

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.events.brokers.amqp import Amqp
from swf_temporal.events.brokers.port import Bindings, Channel
from swf_temporal.functions.asyncapi.exchanges import short_id
from swf_temporal.functions.calling import Call, Functions
from tests.brokers.servers import HOST, Server, free_ports
from tests.failing import fault_of
from tests.functions.conftest import Calling

SERVERS = {"amqp": "rabbitmq", "kafka": "kafka_cluster", "mqtt": "mosquitto", "nats": "jetstream"}


class Subscriber:
    """A channel of a broker, and the calls of its subscriptions."""

    def __init__(self, functions: Functions, folder: Path, family: str, port: int) -> None:
        self._functions = functions
        self._folder = folder
        self.url = f"{HOST}:{port}"
        self.family = family
        self.address = f"orders-{uuid4().hex[:8]}"
        self.message: dict[str, Any] = {}
        self.version = "5"
        self.binding: dict[str, Any] = {"is": "routingKey", "exchange": {"name": self.address, "type": "direct"}}

    async def next(self, receipt: JSON = None, *, name: str = "orders", **arguments: Any) -> Any:
        channel = {"subscribe": {"message": self.message}, "bindings": {"amqp": self.binding}}
        server = {"url": self.url, "protocol": self.family, "protocolVersion": self.version}
        document = {"asyncapi": "2.6.0", "servers": {"here": server}, "channels": {self.address: channel}}
        (self._folder / "api.json").write_text(json.dumps(document))
        operation = {"document": "api.json", "channel": self.address, "action": "receive"}
        given: JSON = {"subscription": f"{self.address}/{name}", "receipt": receipt, **arguments}
        call = Call(Function("consume", "asyncapi", operation), given, base=str(self._folder))
        return await self._functions.call(call)

    async def payloads(self, receipt: JSON = None, **arguments: Any) -> tuple[list[Any], JSON]:
        result = await self.next(receipt, **arguments)
        return [message["payload"] for message in result["messages"]], result["receipt"]

    async def send(self, *payloads: Any) -> None:
        async with _CONNECTED[self.family](self.url, self) as publish:
            for payload in payloads:
                await publish(json.dumps(payload).encode())


@asynccontextmanager
async def _amqp(url: str, to: Subscriber) -> AsyncIterator[Callable[[bytes], Any]]:
    async with await aio_pika.connect(f"amqp://guest:guest@{url}/") as connection:
        channel = await connection.channel()
        exchange = channel.default_exchange
        if to.binding["is"] == "routingKey":
            exchange = await channel.declare_exchange(to.address, durable=True)
        yield lambda content: exchange.publish(
            aio_pika.Message(content, content_type="application/json"), to.address, mandatory=False
        )


@asynccontextmanager
async def _kafka(url: str, to: Subscriber) -> AsyncIterator[Callable[[bytes], Any]]:
    async with AIOKafkaProducer(bootstrap_servers=url) as producer:
        yield lambda content: producer.send_and_wait(to.address, content, key=b"k")


@asynccontextmanager
async def _mqtt(url: str, to: Subscriber) -> AsyncIterator[Callable[[bytes], Any]]:
    host, _, port = url.partition(":")
    async with aiomqtt.Client(host, int(port)) as client:
        yield lambda content: client.publish(to.address, content, qos=1)


@asynccontextmanager
async def _nats(url: str, to: Subscriber) -> AsyncIterator[Callable[[bytes], Any]]:
    async with await nats.connect(f"nats://{url}") as connection:
        yield lambda content: connection.jetstream().publish(to.address, content)


_CONNECTED: Any = {"amqp": _amqp, "kafka": _kafka, "mqtt": _mqtt, "nats": _nats}


@pytest.fixture(params=list(SERVERS))
async def orders(request: pytest.FixtureRequest, calling: Calling, tmp_path: Path) -> Subscriber:
    """Return a channel that its broker keeps messages of."""
    server: Server = request.getfixturevalue(SERVERS[request.param])
    found = Subscriber(calling(), tmp_path, request.param, server.port)
    if found.family == "nats":
        async with await nats.connect(f"nats://{HOST}:{server.port}") as connection:
            await connection.jetstream().add_stream(name=found.address, subjects=[found.address])
    if found.family == "amqp":
        await found.send()  # which declares the exchange
    return found


NOW: Any = {"for": 0}
SOON: Any = {"for": 1}


async def consumed(orders: Subscriber, number: int, receipt: JSON = None, **arguments: Any) -> tuple[list[Any], JSON]:
    """Return the payloads of *number* messages, and the receipt of the last of them; each portion has at least one."""
    found: list[Any] = []
    while len(found) < number:
        payloads, receipt = await orders.payloads(receipt, amount=number - len(found), **arguments)
        assert payloads
        found += payloads
    return found, receipt


async def test_each_message_is_returned_once(orders: Subscriber) -> None:
    """Those that come between two calls, too, and equal ones; what came before the first call does not count."""
    await orders.send("before")
    assert await orders.payloads(**NOW) == ([], None)
    await orders.send(1, 2, 2, 3)
    first, receipt = await consumed(orders, 3)
    await orders.send(4)
    second, receipt = await consumed(orders, 2, receipt)
    assert (first, second) == ([1, 2, 2], [3, 4])
    assert await orders.payloads(receipt, **SOON) == ([], receipt)


async def test_a_repeated_call_returns_what_the_first_attempt_had(orders: Subscriber) -> None:
    """In the same order, and before what came meanwhile: the first attempt may have been lost with its result."""
    await orders.payloads(**NOW)
    await orders.send(1, 2)
    before, receipt = await consumed(orders, 1)
    lost, _ = await consumed(orders, 1, receipt)
    await orders.send(3)
    assert (before, lost) == ([1], [2])
    again, receipt = await consumed(orders, 2, receipt)
    assert again == [2, 3]
    assert await orders.payloads(receipt, **SOON) == ([], receipt)


async def test_a_call_that_is_cancelled_loses_nothing(orders: Subscriber) -> None:
    await orders.payloads(**NOW)
    waiting = asyncio.create_task(orders.next())
    await asyncio.wait([waiting], timeout=0.5)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await orders.send(1)
    assert (await consumed(orders, 1))[0] == [1]


async def test_a_call_waits_for_the_first_message(orders: Subscriber) -> None:
    await orders.payloads(**NOW)
    waiting = asyncio.create_task(orders.payloads(**{"for": 60}))
    await orders.send(1)
    assert (await waiting)[0] == [1]


async def test_of_an_ended_subscription_nothing_is_kept(orders: Subscriber) -> None:
    """It can be ended again. Only Kafka keeps its position, until the cluster forgets it."""
    await orders.payloads(**NOW)
    for _ in range(2):
        assert await orders.next(end=True) == {"messages": [], "receipt": None}
    await orders.send(1)
    assert (await orders.payloads(**SOON))[0] == ([1] if orders.family == "kafka" else [])


async def test_two_subscriptions_get_the_same_messages(orders: Subscriber) -> None:
    for name in ("a", "b"):
        await orders.payloads(name=name, **NOW)
    await orders.send(1)
    assert [(await consumed(orders, 1, name=name))[0] for name in ("a", "b")] == [[1], [1]]


async def test_an_invalid_message_does_not_take_others_with_it(orders: Subscriber) -> None:
    orders.message = {"payload": {"type": "integer"}}
    await orders.payloads(**NOW)
    await orders.send(1, "x")
    found, receipt = await orders.payloads(**{"for": 60})
    assert found == [1]
    await fault_of(orders.next(receipt), "SchemaMismatch", retryable=False)


def only(family: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("orders", [family], indirect=True)


@only("amqp")
async def test_a_queue_that_others_consume_from_keeps_what_is_not_returned(orders: Subscriber) -> None:
    """What is returned is accepted at once: on its way back to the queue others would take it."""
    orders.binding = {"is": "queue", "queue": {"durable": True}}
    await orders.payloads(**NOW)
    await orders.send(1, 2)
    assert await orders.payloads(amount=1) == ([1], None)
    assert await orders.next(end=True) == {"messages": [], "receipt": None}
    assert await orders.payloads(name="another", amount=1) == ([2], None)


@only("amqp")
async def test_a_lost_attempt_that_is_still_connected_is_waited_for(orders: Subscriber) -> None:
    """Otherwise newer messages would come before those that it gives back."""
    await orders.payloads(**NOW)
    await orders.send(1)
    name = short_id(f"{orders.address}/orders")
    bindings = Bindings(channel=orders.binding)
    port = int(orders.url.rpartition(":")[2])
    channel = Channel("amqp", HOST, port, "", orders.address, name, 10.0, bindings=bindings)
    async with Amqp().resume(channel, ()) as deliveries:
        await anext(deliveries)
        again = asyncio.create_task(consumed(orders, 2, **{"for": 60}))
        await orders.send(2)
        assert not (await asyncio.wait([again], timeout=0.5))[0]
    assert (await again)[0] == [1, 2]


async def test_where_nobody_answers(orders: Subscriber) -> None:
    orders.url = f"{HOST}:{free_ports(1)[0]}"
    await fault_of(orders.next(), "ConnectionRefused", retryable=True)
    if orders.family != "kafka":
        await fault_of(orders.next(end=True), "ConnectionRefused", retryable=True)


@only("mqtt")
@pytest.mark.parametrize("version", ["3.1.1", "5"])
async def test_a_retained_message_is_returned_once(orders: Subscriber, version: str) -> None:
    orders.version = version
    async with aiomqtt.Client(HOST, int(orders.url.rpartition(":")[2])) as client:
        await client.publish(orders.address, b"0", qos=1, retain=True)
    first, receipt = await consumed(orders, 1)
    await orders.send(1)
    second, receipt = await consumed(orders, 1, receipt)
    assert (first, second) == ([0], [1])
    assert await orders.payloads(receipt, **SOON) == ([], receipt)


@only("nats")
async def test_without_a_stream_messages_only_come_while_a_call_waits(orders: Subscriber, nats_server: Server) -> None:
    """So it waits for all that it may return, or until its time is over."""
    orders.url = f"{HOST}:{nats_server.port}"
    assert await orders.next(end=True) == {"messages": [], "receipt": None}
    for arguments in ({"amount": 2}, {"for": 1}):
        waiting = asyncio.create_task(orders.payloads(**arguments))
        async with await nats.connect(f"nats://{orders.url}") as connection:
            while not waiting.done():
                await connection.publish(orders.address, b"1")
                await asyncio.sleep(0.05)
        found, receipt = await waiting
        assert len(found) >= 2
        assert receipt is None
