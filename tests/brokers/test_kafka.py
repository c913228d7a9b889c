"""Kafka, against librdkafka's mock cluster, which speaks the protocol and is no Kafka; see the fixture."""

import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, errors

from swf_temporal.base.errors import CallFailed
from swf_temporal.events.brokers.kafka import Kafka, mapping_faults
from swf_temporal.events.brokers.port import Credentials, Message
from tests.brokers.conftest import ChannelTo, FaultOf, answer_to, echo, is_cancelled_cleanly, lost, next_payload
from tests.brokers.kafka_front import Front
from tests.brokers.servers import HOST, Server

ADA = Credentials(username="ada", password="lovelace")  # noqa: S106 - of the test's own broker


@pytest.fixture
def kafka() -> Kafka:
    return Kafka()


@pytest.fixture
async def front(kafka_cluster: Server, authority: trustme.CA) -> AsyncIterator[Front]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(HOST).configure_cert(context)
    async with Front(kafka_cluster.port, "ada", "lovelace").opened(context) as front:
        yield front


async def test_a_message_arrives_with_its_headers(kafka: Kafka, kafka_cluster: Server, channel: ChannelTo) -> None:
    sent = Message(b"\x00one", "text/plain", {"Idempotency-Key": "k", "x": "ü"})
    async with kafka.receive(channel(kafka_cluster.port)) as deliveries:
        await kafka.send(channel(kafka_cluster.port), sent)
        delivery = await anext(deliveries)
        await delivery.accept()
    headers = {"Idempotency-Key": "k", "x": "ü", "content-type": "text/plain"}
    assert delivery.message == Message(b"\x00one", "text/plain", headers)


@pytest.mark.parametrize(
    "case",
    [
        ({}, {"key": "a"}, None, {"key": "a"}),
        ({"key": {"type": "string"}}, {"key": "a", "x": "y"}, b"a", {"x": "y"}),
        ({"key": {"type": "string"}}, {"x": "y"}, None, {"x": "y"}),
        ({"key": {"type": "string", "const": "b"}}, {"key": "a"}, b"b", {"key": "a"}),
        ({"key": {"type": "string", "enum": ["c"]}}, {}, b"c", {}),
    ],
)
async def test_where_a_document_describes_a_key_it_is_a_constant_or_the_header_of_that_name(
    kafka: Kafka, kafka_cluster: Server, channel: ChannelTo, topic: str, case: tuple[Any, Any, Any, Any]
) -> None:
    """Other clients see it as the key, and we as the header again."""
    binding, headers, key, left = case
    here = channel(kafka_cluster.port, message=binding)
    other = AIOKafkaConsumer(bootstrap_servers=f"{HOST}:{kafka_cluster.port}", auto_offset_reset="earliest")

    async with kafka.receive(here) as deliveries:
        await kafka.send(here, Message(b"x", headers=headers))
        received = (await anext(deliveries)).message
    async with other:
        other.subscribe([topic])
        record = await other.getone()

    assert (record.key, {name: value.decode() for name, value in record.headers}) == (key, left)
    assert received.headers == left | ({"key": key.decode()} if key and binding else {})


async def test_a_binding_may_name_the_topic(
    kafka: Kafka, kafka_cluster: Server, channel: ChannelTo, topic: str
) -> None:
    """The channel's address is a name within the document then."""
    here = channel(kafka_cluster.port, "orders placed", channel={"topic": topic})
    async with kafka.receive(channel(kafka_cluster.port, topic)) as deliveries:
        await kafka.send(here, Message(b"x"))
        assert (await anext(deliveries)).message.payload == b"x"


async def test_without_a_group_messages_come_from_now_on(
    kafka: Kafka, kafka_cluster: Server, channel: ChannelTo
) -> None:
    """Those sent before are for others."""
    here = channel(kafka_cluster.port)
    await kafka.send(here, Message(b"before"))
    async with kafka.receive(here) as deliveries:
        await kafka.send(here, Message(b"now"))
        assert (await anext(deliveries)).message.payload == b"now"


@pytest.mark.long
async def test_a_group_goes_on_after_what_it_has_accepted(
    kafka: Kafka, kafka_cluster: Server, channel: ChannelTo, topic: str
) -> None:
    """It begins with its first attempt, even if that gets nothing: what comes between two attempts is not lost."""
    group = {"groupId": {"type": "string", "enum": [topic]}}
    here = channel(kafka_cluster.port, operation=group, message={"key": {"const": "a"}}, timeout=30)
    await kafka.send(here, Message(b"before"))
    await lost(kafka, here)
    await kafka.send(here, Message(b"meanwhile"))
    await kafka.send(here, Message(b"not accepted"))

    async with kafka.receive(here) as deliveries:
        first = await anext(deliveries)
        await first.accept()
        second = await anext(deliveries)

    assert (first.message.payload, second.message.payload) == (b"meanwhile", b"not accepted")
    assert await next_payload(kafka, here) == b"not accepted"


