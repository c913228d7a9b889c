"""MQTT, against Mosquitto: what it has for itself."""

import asyncio
from dataclasses import replace

import aiomqtt
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode

from swf_temporal.events.brokers.mqtt import Mqtt
from swf_temporal.events.brokers.mqtt_session import refused
from swf_temporal.events.brokers.port import Message
from tests.brokers.conftest import ChannelTo, Protocol, cut_while_receiving, echo, lost, payloads
from tests.brokers.servers import HOST, Link, Server
from tests.failing import fault_of

MQTT = Mqtt()


async def test_other_clients_understand_it(server: Server, channel: ChannelTo, topic: str) -> None:
    async with aiomqtt.Client(HOST, server.port, protocol=aiomqtt.ProtocolVersion.V5) as other:
        await other.subscribe(topic, qos=2)
        await MQTT.send(channel(operation={"qos": 2}), Message(b"{}", "application/json"))
        received = await anext(aiter(other.messages))
    assert (received.payload, received.qos) == (b"{}", 2)
    assert received.properties is not None
    assert vars(received.properties)["ContentType"] == "application/json"


async def test_the_message_binding_gives_what_the_message_lacks(channel: ChannelTo) -> None:
    here = channel(message={"contentType": "text/csv", "responseTopic": "answers"})
    assert await echo(MQTT, here, Message(b"1;2")) == Message(b"1;2", "text/csv", reply_to="answers")


@pytest.mark.parametrize("qos", [0, 1, 2])
async def test_version_3_carries_the_payload_alone(protocol: Protocol, channel: ChannelTo, qos: int) -> None:
    here = channel(version="3.1.1", operation={"qos": qos})
    assert await echo(MQTT, here, protocol.sent) == Message(protocol.sent.payload)


async def test_a_retained_message_meets_later_subscribers(channel: ChannelTo) -> None:
    await MQTT.send(channel(operation={"retain": True}), Message(b"the latest"))
    assert await payloads(MQTT, channel()) == [b"the latest"]


@pytest.mark.parametrize("version", ["3.1.1", "5"])
async def test_a_repeated_attempt_gets_what_was_not_accepted_and_what_came_meanwhile(
    channel: ChannelTo, version: str
) -> None:
    here = channel(version=version)
    await lost(MQTT, here, b"not accepted")
    await MQTT.send(here, Message(b"meanwhile"))
    assert await payloads(MQTT, here, 2) == [b"not accepted", b"meanwhile"]


async def test_a_call_that_has_ended_leaves_no_subscription(channel: ChannelTo) -> None:
    await echo(MQTT, channel(), Message(b"accepted"))
    await MQTT.send(channel(), Message(b"for nobody"))
    next_ = Message(b"for the next call")
    assert (await echo(MQTT, channel(), next_)).payload == next_.payload


async def test_what_was_accepted_does_not_come_again(channel: ChannelTo) -> None:
    await lost(MQTT, channel(), b"accepted", accepted=True)
    await MQTT.send(channel(), Message(b"the next"))
    assert await payloads(MQTT, channel()) == [b"the next"]


async def test_a_clean_session_forgets(channel: ChannelTo) -> None:
    """A document may ask for sessions that end with their connection."""
    here = channel(server={"cleanSession": True})
    await lost(MQTT, here)
    await MQTT.send(here, Message(b"meanwhile"))
    assert (await echo(MQTT, here, Message(b"now"))).payload == b"now"


async def test_any_number_of_messages_may_be_passed_over(channel: ChannelTo) -> None:
    """Mosquitto stops sending after twenty messages that nobody has acknowledged."""
    async with MQTT.receive(channel()) as deliveries:
        for number in range(30):
            await MQTT.send(channel(), Message(str(number).encode()))
        came = [(await anext(deliveries)).message.payload for _ in range(30)]
    assert came[-1] == b"29"


async def test_calls_at_the_same_time_share_the_document_s_client_id(channel: ChannelTo) -> None:
    """A broker ends a connection when another with the same id is made."""
    here = channel(server={"clientId": "guest"})
    there = replace(here, client_id="another-call")
    async with MQTT.receive(here) as first, MQTT.receive(there) as second:
        await asyncio.gather(MQTT.send(here, Message(b"x")), MQTT.send(there, Message(b"x")))
        arrived = [(await anext(deliveries)).message.payload for deliveries in (first, first, second, second)]
    assert arrived == [b"x"] * 4


async def test_a_connection_that_breaks_has_a_last_will(channel: ChannelTo, link: Link, topic: str) -> None:
    will = {"topic": f"{topic}/gone", "message": "the worker is gone", "qos": 1}
    async with MQTT.receive(channel(f"{topic}/gone", client_id="watcher")) as watched:
        await fault_of(cut_while_receiving(MQTT, channel(port=link.port, server={"lastWill": will}), link))
        assert (await anext(watched)).message.payload == b"the worker is gone"


@pytest.mark.parametrize(("reason", "code"), [
    (4, "AuthFailed"),
    (0x80, "AuthFailed"),
    (ReasonCode(PacketTypes.SUBACK, "Not authorized"), "AuthFailed"),
    (ReasonCode(PacketTypes.SUBACK, "Topic filter invalid"), "UnknownChannel"),
    (ReasonCode(PacketTypes.PUBACK, "Quota exceeded"), "BrokerError"),
])  # fmt: skip
def test_reasons_that_a_broker_may_give(reason: ReasonCode | int, code: str) -> None:
    assert refused(reason).fault[0] == code
