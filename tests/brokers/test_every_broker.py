"""What is the same with every protocol that has brokers."""

import asyncio
import gc
import ssl
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from swf_temporal.events.brokers.port import Broker, Credentials, Message
from tests.brokers.conftest import (
    PROTOCOLS,
    ChannelTo,
    Protocol,
    answer_to,
    cut_while_receiving,
    echo,
    is_cancelled_cleanly,
    is_cancelled_while_connecting,
    payloads,
)  # fmt: skip
from tests.brokers.servers import HOST, Link, Server, free_ports, silent
from tests.failing import fault_of

MESSAGE = Message(b"x")


@pytest.fixture(params=list(PROTOCOLS))
def protocol(request: pytest.FixtureRequest) -> Protocol:
    return PROTOCOLS[request.param]


@pytest.fixture
def broker(protocol: Protocol) -> Broker:
    return protocol.make()


def of(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("protocol", names, indirect=True)


async def test_nobody_answers(protocol: Protocol, broker: Broker) -> None:
    await fault_of(broker.send(protocol.channel(free_ports(1)[0]), MESSAGE), "ConnectionRefused", retryable=True)
    await fault_of(payloads(broker, protocol.channel(1883, host="broker.invalid")), "UnknownHost")
    async with silent() as nobody:
        await fault_of(broker.send(protocol.channel(nobody.port, timeout=0.3), MESSAGE), "Timeout")


async def test_connecting_can_be_cancelled(protocol: Protocol, broker: Broker) -> None:
    async with silent() as nobody:
        assert await is_cancelled_while_connecting(broker, protocol.channel(nobody.port), nobody.called)


async def test_without_its_library_the_extra_is_named(
    protocol: Protocol, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, protocol.library, None)
    doing = broker.send(protocol.channel(1883), MESSAGE)
    await fault_of(doing, "NotInstalled", f"pip install 'swf-temporal[{protocol.name}]'")


async def test_a_message_arrives_with_all_that_is_said_of_it(
    protocol: Protocol, broker: Broker, channel: ChannelTo
) -> None:
    """NATS and Kafka have no place for the type of the content but the headers."""
    sent = protocol.sent
    headers = sent.headers if protocol.name in ("mqtt", "amqp") else {**sent.headers, "content-type": "text/plain"}
    assert await echo(broker, channel(**protocol.facts), sent) == replace(sent, headers=headers)


async def test_a_function_asks_and_is_answered(
    protocol: Protocol, broker: Broker, channel: ChannelTo, tmp_path: Path
) -> None:
    assert await answer_to(broker, channel(**protocol.facts), tmp_path) == {"number": 7}


async def test_with_tls_and_a_password(protocol: Protocol, broker: Broker, channel: ChannelTo, topic: str) -> None:
    here = channel(f"{protocol.hers}{topic}", secure=True, **protocol.facts)
    assert (await echo(broker, here, Message(b"secret"))).payload == b"secret"


@of("mqtt", "amqp")
async def test_a_token_is_a_password(protocol: Protocol, broker: Broker, channel: ChannelTo, topic: str) -> None:
    """A broker that takes tokens need not be told a name beside; this one takes passwords, so it is."""
    token = Credentials(username="ada", token="lovelace")  # noqa: S106 - of the test's own broker
    here = channel(f"{protocol.hers}{topic}", secure=True, credentials=token, **protocol.facts)
    assert (await echo(broker, here)).payload == b"x"


@pytest.mark.parametrize(("protocol", "version"), [
    *((protocol, "") for protocol in PROTOCOLS), ("mqtt", "3.1.1"),
], indirect=["protocol"])  # fmt: skip
async def test_a_wrong_password_is_told(
    protocol: Protocol, broker: Broker, channel: ChannelTo, server: Server, topic: str, version: str
) -> None:
    wrong = Credentials(username="ada", password="byron")  # noqa: S106 - of the test's own broker
    facts = {"version": version} if version else {}
    here = channel(f"{protocol.hers}{topic}", secure=True, credentials=wrong, **facts)
    fault = await fault_of(broker.send(here, MESSAGE), "AuthFailed", retryable=False)
    assert fault.message.startswith(f"{protocol.name}://127.0.0.1:{server.secure_port} {protocol.hers}{topic}: ")
    assert "byron" not in fault.message


@of("mqtt", "amqp", "nats")
async def test_what_a_user_may_not_do_is_told(protocol: Protocol, broker: Broker, channel: ChannelTo) -> None:
    """Where the broker complains of it by the way, that counts."""
    await fault_of(broker.send(channel("his", secure=True, **protocol.facts), MESSAGE), "AuthFailed")


@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
async def test_a_server_that_nobody_vouches_for_is_told(broker: Broker, channel: ChannelTo) -> None:
    here = channel(secure=True, tls=ssl.create_default_context())
    await fault_of(payloads(broker, here), "TlsFailed")
    await fault_of(broker.send(here, MESSAGE), "TlsFailed")
    await asyncio.sleep(0)
    # That of MQTT leaves the socket whose handshake failed to the collector; it is told to come while that is expected.
    gc.collect()


async def test_a_message_that_is_too_large_is_told(protocol: Protocol, broker: Broker, channel: ChannelTo) -> None:
    doing = broker.send(channel(**protocol.facts), Message(b"x" * protocol.too_large))
    await fault_of(doing, "MessageTooLarge", retryable=False)


@pytest.mark.parametrize(("protocol", "address", "message"), [
    ("mqtt", "orders/#", MESSAGE),
    ("mqtt", "orders", Message(b"x", headers={"x": "y" * 65_536})),
    ("amqp", "orders", Message(b"x", correlation_id="c" * 256)),
    ("amqp", "orders", Message(b"x", headers={"name": "\ud800"})),
    ("nats", "orders", Message(b"x", headers={"two words": "y"})),
    ("nats", "orders", Message(b"x", headers={"x": "\ud800"})),
], indirect=["protocol"])  # fmt: skip
async def test_what_cannot_be_sent_is_told(broker: Broker, channel: ChannelTo, address: str, message: Message) -> None:
    """Such as a topic with wildcards, or a header longer than a packet can say: it is not tried again."""
    await fault_of(broker.send(channel(address), message), "BadArguments", retryable=False)


@of("mqtt", "amqp", "nats")
async def test_a_connection_that_breaks_is_told(
    protocol: Protocol, broker: Broker, channel: ChannelTo, link: Link
) -> None:
    doing = cut_while_receiving(broker, channel(port=link.port, **protocol.facts), link)
    await fault_of(doing, "ConnectionLost", retryable=True)


async def test_of_several_addresses_one_that_answers_is_taken(
    protocol: Protocol, broker: Broker, channel: ChannelTo
) -> None:
    """The name is not looked up again: whether it may be connected to was asked of the addresses."""
    here = channel(host="broker.invalid", addresses=("127.0.0.9", HOST), **protocol.facts)
    assert (await echo(broker, here)).payload == b"x"


async def test_a_receiver_that_is_cancelled_leaves_nothing(
    protocol: Protocol, broker: Broker, channel: ChannelTo
) -> None:
    assert await is_cancelled_cleanly(broker, channel(**protocol.facts))