async def test_a_function_asks_and_is_answered(
    kafka: Kafka, kafka_cluster: Server, channel: ChannelTo, tmp_path: Path
) -> None:
    assert await answer_to(kafka, channel(kafka_cluster.port), tmp_path) == {"number": 7}


async def test_with_tls_and_a_password(
    kafka: Kafka, front: Front, channel: ChannelTo, trusting: ssl.SSLContext
) -> None:
    here = channel(front.port, credentials=ADA, tls=trusting)
    async with kafka.receive(here) as deliveries:
        await kafka.send(here, Message(b"secret"))
        assert (await anext(deliveries)).message.payload == b"secret"


@pytest.mark.parametrize(
    "credentials",
    [
        Credentials(username="ada", password="byron"),  # noqa: S106 - of the test's own broker
        Credentials(username="ada", password="lovelace", mechanism="SCRAM-SHA-256"),  # noqa: S106 - as above
        Credentials(token="byron"),  # noqa: S106 - as above
    ],
)
async def test_wrong_credentials_are_told(
    kafka: Kafka,
    front: Front,
    channel: ChannelTo,
    trusting: ssl.SSLContext,
    fault_of: FaultOf,
    credentials: Credentials,
) -> None:
    fault = await fault_of(kafka.send(channel(front.port, credentials=credentials, tls=trusting), Message(b"x")))
    assert (fault.code, fault.retryable) == ("AuthFailed", False)
    assert fault.message.startswith(f"kafka://127.0.0.1:{front.port} orders-")
    assert "byron" not in fault.message


async def test_a_server_that_nobody_vouches_for_is_told(
    kafka: Kafka, front: Front, channel: ChannelTo, fault_of: FaultOf
) -> None:
    here = channel(front.port, credentials=ADA, tls=ssl.create_default_context())
    assert (await fault_of(next_payload(kafka, here))).code == "TlsFailed"


async def test_a_message_that_is_too_large_is_told(
    kafka: Kafka, kafka_cluster: Server, channel: ChannelTo, fault_of: FaultOf
) -> None:
    fault = await fault_of(kafka.send(channel(kafka_cluster.port, max_bytes=1000), Message(b"x" * 2000)))
    assert (fault.code, fault.retryable) == ("MessageTooLarge", False)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UnknownTopicOrPartitionError(), "UnknownChannel"),
        (errors.TopicAuthorizationFailedError("orders"), "AuthFailed"),
        (errors.GroupAuthorizationFailedError("orders"), "AuthFailed"),
        (errors.MessageSizeTooLargeError(), "MessageTooLarge"),
        (errors.RequestTimedOutError(), "Timeout"),
        (errors.NotEnoughReplicasError(), "BrokerError"),
    ],
)
def test_what_the_mock_cluster_never_answers(channel: ChannelTo, error: Exception, code: str) -> None:
    """A real one does."""
    with pytest.raises(CallFailed) as caught, mapping_faults(channel(9092)):
        raise error
    assert caught.value.code == code


async def test_of_several_addresses_one_that_answers_is_taken(
    kafka: Kafka, kafka_cluster: Server, channel: ChannelTo
) -> None:
    here = channel(kafka_cluster.port, host="broker.invalid", addresses=("127.0.0.9", HOST))
    assert await echo(kafka, here) == b"x"


@pytest.mark.parametrize("names_group", [False, True])
async def test_a_receiver_that_is_cancelled_leaves_nothing(
    kafka: Kafka, kafka_cluster: Server, channel: ChannelTo, topic: str, *, names_group: bool
) -> None:
    operation = {"groupId": topic} if names_group else {}
    assert await is_cancelled_cleanly(kafka, channel(kafka_cluster.port, operation=operation))


async def test_messages_of_other_clients_are_understood(
    kafka: Kafka, kafka_cluster: Server, channel: ChannelTo, topic: str
) -> None:
    async with (
        AIOKafkaProducer(bootstrap_servers=f"{HOST}:{kafka_cluster.port}") as other,
        kafka.receive(channel(kafka_cluster.port)) as deliveries,
    ):
        await other.send_and_wait(topic, None, key=b"k")
        assert (await anext(deliveries)).message == Message(b"")
