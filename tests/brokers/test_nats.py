"""NATS, against its own server: what it has for itself."""

import asyncio

import nats as library

from swf_temporal.events.brokers.nats import Nats
from swf_temporal.events.brokers.port import Message
from tests.brokers.conftest import ChannelTo, payloads
from tests.brokers.servers import HOST, Server
from tests.failing import fault_of

NATS = Nats()


async def test_other_clients_understand_it(server: Server, channel: ChannelTo, topic: str) -> None:
    async with await library.connect(f"nats://{HOST}:{server.port}") as other:
        subscription = await other.subscribe(topic)
        await other.flush()
        await NATS.send(channel(), Message(b"one", headers={"x": "y"}))
        received = await subscription.next_msg(5)
    assert (received.data, received.headers) == (b"one", {"x": "y"})


async def test_a_request_that_nobody_can_answer_fails_at_once(channel: ChannelTo, topic: str) -> None:
    """Nobody listens; where somebody does, it is not told to be unanswered before it could be answered."""
    asked = Message(b"?", reply_to=f"{topic}-answers")
    await fault_of(NATS.send(channel(), asked), "NoResponders", retryable=True)
    async with NATS.receive(channel()) as questions:
        await NATS.send(channel(), asked)
        assert (await anext(questions)).message.reply_to == f"{topic}-answers"


async def test_a_wildcard_is_a_subject_to_receive_from(channel: ChannelTo) -> None:
    async with NATS.receive(channel("lamps.*.lit")) as deliveries:
        await NATS.send(channel("lamps.7.lit"), Message(b"on"))
        assert (await anext(deliveries)).message.payload == b"on"


async def test_a_queue_group_gets_a_message_once(channel: ChannelTo) -> None:
    """Two wait in a group, so each of four messages reaches one of them."""
    here, grouped = channel("sums.>"), channel("sums.*", operation={"queue": "all"})
    async with NATS.receive(grouped) as one, NATS.receive(grouped) as two, NATS.receive(here) as outside:
        for payload in (b"1", b"2", b"3", b"4"):
            await NATS.send(channel("sums.in"), Message(payload))
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


async def test_a_subject_that_a_user_may_not_receive_from_is_told(channel: ChannelTo) -> None:
    await fault_of(payloads(NATS, channel("his.orders", secure=True)), "AuthFailed")


async def test_a_subject_that_cannot_be_is_told(channel: ChannelTo) -> None:
    await fault_of(payloads(NATS, channel("two words")), "BadArguments", retryable=False)
