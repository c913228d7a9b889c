"""NATS, against its own server."""

import asyncio
import ssl
from pathlib import Path

import nats as library
import pytest

from swf_temporal.events.brokers.nats import Nats
from swf_temporal.events.brokers.port import Credentials, Message
from tests.brokers.conftest import (
    ChannelTo,
    FaultOf,
    LinkTo,
    answer_to,
    cut_while_receiving,
    echo,
    is_cancelled_cleanly,
    next_payload,
)
from tests.brokers.servers import HOST, Server

ADA = Credentials(username="ada", password="lovelace")  # noqa: S106 - of the test's own broker


@pytest.fixture
def nats() -> Nats:
    return Nats()


async def test_a_message_arrives_with_its_headers(nats: Nats, nats_server: Server, channel: ChannelTo) -> None:
    sent = Message(b"\x00one", "text/plain", {"Idempotency-Key": "k", "x": "y"}, reply_to="answers.1")
    async with nats.receive(channel(nats_server.port)) as deliveries:
        await nats.send(channel(nats_server.port), sent)
        delivery = await anext(deliveries)
        await delivery.accept()
    assert delivery.message == Message(
        b"\x00one", "text/plain", {"Idempotency-Key": "k", "x": "y", "content-type": "text/plain"}, reply_to="answers.1"
    )


async def test_other_clients_understand_it(nats: Nats, nats_server: Server, channel: ChannelTo, topic: str) -> None:
    async with await library.connect(f"nats://{HOST}:{nats_server.port}") as other:
        subscription = await other.subscribe(topic)
        await other.flush()
        await nats.send(channel(nats_server.port), Message(b"one", headers={"x": "y"}))
        received = await subscription.next_msg(5)
    assert (received.data, received.headers) == (b"one", {"x": "y"})


async def test_a_request_that_nobody_can_answer_fails_at_once(
    nats: Nats, nats_server: Server, channel: ChannelTo, topic: str, fault_of: FaultOf
) -> None:
    """Nobody listens; where somebody does, it is not told to be unanswered before it could be answered."""
    asked = Message(b"?", reply_to=f"{topic}-answers")
    fault = await fault_of(nats.send(channel(nats_server.port), asked))
    async with nats.receive(channel(nats_server.port)) as questions:
        await nats.send(channel(nats_server.port), asked)
        assert (await anext(questions)).message.reply_to == f"{topic}-answers"
    assert (fault.code, fault.retryable) == ("NoResponders", True)


async def test_a_wildcard_is_a_subject_to_receive_from(nats: Nats, nats_server: Server, channel: ChannelTo) -> None:
    async with nats.receive(channel(nats_server.port, "lamps.*.lit")) as deliveries:
        await nats.send(channel(nats_server.port, "lamps.7.lit"), Message(b"on"))
        assert (await anext(deliveries)).message.payload == b"on"


async def test_a_queue_group_gets_a_message_once(nats: Nats, nats_server: Server, channel: ChannelTo) -> None:
    """Two wait in a group, so each of four messages reaches one of them."""
    here, grouped = channel(nats_server.port, "sums.>"), channel(nats_server.port, "sums.*", operation={"queue": "all"})

    async with nats.receive(grouped) as one, nats.receive(grouped) as two, nats.receive(here) as outside:
        for payload in (b"1", b"2", b"3", b"4"):
            await nats.send(channel(nats_server.port, "sums.in"), Message(payload))
        waiting = {asyncio.ensure_future(anext(each)): each for each in (one, two)}
        arrived: list[bytes] = []
        while len(arrived) < 4:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                deliveries = waiting.pop(each)
                arrived.append(each.result().message.payload)
                waiting[asyncio.ensure_future(anext(deliveries))] = deliveries
        for each in waiting:
            each.cancel()
        await asyncio.wait(waiting)
        everything = [(await anext(outside)).message.payload for _ in range(4)]

    assert sorted(arrived) == everything == [b"1", b"2", b"3", b"4"]


async def test_a_function_asks_and_is_answered(
    nats: Nats, nats_server: Server, channel: ChannelTo, tmp_path: Path
) -> None:
    assert await answer_to(nats, channel(nats_server.port), tmp_path) == {"number": 7}


