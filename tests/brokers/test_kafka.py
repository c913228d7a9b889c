"""Kafka, against librdkafka's mock cluster, which speaks the protocol and is no Kafka; see the fixture."""

from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, errors

from swf_temporal.events.brokers.kafka import Kafka, mapping_faults
from swf_temporal.events.brokers.port import Credentials, Message
from tests.brokers.conftest import ChannelTo, echo, is_cancelled_cleanly, lost, payloads, taken
from tests.brokers.servers import HOST, Server
from tests.failing import failing, fault_of

KAFKA = Kafka()


@pytest.mark.parametrize(("binding", "headers", "key", "left"), [
    ({}, {"key": "a"}, None, {"key": "a"}),
    ({"key": {"type": "string"}}, {"key": "a", "x": "y"}, b"a", {"x": "y"}),
    ({"key": {"type": "string"}}, {"x": "y"}, None, {"x": "y"}),
    ({"key": {"type": "string", "const": "b"}}, {"key": "a"}, b"b", {"key": "a"}),
    ({"key": {"type": "string", "enum": ["c"]}}, {}, b"c", {}),
])  # fmt: skip
async def test_where_a_document_describes_a_key_it_is_a_constant_or_the_header_of_that_name(
    server: Server, channel: ChannelTo, topic: str, binding: Any, headers: Any, key: Any, left: Any
) -> None:
    """Other clients see it as the key, and we as the header again."""
    received = await echo(KAFKA, channel(message=binding), Message(b"x", headers=headers))
    async with AIOKafkaConsumer(bootstrap_servers=f"{HOST}:{server.port}", auto_offset_reset="earliest") as other:
        other.subscribe([topic])
        record = await other.getone()
    assert (record.key, {name: value.decode() for name, value in record.headers}) == (key, left)
    assert received.headers == left | ({"key": key.decode()} if key and binding else {})


async def test_a_binding_may_name_the_topic(channel: ChannelTo, topic: str) -> None:
    """The channel's address is a name within the document then."""
    async with KAFKA.receive(channel(topic)) as deliveries:
        await KAFKA.send(channel("orders placed", channel={"topic": topic}), Message(b"x"))
        assert (await anext(deliveries)).message.payload == b"x"


async def test_without_a_group_messages_come_from_now_on(channel: ChannelTo) -> None:
    await KAFKA.send(channel(), Message(b"before"))
    assert (await echo(KAFKA, channel(), Message(b"now"))).payload == b"now"


@pytest.mark.long
async def test_a_group_goes_on_after_what_it_has_accepted(channel: ChannelTo, topic: str) -> None:
    """It begins with its first attempt, even if that gets nothing: what comes between two attempts is not lost."""
    group = {"groupId": {"type": "string", "enum": [topic]}}
    here = channel(operation=group, message={"key": {"const": "a"}}, timeout=30)
    await KAFKA.send(here, Message(b"before"))
    await lost(KAFKA, here)
    await KAFKA.send(here, Message(b"meanwhile"))
    await KAFKA.send(here, Message(b"not accepted"))
    async with KAFKA.receive(here) as deliveries:
        came = [await taken(deliveries), (await anext(deliveries)).message.payload]
    assert came == [b"meanwhile", b"not accepted"]
    assert await payloads(KAFKA, here) == [b"not accepted"]


@pytest.mark.parametrize(
    "credentials",
    [
        Credentials(username="ada", password="lovelace", mechanism="SCRAM-SHA-256"),  # noqa: S106 - of the test's own broker
        Credentials(token="byron"),  # noqa: S106 - as above
    ],
)
async def test_a_way_to_prove_oneself_that_the_broker_does_not_offer(
    channel: ChannelTo, credentials: Credentials
) -> None:
    doing = KAFKA.send(channel(secure=True, credentials=credentials), Message(b"x"))
    fault = await fault_of(doing, "AuthFailed", retryable=False)
    assert "byron" not in fault.message


@pytest.mark.parametrize(("error", "code"), [
    (errors.UnknownTopicOrPartitionError(), "UnknownChannel"),
    (errors.TopicAuthorizationFailedError("orders"), "AuthFailed"),
    (errors.GroupAuthorizationFailedError("orders"), "AuthFailed"),
    (errors.MessageSizeTooLargeError(), "MessageTooLarge"),
    (errors.RequestTimedOutError(), "Timeout"),
    (errors.NotEnoughReplicasError(), "BrokerError"),
])  # fmt: skip
def test_what_the_mock_cluster_never_answers(channel: ChannelTo, error: Exception, code: str) -> None:
    """A real one does."""
    with failing(code), mapping_faults(channel()):
        raise error


async def test_a_receiver_of_a_group_that_is_cancelled_leaves_nothing(channel: ChannelTo, topic: str) -> None:
    assert await is_cancelled_cleanly(KAFKA, channel(operation={"groupId": topic}))


async def test_messages_of_other_clients_are_understood(server: Server, channel: ChannelTo, topic: str) -> None:
    async with (
        AIOKafkaProducer(bootstrap_servers=f"{HOST}:{server.port}") as other,
        KAFKA.receive(channel()) as deliveries,
    ):
        await other.send_and_wait(topic, None, key=b"k")
        assert (await anext(deliveries)).message == Message(b"")
