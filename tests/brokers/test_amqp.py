"""AMQP, against RabbitMQ: what it has for itself."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import aio_pika
import pytest
from pamqp.common import FieldValue

from swf_temporal.events.brokers.amqp import Amqp, connected
from swf_temporal.events.brokers.port import Message
from swf_temporal.functions.asyncapi.messages import Given, write_message
from swf_temporal.functions.asyncapi.parts import AsyncApiOperation, ChannelPlace
from swf_temporal.functions.documents.parts import Document
from tests.brokers.conftest import ADA, ChannelTo, echo, lost, payloads, taken
from tests.brokers.servers import HOST, Link, Server
from tests.failing import fault_of

AMQP = Amqp()
X = Message(b"x")


@pytest.fixture
async def other(server: Server) -> AsyncIterator[Any]:
    async with await aio_pika.connect(f"amqp://guest:guest@{HOST}:{server.port}/") as connection:
        yield await connection.channel()


@pytest.fixture
async def queue(other: Any, topic: str) -> Any:
    return await other.declare_queue(topic)


async def test_the_bindings_say_how_a_message_is_sent(channel: ChannelTo, queue: Any, other: Any) -> None:
    copied = await other.declare_queue(f"{queue.name}-copy")
    operation = {
        "expiration": 60000, "userId": "guest", "cc": [copied.name], "bcc": [], "priority": 7, "deliveryMode": 1,
        "replyTo": "answers", "timestamp": True,
    }  # fmt: skip
    binding = {"contentEncoding": "gzip", "messageType": "order"}
    await AMQP.send(channel(operation=operation, message=binding), X)
    received, copy = await queue.get(no_ack=True), await copied.get(no_ack=True)
    assert (received.expiration, received.user_id, received.priority, received.delivery_mode) == (60, "guest", 7, 1)
    assert (received.reply_to, received.content_encoding, received.type) == ("answers", "gzip", "order")
    assert received.timestamp is not None
    assert gzip.decompress(received.body) == gzip.decompress(copy.body) == b"x"


@pytest.mark.parametrize(
    ("sent", "encoding", "expected"),
    [(b"x" * 100, "gzip", b"x" * 100), (gzip.compress(b"by the call"), "gzip", b"by the call"), (b"x", "utf-8", b"x")],
    ids=["plain", "compressed by the call", "of another encoding"],
)
async def test_a_message_is_encoded_as_it_says(
    channel: ChannelTo, queue: Any, sent: bytes, encoding: str, expected: bytes
) -> None:
    here = channel(queue.name, message={"contentEncoding": encoding})
    assert (await echo(AMQP, here, Message(sent))).payload == expected


async def test_what_is_not_compressed_as_it_says(channel: ChannelTo, queue: Any, other: Any) -> None:
    """It is taken as it is; and of what would be very large, no more is read than shows that."""
    for body in (b"plain", gzip.compress(bytes(1_000_000))):
        await other.default_exchange.publish(aio_pika.Message(body, content_encoding="gzip"), queue.name)
    assert await payloads(AMQP, replace(channel(), max_bytes=10), 2) == [b"plain", bytes(11)]


async def test_headers_keep_their_types(channel: ChannelTo, queue: Any) -> None:
    """Plugins of a broker, and exchanges that compare headers, tell the number 5000 from the text."""
    headers: dict[str, Any] = {"x-delay": 5000, "share": 0.5, "urgent": True, "name": "7", "huge": 2**63}
    operation = AsyncApiOperation("send", Document("d", "d", {}), sends=True, place=ChannelPlace(queue.name))
    _, message = write_message(operation, Given(headers=headers, payload="x", has_payload=True))
    await AMQP.send(channel(), message)
    received = await queue.get(no_ack=True)
    assert received.headers == {**headers, "huge": str(2**63)}
    assert received.delivery_mode == 2, "messages outlive the broker unless a binding says otherwise"


async def test_headers_of_other_types_are_texts(channel: ChannelTo, queue: Any, other: Any) -> None:
    headers: dict[str, FieldValue] = {"number": 1, "bytes": bytearray(b"b"), "object": {"a": True}}
    await other.default_exchange.publish(aio_pika.Message(b"x", headers=headers), queue.name)
    async with AMQP.receive(channel()) as deliveries:
        delivery = await anext(deliveries)
    assert delivery.message.headers == {"number": "1", "bytes": "b", "object": '{"a": true}'}


async def test_a_queue_that_is_described_is_declared(channel: ChannelTo, topic: str, other: Any) -> None:
    here = channel("work", channel={"is": "queue", "queue": {"name": topic, "autoDelete": True}})
    await AMQP.send(here, X)
    assert (await other.declare_queue(topic, passive=True)).declaration_result.message_count == 1
    assert await payloads(AMQP, here) == [b"x"]


async def test_what_is_there_is_used_as_it_is(channel: ChannelTo, queue: Any) -> None:
    """A broker refuses to declare a queue again that is not the same; nobody asks it to."""
    here = channel(channel={"is": "queue", "queue": {"name": queue.name, "durable": True}})
    await AMQP.send(here, X)
    assert await payloads(AMQP, here) == [b"x"]


async def test_an_exchange_leads_to_those_who_listen(channel: ChannelTo, topic: str) -> None:
    """The address is the routing key; each call has a queue of its own."""
    binding = {"is": "routingKey", "exchange": {"name": topic, "type": "topic", "autoDelete": True}}
    all_of_them = channel("lamps.#", channel=binding)
    one = channel("lamps.7", channel=binding, client_id="another-call")
    async with AMQP.receive(all_of_them) as first, AMQP.receive(one) as second:
        await AMQP.send(one, Message(b"on"))
        arrived = [(await anext(deliveries)).message.payload for deliveries in (first, second)]
    assert arrived == [b"on", b"on"]


async def test_a_named_queue_is_bound_to_the_exchange(channel: ChannelTo, topic: str) -> None:
    """Calls that name the same queue share its messages."""
    exchange = {"name": topic, "type": "direct", "autoDelete": True}
    queue = {"name": f"{topic}-queue", "durable": True}
    here = channel("lamps", channel={"is": "routingKey", "exchange": exchange, "queue": queue})
    await echo(AMQP, here)
    await AMQP.send(here, Message(b"kept"))
    assert await payloads(AMQP, here) == [b"kept"]


async def test_a_virtual_host_is_the_server_s_path(channel: ChannelTo) -> None:
    """Or it stands in the binding; the slash means that nothing is said."""
    by_path, by_binding = (
        channel(**facts, channel={"is": "queue", "queue": {"durable": True, "vhost": host}})
        for facts, host in (({"path": "/other"}, "/"), ({}, "other"))
    )
    await AMQP.send(by_path, X)
    assert await payloads(AMQP, by_binding) == [b"x"]


async def test_what_is_not_accepted_goes_back(channel: ChannelTo, queue: Any) -> None:
    await lost(AMQP, channel(queue.name), b"1", b"2", b"3")
    async with AMQP.receive(channel()) as deliveries:
        assert [(await anext(deliveries)).message.payload for _ in range(3)] == [b"1", b"2", b"3"]


async def test_no_more_is_taken_than_was_asked_for(channel: ChannelTo, queue: Any) -> None:
    """The others are for whoever else consumes from the queue."""
    for payload in (b"1", b"2", b"3"):
        await AMQP.send(channel(), Message(payload))
    async with AMQP.receive(channel()) as deliveries:
        await taken(deliveries)
        others = [(await queue.get(no_ack=True)).body for _ in range(2)]
    assert others == [b"2", b"3"]


async def test_a_repeated_attempt_gets_what_came_meanwhile(channel: ChannelTo, topic: str) -> None:
    here = channel("key", channel={"exchange": {"name": topic, "type": "direct"}})
    await lost(AMQP, here, b"not accepted")
    await AMQP.send(here, Message(b"meanwhile"))
    assert await payloads(AMQP, here, 2) == [b"not accepted", b"meanwhile"]


async def test_a_call_that_has_ended_leaves_no_queue(channel: ChannelTo, topic: str) -> None:
    here = channel("key", channel={"exchange": {"name": topic, "type": "direct"}})
    await echo(AMQP, here)
    await fault_of(AMQP.send(here, Message(b"for nobody")), "UnknownChannel", retryable=True)


NOBODYS: dict[str, Any] = {"is": "routingKey", "exchange": {"name": "nobodys"}}


@pytest.mark.parametrize(("facts", "code", "told"), [
    ({}, "UnknownChannel", ""),
    ({"channel": NOBODYS}, "UnknownChannel", ""),  # a document that only names an exchange does not make it
    ({"credentials": ADA, "path": "/other"}, "AuthFailed", ""),
    ({"credentials": ADA, "path": "/nowhere"}, "AuthFailed", ""),
    ({"operation": {"priority": "high"}}, "BadDocument", "'priority' is 'high'; it must be a whole number"),
])  # fmt: skip
async def test_where_nothing_can_be_sent(channel: ChannelTo, facts: dict[str, Any], code: str, told: str) -> None:
    await fault_of(AMQP.send(channel(**facts), X), code, told)


async def test_a_queue_that_is_not_there(channel: ChannelTo) -> None:
    """A binding may say that a message for nobody is no error."""
    await AMQP.send(channel(operation={"mandatory": False}), X)
    await fault_of(payloads(AMQP, channel()), "UnknownChannel")


async def test_a_farewell_that_is_cancelled_leaves_no_connection(channel: ChannelTo, link: Link) -> None:
    """Where the broker does not answer it; such a connection would close itself when no loop is running any more."""
    opened: list[Any] = []

    async def leave() -> None:
        async with connected(channel(port=link.port)) as connection:
            opened.append(connection)
            link.answers.clear()

    leaving = asyncio.create_task(leave())
    async with asyncio.timeout(10):
        while not (opened and opened[0].close_called):
            await asyncio.sleep(0)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
    link.answers.set()
    assert opened[0].is_closed
