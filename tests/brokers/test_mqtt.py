"""MQTT, against Mosquitto."""

import asyncio
import gc
import ssl
from pathlib import Path

import aiomqtt
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode

from swf_temporal.events.brokers.mqtt import Mqtt
from swf_temporal.events.brokers.mqtt_session import refused
from swf_temporal.events.brokers.port import Credentials, Message
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


@pytest.fixture
def mqtt() -> Mqtt:
    return Mqtt()


async def test_a_message_arrives_with_all_that_is_said_of_it(mqtt: Mqtt, mosquitto: Server, channel: ChannelTo) -> None:
    sent = Message(b"\x00one", "text/plain", {"Idempotency-Key": "k", "x": "ü"}, "c-1", "answers/1")
    async with mqtt.receive(channel(mosquitto.port)) as deliveries:
        await mqtt.send(channel(mosquitto.port), sent)
        delivery = await anext(deliveries)
    assert delivery.message == sent


async def test_other_clients_understand_it(mqtt: Mqtt, mosquitto: Server, channel: ChannelTo, topic: str) -> None:
    async with aiomqtt.Client(HOST, mosquitto.port, protocol=aiomqtt.ProtocolVersion.V5) as other:
        await other.subscribe(topic, qos=2)
        await mqtt.send(channel(mosquitto.port, operation={"qos": 2}), Message(b"{}", "application/json"))
        received = await anext(aiter(other.messages))
    assert (received.payload, received.qos) == (b"{}", 2)
    assert received.properties is not None
    assert vars(received.properties)["ContentType"] == "application/json"


async def test_the_message_binding_gives_what_the_message_lacks(
    mqtt: Mqtt, mosquitto: Server, channel: ChannelTo
) -> None:
    binding = {"contentType": "text/csv", "responseTopic": "answers"}
    async with mqtt.receive(channel(mosquitto.port)) as deliveries:
        await mqtt.send(channel(mosquitto.port, message=binding), Message(b"1;2"))
        delivery = await anext(deliveries)
    assert (delivery.message.content_type, delivery.message.reply_to) == ("text/csv", "answers")


@pytest.mark.parametrize("qos", [0, 1, 2])
async def test_version_3_carries_the_payload_alone(mqtt: Mqtt, mosquitto: Server, channel: ChannelTo, qos: int) -> None:
    here = channel(mosquitto.port, version="3.1.1", operation={"qos": qos})
    async with mqtt.receive(here) as deliveries:
        await mqtt.send(here, Message(b"one", "text/plain", {"x": "y"}, "c-1", "answers"))
        delivery = await anext(deliveries)
    assert delivery.message == Message(b"one")


async def test_a_retained_message_meets_later_subscribers(mqtt: Mqtt, mosquitto: Server, channel: ChannelTo) -> None:
    """The broker keeps the latest one, if it is asked to."""
    await mqtt.send(channel(mosquitto.port, operation={"retain": True}), Message(b"the latest"))
    assert await next_payload(mqtt, channel(mosquitto.port)) == b"the latest"


@pytest.mark.parametrize("version", ["3.1.1", "5"])
async def test_a_repeated_attempt_gets_what_was_not_accepted_and_what_came_meanwhile(
    mqtt: Mqtt, mosquitto: Server, channel: ChannelTo, version: str
) -> None:
    """The session is the call's, not the attempt's."""
    here = channel(mosquitto.port, version=version)
    await lost(mqtt, here, b"not accepted")
    await mqtt.send(here, Message(b"meanwhile"))

    async with mqtt.receive(here) as deliveries:
        payloads = []
        for _ in range(2):
            delivery = await anext(deliveries)
            await delivery.accept()
            payloads.append(delivery.message.payload)

    assert payloads == [b"not accepted", b"meanwhile"]


async def test_what_was_accepted_does_not_come_again(mqtt: Mqtt, mosquitto: Server, channel: ChannelTo) -> None:
    here = channel(mosquitto.port)
    await lost(mqtt, here, b"accepted", accepted=True)
    await mqtt.send(here, Message(b"the next"))
    assert await next_payload(mqtt, here) == b"the next"


