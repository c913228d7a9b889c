"""AMQP, against RabbitMQ."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aio_pika
import pytest
from pamqp.common import FieldValue

from swf_temporal.events.brokers.amqp import Amqp, connected
from swf_temporal.events.brokers.port import Credentials, Message
from swf_temporal.functions.asyncapi.messages import Given, write_message
from swf_temporal.functions.asyncapi.parts import AsyncApiOperation, ChannelPlace
from swf_temporal.functions.documents.parts import Document
from tests.brokers.conftest import (
    ChannelTo,
    FaultOf,
    LinkTo,
    answer_to,
    cut_while_receiving,
    echo,
    is_cancelled_cleanly,
    lost,
    next_payload,
)
from tests.brokers.servers import HOST, Server

ADA = Credentials(username="ada", password="lovelace")  # noqa: S106 - of the test's own broker
DESCRIBED = {"is": "queue", "queue": {"durable": True}}


@pytest.fixture
def amqp() -> Amqp:
    return Amqp()


@pytest.fixture
async def other(rabbitmq: Server) -> AsyncIterator[Any]:
    async with await aio_pika.connect(f"amqp://guest:guest@{HOST}:{rabbitmq.port}/") as connection:
        yield await connection.channel()


@pytest.fixture
async def queue(other: Any, topic: str) -> Any:
    return await other.declare_queue(topic)


async def test_a_message_arrives_with_all_that_is_said_of_it(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, queue: Any
) -> None:
    sent = Message(b"\x00one", "text/plain", {"Idempotency-Key": "k", "x": "ü"}, "c-1", "answers")
    async with amqp.receive(channel(rabbitmq.port)) as deliveries:
        await amqp.send(channel(rabbitmq.port, queue.name), sent)
        delivery = await anext(deliveries)
    assert delivery.message == sent


async def test_the_bindings_say_how_a_message_is_sent(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, queue: Any, other: Any
) -> None:
    copied = await other.declare_queue(f"{queue.name}-copy")
    operation = {
        "expiration": 60000, "userId": "guest", "cc": [copied.name], "bcc": [], "priority": 7, "deliveryMode": 1,
        "replyTo": "answers", "timestamp": True,
    }  # fmt: skip
    binding = {"contentEncoding": "gzip", "messageType": "order"}

    await amqp.send(channel(rabbitmq.port, operation=operation, message=binding), Message(b"x"))
    received, copy = await queue.get(no_ack=True), await copied.get(no_ack=True)

    assert (received.expiration, received.user_id, received.priority, received.delivery_mode) == (60, "guest", 7, 1)
    assert (received.reply_to, received.content_encoding, received.type) == ("answers", "gzip", "order")
    assert received.timestamp is not None
    assert gzip.decompress(received.body) == gzip.decompress(copy.body) == b"x"


async def test_messages_outlive_the_broker_unless_a_binding_says_otherwise(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, queue: Any
) -> None:
    """The delivery mode is persistent."""
    await amqp.send(channel(rabbitmq.port), Message(b"x"))
    assert (await queue.get(no_ack=True)).delivery_mode == 2


@pytest.mark.parametrize(
    ("sent", "encoding", "expected"),
    [(b"x" * 100, "gzip", b"x" * 100), (gzip.compress(b"by the call"), "gzip", b"by the call"), (b"x", "utf-8", b"x")],
    ids=["plain", "compressed by the call", "of another encoding"],
)
async def test_a_message_is_encoded_as_it_says(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, queue: Any, sent: bytes, encoding: str, expected: bytes
) -> None:
    """What says that it is compressed is, once, and is read so."""
    async with amqp.receive(channel(rabbitmq.port)) as deliveries:
        await amqp.send(channel(rabbitmq.port, queue.name, message={"contentEncoding": encoding}), Message(sent))
        delivery = await anext(deliveries)
    assert delivery.message.payload == expected


async def test_what_is_not_compressed_as_it_says(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, queue: Any, other: Any
) -> None:
    """It is taken as it is; and of what would be very large, no more is read than shows that."""
    large = replace(channel(rabbitmq.port), max_bytes=10)
    for body in (b"plain", gzip.compress(bytes(1_000_000))):
        await other.default_exchange.publish(aio_pika.Message(body, content_encoding="gzip"), queue.name)

    async with amqp.receive(large) as deliveries:
        payloads = []
        for _ in range(2):
            delivery = await anext(deliveries)
            await delivery.accept()
            payloads.append(delivery.message.payload)

    assert payloads == [b"plain", bytes(11)]


async def test_headers_keep_their_types(amqp: Amqp, rabbitmq: Server, channel: ChannelTo, queue: Any) -> None:
    """Plugins of a broker, and exchanges that compare headers, tell the number 5000 from the text."""
    headers: dict[str, Any] = {"x-delay": 5000, "share": 0.5, "urgent": True, "name": "7", "huge": 2**63}
    operation = AsyncApiOperation("send", Document("d", "d", {}), sends=True, place=ChannelPlace(queue.name))
    _, message = write_message(operation, Given(headers=headers, payload="x", has_payload=True))
    await amqp.send(channel(rabbitmq.port), message)
    assert (await queue.get(no_ack=True)).headers == {**headers, "huge": str(2**63)}


async def test_headers_of_other_types_are_texts(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, queue: Any, other: Any
) -> None:
    headers: dict[str, FieldValue] = {"number": 1, "bytes": bytearray(b"b"), "object": {"a": True}}
    await other.default_exchange.publish(aio_pika.Message(b"x", headers=headers), queue.name)
    async with amqp.receive(channel(rabbitmq.port)) as deliveries:
        delivery = await anext(deliveries)
    assert delivery.message.headers == {"number": "1", "bytes": "b", "object": '{"a": true}'}


async def test_a_queue_that_is_described_is_declared(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, topic: str, other: Any
) -> None:
    here = channel(rabbitmq.port, "work", channel={"is": "queue", "queue": {"name": topic, "autoDelete": True}})
    await amqp.send(here, Message(b"x"))
    assert (await other.declare_queue(topic, passive=True)).declaration_result.message_count == 1
    assert await next_payload(amqp, here) == b"x"


async def test_what_is_there_is_used_as_it_is(amqp: Amqp, rabbitmq: Server, channel: ChannelTo, queue: Any) -> None:
    """A broker refuses to declare a queue again that is not the same; nobody asks it to."""
    here = channel(rabbitmq.port, channel={"is": "queue", "queue": {"name": queue.name, "durable": True}})
    await amqp.send(here, Message(b"x"))
    assert await next_payload(amqp, here) == b"x"


async def test_an_exchange_leads_to_those_who_listen(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, topic: str
) -> None:
    """The address is the routing key; each call has a queue of its own."""
    binding = {"is": "routingKey", "exchange": {"name": topic, "type": "topic", "autoDelete": True}}
    all_of_them, one = (
        channel(rabbitmq.port, "lamps.#", channel=binding),
        channel(rabbitmq.port, "lamps.7", channel=binding, client_id="another-call"),
    )

    async with amqp.receive(all_of_them) as first, amqp.receive(one) as second:
        await amqp.send(one, Message(b"on"))
        arrived = [(await anext(deliveries)).message.payload for deliveries in (first, second)]

    assert arrived == [b"on", b"on"]


async def test_a_named_queue_is_bound_to_the_exchange(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, topic: str
) -> None:
    """Calls that name the same queue share its messages."""
    binding = {
        "is": "routingKey",
        "exchange": {"name": topic, "type": "direct", "autoDelete": True},
        "queue": {"name": f"{topic}-queue", "durable": True},
    }
    here = channel(rabbitmq.port, "lamps", channel=binding)

    async with amqp.receive(here) as deliveries:
        await amqp.send(here, Message(b"on"))
        await (await anext(deliveries)).accept()

    await amqp.send(here, Message(b"kept"))
    assert await next_payload(amqp, here) == b"kept"


async def test_a_virtual_host_is_the_server_s_path(amqp: Amqp, rabbitmq: Server, channel: ChannelTo) -> None:
    """Or it stands in the binding; the slash means that nothing is said."""
    by_path = channel(rabbitmq.port, path="/other", channel={"is": "queue", "queue": {"durable": True, "vhost": "/"}})
    by_binding = channel(rabbitmq.port, channel={"is": "queue", "queue": {"durable": True, "vhost": "other"}})
    await amqp.send(by_path, Message(b"x"))
    assert await next_payload(amqp, by_binding) == b"x"


async def test_what_is_not_accepted_goes_back(amqp: Amqp, rabbitmq: Server, channel: ChannelTo, queue: Any) -> None:
    await lost(amqp, channel(rabbitmq.port, queue.name), b"1", b"2", b"3")
    async with amqp.receive(channel(rabbitmq.port)) as deliveries:
        arrived = [(await anext(deliveries)).message.payload for _ in range(3)]
    assert arrived == [b"1", b"2", b"3"]


async def test_no_more_is_taken_than_was_asked_for(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, queue: Any
) -> None:
    """The others are for whoever else consumes from the queue."""
    for payload in (b"1", b"2", b"3"):
        await amqp.send(channel(rabbitmq.port), Message(payload))
    async with amqp.receive(channel(rabbitmq.port)) as deliveries:
        await (await anext(deliveries)).accept()
        others = [(await queue.get(no_ack=True)).body for _ in range(2)]
    assert others == [b"2", b"3"]


async def test_a_repeated_attempt_gets_what_came_meanwhile(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, topic: str
) -> None:
    """The queue is the call's, not the attempt's, and goes when the call has what it waited for."""
    here = channel(rabbitmq.port, "key", channel={"exchange": {"name": topic, "type": "direct"}})
    await lost(amqp, here, b"not accepted")
    await amqp.send(here, Message(b"meanwhile"))

    async with amqp.receive(here) as deliveries:
        arrived = []
        for _ in range(2):
            delivery = await anext(deliveries)
            await delivery.accept()
            arrived.append(delivery.message.payload)

    assert arrived == [b"not accepted", b"meanwhile"]


async def test_a_call_that_has_ended_leaves_no_queue(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, topic: str, fault_of: FaultOf
) -> None:
    here = channel(rabbitmq.port, "key", channel={"exchange": {"name": topic, "type": "direct"}})
    async with amqp.receive(here) as deliveries:
        await amqp.send(here, Message(b"x"))
        await (await anext(deliveries)).accept()
    fault = await fault_of(amqp.send(here, Message(b"for nobody")))
    assert (fault.code, fault.retryable) == ("UnknownChannel", True)


async def test_a_queue_that_is_not_there(amqp: Amqp, rabbitmq: Server, channel: ChannelTo, fault_of: FaultOf) -> None:
    here = channel(rabbitmq.port)
    sending, receiving = await fault_of(amqp.send(here, Message(b"x"))), await fault_of(next_payload(amqp, here))
    assert (sending.code, receiving.code) == ("UnknownChannel", "UnknownChannel")


async def test_an_exchange_that_is_not_there(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, fault_of: FaultOf, topic: str
) -> None:
    here = channel(rabbitmq.port, channel={"is": "routingKey", "exchange": {"name": topic}})
    assert (await fault_of(amqp.send(here, Message(b"x")))).code == "UnknownChannel"


async def test_a_message_may_be_sent_for_nobody(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, fault_of: FaultOf
) -> None:
    """The binding says that this is no error; without it, it is one."""
    await amqp.send(channel(rabbitmq.port, operation={"mandatory": False}), Message(b"x"))
    assert (await fault_of(amqp.send(channel(rabbitmq.port), Message(b"x")))).code == "UnknownChannel"


async def test_a_function_asks_and_is_answered(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, tmp_path: Path
) -> None:
    assert await answer_to(amqp, channel(rabbitmq.port, channel=DESCRIBED), tmp_path) == {"number": 7}


async def test_with_tls_and_a_password(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, trusting: ssl.SSLContext
) -> None:
    here = channel(rabbitmq.secure_port, "hers", channel=DESCRIBED, credentials=ADA, tls=trusting)
    await amqp.send(here, Message(b"secret"))
    assert await next_payload(amqp, here) == b"secret"


async def test_a_wrong_password_is_told(amqp: Amqp, rabbitmq: Server, channel: ChannelTo, fault_of: FaultOf) -> None:
    wrong = Credentials(username="ada", password="byron")  # noqa: S106 - of the test's own broker
    fault = await fault_of(amqp.send(channel(rabbitmq.port, "hers", credentials=wrong), Message(b"x")))
    assert (fault.code, fault.retryable) == ("AuthFailed", False)
    assert fault.message.startswith(f"amqp://127.0.0.1:{rabbitmq.port} hers: ")
    assert "byron" not in fault.message


async def test_a_token_is_a_password(amqp: Amqp, rabbitmq: Server, channel: ChannelTo) -> None:
    """A broker that takes tokens need not be told a name beside; this one takes passwords, so it is."""
    token = Credentials(username="ada", token="lovelace")  # noqa: S106 - of the test's own broker
    here = channel(rabbitmq.port, "hers", channel=DESCRIBED, credentials=token)
    assert await echo(amqp, here) == b"x"


@pytest.mark.parametrize("facts", [{"path": ""}, {"path": "/other"}, {"path": "/nowhere"}])
async def test_what_a_user_may_not_do_is_told(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, fault_of: FaultOf, facts: dict[str, str]
) -> None:
    here = channel(rabbitmq.port, "his", channel=DESCRIBED, credentials=ADA, **facts)
    assert (await fault_of(amqp.send(here, Message(b"x")))).code == "AuthFailed"


async def test_a_server_that_nobody_vouches_for_is_told(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, fault_of: FaultOf
) -> None:
    here = channel(rabbitmq.secure_port, tls=ssl.create_default_context())
    assert (await fault_of(amqp.send(here, Message(b"x")))).code == "TlsFailed"


async def test_a_message_that_is_too_large_is_told(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, queue: Any, fault_of: FaultOf
) -> None:
    fault = await fault_of(amqp.send(channel(rabbitmq.port, queue.name), Message(b"x" * 100_001)))
    assert (fault.code, fault.retryable) == ("MessageTooLarge", False)


@pytest.mark.parametrize(
    "message", [Message(b"x", correlation_id="c" * 256), Message(b"x", headers={"name": "\ud800"})]
)
async def test_what_cannot_be_sent_is_told(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, fault_of: FaultOf, message: Message
) -> None:
    """An id has 255 bytes at most. It is not tried again."""
    fault = await fault_of(amqp.send(channel(rabbitmq.port), message))
    assert (fault.code, fault.retryable) == ("BadArguments", False)


async def test_a_binding_that_cannot_be_is_told(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, fault_of: FaultOf
) -> None:
    """The document is wrong, so it is not tried again."""
    fault = await fault_of(amqp.send(channel(rabbitmq.port, operation={"priority": "high"}), Message(b"x")))
    assert (fault.code, fault.retryable) == ("BadDocument", False)
    assert "'priority' is 'high'; it must be a whole number" in fault.message


async def test_a_connection_that_breaks_is_told(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, queue: Any, link: LinkTo, fault_of: FaultOf
) -> None:
    """Whether to wait again is for the definition to say."""
    way = await link(rabbitmq.port)
    fault = await fault_of(cut_while_receiving(amqp, channel(way.port, queue.name), way))
    assert (fault.code, fault.retryable) == ("ConnectionLost", True)


async def test_of_several_addresses_one_that_answers_is_taken(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, queue: Any
) -> None:
    """The name is not looked up again: whether it may be connected to was asked of the addresses."""
    here = channel(rabbitmq.port, queue.name, host="broker.invalid", addresses=("127.0.0.9", HOST))
    assert await echo(amqp, here) == b"x"


async def test_a_receiver_that_is_cancelled_leaves_nothing(
    amqp: Amqp, rabbitmq: Server, channel: ChannelTo, queue: Any
) -> None:
    assert await is_cancelled_cleanly(amqp, channel(rabbitmq.port, queue.name))


async def test_a_farewell_that_is_cancelled_leaves_no_connection(
    rabbitmq: Server, channel: ChannelTo, link: LinkTo
) -> None:
    """Where the broker does not answer it; such a connection would close itself when no loop is running any more."""
    way = await link(rabbitmq.port)
    opened: list[Any] = []

    async def leave() -> None:
        async with connected(channel(way.port)) as connection:
            opened.append(connection)
            way.answers.clear()

    leaving = asyncio.create_task(leave())
    async with asyncio.timeout(10):
        while not (opened and opened[0].close_called):
            await asyncio.sleep(0)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
    way.answers.set()
    assert opened[0].is_closed
