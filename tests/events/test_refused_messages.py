"""Messages that a consumer cannot take: none is lost unsaid, and none holds up another."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aio_pika
import nats
import pytest

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.brokers.port import Message
from swf_temporal.events.channels import message_of
from swf_temporal.events.consumers import consumer as consumers
from swf_temporal.events.consumers.consumer import Consumer, Incoming
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import BrokerAddress, ConsumerSettings
from tests.brokers.servers import HOST, Server, free_ports, program, running
from tests.events.conftest import (
    Take,
    brokers,
    consuming,
    every_broker,
    named_event,
    publish,
    settings_of,
    until,
)  # fmt: skip

BAD = Message(b'{"specversion": "1.0", "id": "e-1"}', "application/cloudevents+json")
GOOD = named_event("e-2")


@every_broker
async def test_what_is_refused_can_be_found_again(
    broker: BrokerAddress, take: Take, taken: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """By its place at the broker, and by its event; where nothing is left of it, that is said at the start."""
    caplog.set_level(logging.INFO, "swf.events")
    async with consuming(broker, take):
        await publish(broker, [BAD, GOOD], "structured")
        await until(lambda: taken == ["e-2"])
    [told] = [line for line in caplog.messages if "is refused" in line]
    places = {"kafka": "partition", "nats": "sequence 1", "mqtt": "packet 1", "amqp": "routing key"}
    assert places[broker.family] in told
    assert "event 'e-1'" in told
    assert any("will be lost" in line for line in caplog.messages) == (broker.family in ("kafka", "mqtt"))


@brokers("amqp", "nats")
async def test_an_address_of_dead_letters_is_looked_at_first(
    broker: BrokerAddress, take: Take, caplog: pytest.LogCaptureFixture
) -> None:
    """One that is not there would lose what is sent there, or have it come again for good."""
    async with consuming(settings_of(broker, declare=False, dead_letter="nowhere"), take, is_there=False) as consumer:
        await until(lambda: "nowhere" in caplog.text)
        assert not consumer.is_connected


async def test_what_has_no_queue_of_dead_letters_holds_up_nothing(
    rabbitmq: Server, topic: str, take: Take, taken: list[str]
) -> None:
    """It is kept, and put away when there is that queue again."""
    broker = BrokerAddress(url=f"amqp://{HOST}:{rabbitmq.port}", queue=topic)
    async with await aio_pika.connect(broker.url) as connection, await connection.channel() as channel:
        for name in (topic, "lost"):
            await channel.declare_queue(name, durable=True)
        async with consuming(settings_of(broker, dead_letter="lost"), take):
            await channel.queue_delete("lost")
            await publish(broker, [BAD, GOOD], "structured")
            await until(lambda: taken == ["e-2"])
            async with asyncio.timeout(20), (await channel.declare_queue("lost")).iterator() as letters:
                assert (await anext(letters)).body == BAD.payload


async def test_what_was_routed_to_several_queues_can_be_a_dead_letter(rabbitmq: Server, topic: str, take: Take) -> None:
    """RabbitMQ delivers the header by which it did that, and refuses it as a text."""
    broker = BrokerAddress(url=f"amqp://{HOST}:{rabbitmq.port}", queue=topic, declare=True)
    async with await aio_pika.connect(broker.url) as connection, await connection.channel() as channel:
        dead = await channel.declare_queue(f"{topic}-dead", durable=True)
        async with consuming(settings_of(broker, dead_letter=dead.name), take):
            copied = aio_pika.Message(BAD.payload, headers={"CC": [f"{topic}-copies"], "kept": "yes"})
            await channel.default_exchange.publish(copied, topic)
            async with asyncio.timeout(20), dead.iterator() as letters:
                letter = await anext(letters)
    assert (letter.body, letter.headers["kept"]) == (BAD.payload, "yes")


@brokers("nats")
async def test_what_has_no_stream_of_dead_letters_holds_up_nothing(
    broker: BrokerAddress, take: Take, taken: list[str]
) -> None:
    """It is kept, and put away when a stream has their subject again."""
    dead = f"{broker.address}-dead"
    async with await nats.connect(broker.url) as connection:
        streams = connection.jetstream()
        async with consuming(settings_of(broker, dead_letter=dead), take):
            await streams.update_stream(name=broker.address, subjects=[broker.address])
            await publish(broker, [BAD, GOOD], "structured")
            await until(lambda: taken == ["e-2"])
            await streams.update_stream(name=broker.address, subjects=[broker.address, dead])
            letters = await streams.subscribe(dead)
            assert (await letters.next_msg(20)).data == BAD.payload


_GUARDED = """
max_payload: 2000
jetstream: {{store_dir: "{folder}"}}
authorization: {{users: [
  {{user: root, password: root}}
  {{user: ada, password: ada, permissions: {{publish: {{deny: "dead.Denied"}}}}}}
]}}
"""


@pytest.mark.parametrize(("dead", "size", "why"), [
    ("dead.Denied", 100, "does not permit"), ("dead.all", 1950, "larger"), ("dead.small", 200, "larger"),
])  # fmt: skip
async def test_a_dead_letter_that_is_refused_for_good_holds_up_nothing(
    tmp_path: Path, take: Take, taken: list[str], caplog: pytest.LogCaptureFixture, dead: str, size: int, why: str
) -> None:
    """It is not permitted, or with the reason it is larger than the server takes, or the stream."""
    (tmp_path / "nats.conf").write_text(_GUARDED.format(folder=tmp_path))
    [port] = free_ports(1)
    command = [program("nats-server", "nats-server"), "-c", str(tmp_path / "nats.conf"), "-a", HOST, "-p", str(port)]
    broker = BrokerAddress(url=f"nats://ada:ada@{HOST}:{port}", subject="orders")
    with running(command, [port], tmp_path / "log"):
        async with await nats.connect(f"nats://root:root@{HOST}:{port}") as connection:
            streams = connection.jetstream()
            await streams.add_stream(name="orders", subjects=["orders"])
            await streams.add_stream(name="dead", subjects=["dead.Denied", "dead.all"])
            await streams.add_stream(name="small", subjects=["dead.small"], max_msg_size=100)
        settings = settings_of(broker, dead_letter=dead, prefetch=1)
        async with consuming(settings, take):
            await publish(broker, [Message(b"x" * size), GOOD], "structured")
            await until(lambda: taken == ["e-2"])
    [told] = [line for line in caplog.messages if "cannot be a dead letter" in line]
    assert why in told


@brokers("nats")
async def test_the_position_of_another_subject_is_not_used(
    broker: BrokerAddress, take: Take, caplog: pytest.LogCaptureFixture
) -> None:
    """The messages of the new one would not come, and those of the old one still would."""
    async with consuming(broker, take):
        pass
    other = broker.replace(subject=f"{broker.address}-b")
    async with consuming(settings_of(other, name=broker.address), take, is_there=False) as consumer:
        await until(lambda: f"takes {broker.address}, not {broker.address}-b" in caplog.text)
        assert not consumer.is_connected


async def test_a_message_is_held_for_as_long_as_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """And so are those that wait for it; none when it is accepted."""
    monkeypatch.setattr(consumers, "_HOLDING", 0.01)
    held, accepted, is_over = [0, 0], list[int](), asyncio.Event()

    def incoming(number: int) -> Incoming:
        async def hold() -> None:
            held[number] += 1

        async def accept() -> None:
            accepted.append(number)

        return Incoming(message_of(GOOD, "amqp", "binary"), accept, accept, hold)

    class Source:
        @asynccontextmanager
        async def open(self) -> AsyncIterator[AsyncGenerator[Incoming]]:
            yield self.messages()

        async def messages(self) -> AsyncGenerator[Incoming]:
            yield incoming(0)
            yield incoming(1)
            await asyncio.Event().wait()

    async def take(_: CloudEvent) -> int:
        await is_over.wait()
        return 1

    settings = ConsumerSettings(name="held", url="amqp://127.0.0.1", queue="q")
    task = asyncio.create_task(Consumer(settings, Source(), take, Settings()).run())
    await until(lambda: min(held) > 2)
    is_over.set()
    await until(lambda: accepted == [0, 1])
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