async def test_a_call_that_has_ended_leaves_no_subscription(mqtt: Mqtt, mosquitto: Server, channel: ChannelTo) -> None:
    here = channel(mosquitto.port)
    async with mqtt.receive(here) as deliveries:
        await mqtt.send(here, Message(b"accepted"))
        await (await anext(deliveries)).accept()
    await mqtt.send(here, Message(b"for nobody"))
    async with mqtt.receive(here) as deliveries:
        await mqtt.send(here, Message(b"for the next call"))
        assert (await anext(deliveries)).message.payload == b"for the next call"


async def test_a_clean_session_forgets(mqtt: Mqtt, mosquitto: Server, channel: ChannelTo) -> None:
    """A document may ask for sessions that end with their connection."""
    here = channel(mosquitto.port, server={"cleanSession": True})
    await lost(mqtt, here)
    await mqtt.send(here, Message(b"meanwhile"))
    async with mqtt.receive(here) as deliveries:
        await mqtt.send(here, Message(b"now"))
        assert (await anext(deliveries)).message.payload == b"now"


async def test_any_number_of_messages_may_be_passed_over(mqtt: Mqtt, mosquitto: Server, channel: ChannelTo) -> None:
    """Mosquitto stops sending after twenty messages that nobody has acknowledged."""
    here = channel(mosquitto.port)

    async with mqtt.receive(here) as deliveries:
        for number in range(30):
            await mqtt.send(here, Message(str(number).encode()))
        async for delivery in deliveries:
            if delivery.message.payload == b"29":
                break

    assert delivery.message.payload == b"29"


async def test_calls_at_the_same_time_share_the_document_s_client_id(
    mqtt: Mqtt, mosquitto: Server, channel: ChannelTo
) -> None:
    """A broker ends a connection when another with the same id is made."""
    binding = {"clientId": "guest"}
    here, there = (
        channel(mosquitto.port, server=binding),
        channel(mosquitto.port, server=binding, client_id="another-call"),
    )

    async with mqtt.receive(here) as first, mqtt.receive(there) as second:
        await asyncio.gather(mqtt.send(here, Message(b"x")), mqtt.send(there, Message(b"x")))
        arrived = [(await anext(deliveries)).message.payload for deliveries in (first, first, second, second)]

    assert arrived == [b"x"] * 4


async def test_a_connection_that_breaks_has_a_last_will(
    mqtt: Mqtt, mosquitto: Server, channel: ChannelTo, link: LinkTo, fault_of: FaultOf, topic: str
) -> None:
    """The broker publishes it for whoever watches."""
    will = {"topic": f"{topic}/gone", "message": "the worker is gone", "qos": 1}
    way = await link(mosquitto.port)
    async with mqtt.receive(channel(mosquitto.port, f"{topic}/gone", client_id="watcher")) as watched:
        fault = await fault_of(cut_while_receiving(mqtt, channel(way.port, server={"lastWill": will}), way))
        last = (await anext(watched)).message
    assert last.payload == b"the worker is gone"
    assert (fault.code, fault.retryable) == ("ConnectionLost", True)


async def test_a_function_asks_and_is_answered(
    mqtt: Mqtt, mosquitto: Server, channel: ChannelTo, tmp_path: Path
) -> None:
    assert await answer_to(mqtt, channel(mosquitto.port), tmp_path) == {"number": 7}


async def test_with_tls_and_a_password(
    mqtt: Mqtt, mosquitto: Server, channel: ChannelTo, trusting: ssl.SSLContext
) -> None:
    here = channel(mosquitto.secure_port, "hers/orders", credentials=ADA, tls=trusting)
    async with mqtt.receive(here) as deliveries:
        await mqtt.send(here, Message(b"secret"))
        assert (await anext(deliveries)).message.payload == b"secret"