async def test_with_tls_and_a_password(
    nats: Nats, nats_server: Server, channel: ChannelTo, trusting: ssl.SSLContext
) -> None:
    here = channel(nats_server.secure_port, "hers.orders", credentials=ADA, tls=trusting)
    async with nats.receive(here) as deliveries:
        await nats.send(here, Message(b"secret"))
        assert (await anext(deliveries)).message.payload == b"secret"


async def test_a_wrong_password_is_told(
    nats: Nats, nats_server: Server, channel: ChannelTo, trusting: ssl.SSLContext, fault_of: FaultOf
) -> None:
    wrong = Credentials(username="ada", password="byron")  # noqa: S106 - of the test's own broker
    doing = nats.send(channel(nats_server.secure_port, "hers.x", credentials=wrong, tls=trusting), Message(b"x"))
    fault = await fault_of(doing)
    assert (fault.code, fault.retryable) == ("AuthFailed", False)
    assert fault.message.startswith(f"nats://127.0.0.1:{nats_server.secure_port} hers.x: ")
    assert "byron" not in fault.message


async def test_what_a_user_may_not_do_is_told(
    nats: Nats, nats_server: Server, channel: ChannelTo, trusting: ssl.SSLContext, fault_of: FaultOf
) -> None:
    """The server complains by the way, and that counts."""
    here = channel(nats_server.secure_port, "his.orders", credentials=ADA, tls=trusting)
    sending, receiving = await fault_of(nats.send(here, Message(b"x"))), await fault_of(next_payload(nats, here))
    assert (sending.code, receiving.code) == ("AuthFailed", "AuthFailed")


async def test_a_server_that_nobody_vouches_for_is_told(
    nats: Nats, nats_server: Server, channel: ChannelTo, fault_of: FaultOf
) -> None:
    here = channel(nats_server.secure_port, credentials=ADA, tls=ssl.create_default_context())
    assert (await fault_of(nats.send(here, Message(b"x")))).code == "TlsFailed"


async def test_a_message_that_is_too_large_is_told(
    nats: Nats, nats_server: Server, channel: ChannelTo, fault_of: FaultOf
) -> None:
    fault = await fault_of(nats.send(channel(nats_server.port), Message(b"x" * 1_048_577)))
    assert (fault.code, fault.retryable) == ("MessageTooLarge", False)


async def test_a_subject_that_cannot_be_is_told(
    nats: Nats, nats_server: Server, channel: ChannelTo, fault_of: FaultOf
) -> None:
    fault = await fault_of(next_payload(nats, channel(nats_server.port, "two words")))
    assert (fault.code, fault.retryable) == ("BadArguments", False)


@pytest.mark.parametrize("headers", [{"two words": "y"}, {"x": "\ud800"}])
async def test_a_header_that_cannot_be_is_told(
    nats: Nats, nats_server: Server, channel: ChannelTo, fault_of: FaultOf, headers: dict[str, str]
) -> None:
    fault = await fault_of(nats.send(channel(nats_server.port), Message(b"x", headers=headers)))
    assert (fault.code, fault.retryable) == ("BadArguments", False)


async def test_a_connection_that_breaks_is_told(
    nats: Nats, nats_server: Server, channel: ChannelTo, link: LinkTo, fault_of: FaultOf
) -> None:
    way = await link(nats_server.port)
    fault = await fault_of(cut_while_receiving(nats, channel(way.port), way))
    assert (fault.code, fault.retryable) == ("ConnectionLost", True)


async def test_of_several_addresses_one_that_answers_is_taken(
    nats: Nats, nats_server: Server, channel: ChannelTo
) -> None:
    here = channel(nats_server.port, host="broker.invalid", addresses=("127.0.0.9", HOST))
    assert await echo(nats, here) == b"x"


async def test_a_receiver_that_is_cancelled_leaves_nothing(nats: Nats, nats_server: Server, channel: ChannelTo) -> None:
    assert await is_cancelled_cleanly(nats, channel(nats_server.port))
