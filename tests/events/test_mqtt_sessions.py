"""What a consumer of MQTT has at its broker: a session of its own, and no more messages than it can hold."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.brokers.mqtt import connected as session_of
from swf_temporal.events.channels import channel_of
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.operations.client import Client
from swf_temporal.sdk.consuming import consuming as all_consuming
from swf_temporal.sdk.event_router import Router
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import BrokerAddress, ConsumerSettings, EventSettings
from tests.brokers.servers import HOST, Link, Server
from tests.events.conftest import Take, consuming, named_event, publish, settings_of, until
from tests.temporal.conftest import Bench

pytestmark = pytest.mark.temporal


@asynccontextmanager
async def flooding(number: int) -> AsyncIterator[int]:
    """Run a broker that sends *number* messages at once, whoever subscribes; return its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"MQTT")
        writer.write(bytes([0x20, 2, 0, 0]))  # CONNACK
        while (await reader.readexactly(1))[0] != 0x82:  # SUBSCRIBE
            pass
        await reader.readexactly(1)
        writer.write(bytes([0x90, 3]) + await reader.readexactly(2) + bytes([1]))  # SUBACK
        for packet in range(1, number + 1):
            writer.write(bytes([0x32, 6]) + b"\x00\x01t" + packet.to_bytes(2, "big") + b"!")  # PUBLISH
        await reader.read()
        writer.close()

    async with await asyncio.start_server(serve, HOST, 0) as server:
        yield server.sockets[0].getsockname()[1]


async def test_no_more_messages_are_held_than_may_be() -> None:
    """The rest stays in the connection, and all of it comes."""
    async with flooding(2000) as port:
        broker = BrokerAddress(url=f"mqtt://{HOST}:{port}", topic="t", version="3.1.1")
        async with session_of(channel_of(Settings(), broker, "c"), receives=True, at_once=5) as session:
            await session.listen("t", 1)
            most, messages = 0, aiter(session.messages)
            for _ in range(2000):
                received = await anext(messages)
                most = max(most, len(session.messages))
                await session.acknowledging(received)()
    assert most <= 5


async def test_a_lost_connection_is_noticed_while_messages_wait(mosquitto: Server, topic: str) -> None:
    """Not only when they are taken, which may be long after."""
    is_taking = asyncio.Event()

    async def take(_: CloudEvent) -> int:
        is_taking.set()
        return await asyncio.Event().wait()

    async with Link(mosquitto.port).opened() as link:
        there = BrokerAddress(url=f"mqtt://{HOST}:{mosquitto.port}", topic=topic)
        settings = ConsumerSettings(name=topic, url=f"mqtt://{HOST}:{link.port}", topic=topic, prefetch=2)
        async with consuming(settings, take) as consumer:
            await publish(there, [named_event(number) for number in range(5)])
            await is_taking.wait()
            link.cut()
            await until(lambda: not consumer.is_connected)


async def test_a_topic_that_was_changed_is_left(mosquitto: Server, topic: str, take: Take, taken: list[str]) -> None:
    """What the session still gets of it is taken; then no more comes."""
    one, two = (BrokerAddress(url=f"mqtt://{HOST}:{mosquitto.port}", topic=f"{topic}-{n}") for n in (1, 2))
    async with consuming(settings_of(one, name=topic), take):
        pass
    await publish(one, [named_event("while away")])
    async with consuming(settings_of(two, name=topic), take):
        await until(lambda: taken == ["while away"])
        await publish(one, [named_event("too late")])
        await publish(two, [named_event("new")])
        await until(lambda: "new" in taken)
    assert taken == ["while away", "new"]


async def test_deployments_have_sessions_of_their_own(
    bench: Bench, mosquitto: Server, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Consumers of one name get everything, each; two of one deployment cannot, and say so."""
    caplog.set_level(logging.INFO, "swf.events")
    url = f"mqtt://{HOST}:{mosquitto.port}"
    events = EventSettings(consumers=(ConsumerSettings(name=topic, url=url, topic=topic),))

    def deployed(queue: str) -> Any:
        return all_consuming(events, Settings(), Router(Client(bench.client), Catalogue(()), queue))

    def number(told: str) -> int:
        return sum(told in line for line in caplog.messages)

    async with deployed("one") as ones, deployed("two") as others:
        for each in (*ones, *others):
            await until(lambda: each.is_connected)  # noqa: B023 - awaited at once
        await publish(BrokerAddress(url=url, topic=topic), [named_event("e")])
        await until(lambda: number("no definition consumes") == 2)
        assert not number("another client")
        async with deployed("one"):
            await until(lambda: number("another client with the id 'swf-") > 0)