@pytest.mark.parametrize("version", ["3.1.1", "5"])
async def test_a_wrong_password_is_told(
    mqtt: Mqtt, mosquitto: Server, channel: ChannelTo, trusting: ssl.SSLContext, fault_of: FaultOf, version: str
) -> None:
    wrong = Credentials(username="ada", password="byron")  # noqa: S106 - of the test's own broker
    here = channel(mosquitto.secure_port, "hers/orders", credentials=wrong, tls=trusting, version=version)
    fault = await fault_of(mqtt.send(here, Message(b"x")))
    assert (fault.code, fault.retryable) == ("AuthFailed", False)
    assert fault.message.startswith(f"mqtt://127.0.0.1:{mosquitto.secure_port} hers/orders: ")
    assert "byron" not in fault.message


async def test_a_token_is_a_password(
    mqtt: Mqtt, mosquitto: Server, channel: ChannelTo, trusting: ssl.SSLContext
) -> None:
    token = Credentials(username="ada", token="lovelace")  # noqa: S106 - of the test's own broker
    here = channel(mosquitto.secure_port, "hers/token", credentials=token, tls=trusting)
    async with mqtt.receive(here) as deliveries:
        await mqtt.send(here, Message(b"borne"))
        assert (await anext(deliveries)).message.payload == b"borne"


async def test_what_a_user_may_not_do_is_told(
    mqtt: Mqtt, mosquitto: Server, channel: ChannelTo, trusting: ssl.SSLContext, fault_of: FaultOf
) -> None:
    """A broker answers a message that it does not want, and that answer counts."""
    here = channel(mosquitto.secure_port, "his/orders", credentials=ADA, tls=trusting)
    assert (await fault_of(mqtt.send(here, Message(b"x")))).code == "AuthFailed"


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        (4, "AuthFailed"),
        (0x80, "AuthFailed"),
        (ReasonCode(PacketTypes.SUBACK, "Not authorized"), "AuthFailed"),
        (ReasonCode(PacketTypes.SUBACK, "Topic filter invalid"), "UnknownChannel"),
        (ReasonCode(PacketTypes.PUBACK, "Quota exceeded"), "BrokerError"),
    ],
)
def test_reasons_that_a_broker_may_give(reason: ReasonCode | int, code: str) -> None:
    assert refused(reason).fault[0] == code


@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
async def test_a_server_that_nobody_vouches_for_is_told(
    mqtt: Mqtt, mosquitto: Server, channel: ChannelTo, fault_of: FaultOf
) -> None:
    here = channel(mosquitto.secure_port, credentials=ADA, tls=ssl.create_default_context())
    assert (await fault_of(mqtt.send(here, Message(b"x")))).code == "TlsFailed"
    await asyncio.sleep(0)
    # The library leaves the socket whose handshake failed to the collector; it is told to come while that is expected.
    gc.collect()


async def test_a_message_that_is_too_large_is_told(
    mqtt: Mqtt, mosquitto: Server, channel: ChannelTo, fault_of: FaultOf
) -> None:
    fault = await fault_of(mqtt.send(channel(mosquitto.port), Message(b"x" * 100_001)))
    assert (fault.code, fault.retryable) == ("MessageTooLarge", False)


async def test_a_topic_that_cannot_be_is_told(
    mqtt: Mqtt, mosquitto: Server, channel: ChannelTo, fault_of: FaultOf
) -> None:
    fault = await fault_of(mqtt.send(channel(mosquitto.port, "orders/#"), Message(b"x")))
    assert (fault.code, fault.retryable) == ("BadArguments", False)


async def test_a_header_that_is_too_long_is_told(
    mqtt: Mqtt, mosquitto: Server, channel: ChannelTo, fault_of: FaultOf
) -> None:
    """A packet has two bytes for its length."""
    fault = await fault_of(mqtt.send(channel(mosquitto.port), Message(b"x", headers={"x": "y" * 65_536})))
    assert (fault.code, fault.retryable) == ("BadArguments", False)


async def test_of_several_addresses_one_that_answers_is_taken(
    mqtt: Mqtt, mosquitto: Server, channel: ChannelTo
) -> None:
    here = channel(mosquitto.port, host="broker.invalid", addresses=("127.0.0.9", HOST))
    assert await echo(mqtt, here) == b"x"


async def test_a_receiver_that_is_cancelled_leaves_nothing(mqtt: Mqtt, mosquitto: Server, channel: ChannelTo) -> None:
    assert await is_cancelled_cleanly(mqtt, channel(mosquitto.port))
