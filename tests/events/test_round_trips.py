"""What a sink sends to a broker, a consumer takes from it: the same event."""

import asyncio
import json
from contextlib import aclosing, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

import nats
import pytest
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Producer
from websockets import Subprotocol
from websockets.asyncio.server import ServerConnection, serve

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.events.brokers.kafka import Kafka
from swf_temporal.events.brokers.port import Channel, Message
from swf_temporal.events.channels import event_in, message_of
from swf_temporal.events.sinks import Connection, Sinks
from swf_temporal.settings.events import BrokerAddress, Mode, SinkSettings
from tests.brokers.servers import HOST, Server
from tests.events.conftest import Take, brokers, consuming, every_broker, led_by_link, settings_of, until
from tests.failing import fault_of

EVENTS = [
    CloudEvent("1", "/shop/ü", "placed", {"a": [1, None]},
               {"subject": 'an "order" 100%', "datacontenttype": "application/json"}),
    CloudEvent("2", "shop", "placed", "a text", {"datacontenttype": "text/plain"}),
    CloudEvent("3", "shop", "placed", "a text in JSON", {"datacontenttype": "application/json"}),
    CloudEvent("4", "shop", "placed", None, {"time": "2030-01-02T03:04:05+00:00", "number": 7}),
    CloudEvent("5", "shop", "placed", [1, 2], {"partitionkey": "k"}),
]  # fmt: skip


def facts(event: CloudEvent) -> tuple[str, str, str, JSON, dict[str, str]]:
    """Return what is compared: of attributes that all are texts, and the usual type of the data."""
    attributes = {"datacontenttype": "application/json", **event.attributes}
    texts = {name: str(value).replace("+00:00", "Z") for name, value in attributes.items()}
    return event.id, event.source, event.type, event.data, texts


@every_broker
@pytest.mark.parametrize("mode", ["binary", "structured"])
async def test_events_arrive_as_they_were_sent(broker: BrokerAddress, mode: Mode) -> None:
    taken: list[CloudEvent] = []

    async def take(event: CloudEvent) -> int:
        taken.append(event)
        return 1

    sinks = Sinks([SinkSettings(name="sink", **dict(broker), mode=mode)])
    async with aclosing(sinks), consuming(broker, take):
        for event in EVENTS:
            assert await sinks.publish(event) == ["sink"]
        await until(lambda: len(taken) == len(EVENTS))
    assert sorted(map(facts, taken)) == [facts(event) for event in EVENTS]


@every_broker
async def test_a_sink_keeps_its_connection(broker: BrokerAddress, take: Take, taken: list[str]) -> None:
    """For all events, also those that are sent at once; it connects again when the connection has broken."""
    async with (
        led_by_link(broker) as (link, led),
        aclosing(Sinks([SinkSettings(name="sink", **dict(led))])) as sinks,
        consuming(broker, take),
    ):
        await sinks.publish(EVENTS[0])
        made = link.connections
        await asyncio.gather(*map(sinks.publish, EVENTS[1:3]))
        await sinks.publish(EVENTS[3])
        assert (made, link.connections) == (1, 1)
        link.cut()
        await sinks.publish(EVENTS[4])
        if broker.family != "kafka":
            assert link.connections == 2
        await until(lambda: set(taken) == {event.id for event in EVENTS})


@brokers("amqp", "mqtt", "nats")
async def test_what_is_confirmed_late_is_not_sent_again(broker: BrokerAddress, take: Take, taken: list[str]) -> None:
    """A broker that answers no more, for a while, has each event once however many attempts there were."""
    async with led_by_link(broker) as (link, led):
        sink = SinkSettings(name="sink", **dict(led), timeout=timedelta(seconds=0.5))
        async with aclosing(Sinks([sink])) as sinks, consuming(broker, take):
            await _delivered(sinks, EVENTS[0])
            link.answers.clear()
            for _ in range(2):
                await fault_of(sinks.publish(EVENTS[1]), told="in time")
            link.answers.set()
            await _delivered(sinks, EVENTS[1])
            await _delivered(sinks, EVENTS[2])
            await until(lambda: EVENTS[2].id in taken)
    assert taken == [event.id for event in EVENTS[:3]]


async def _delivered(sinks: Sinks, event: CloudEvent) -> None:
    async with asyncio.timeout(20):
        while True:
            with suppress(CallFailed):
                await sinks.publish(event)
                return


async def test_what_kafka_confirms_late_is_not_sent_again(topic: str) -> None:
    """Its brokers answer after longer than the attempts last."""
    owner = Producer({"test.mock.num.brokers": 1, "test.mock.broker.rtt": 300, "log_level": 0})
    (broker,) = owner.list_topics(timeout=10).brokers.values()
    channel = Channel("kafka", HOST, broker.port, "", topic, "client", 10.0)
    connection = Connection(partial(Kafka().sending, channel), 10.0)
    async with aclosing(connection):
        await connection.send(channel, Message(b"0"), "0")
        for _ in range(2):
            await fault_of(connection.send(replace(channel, timeout=0.05), Message(b"1"), "1"), told="in time")
        for number in ("1", "2"):
            await connection.send(channel, Message(number.encode()), number)
        found = AIOKafkaConsumer(topic, bootstrap_servers=f"{HOST}:{broker.port}", auto_offset_reset="earliest")
        async with found:
            came = [(await anext(found)).value for _ in range(3)]
    assert sorted(came) == [b"0", b"1", b"2"]


async def test_a_sink_keeps_its_connection_of_websocket() -> None:
    """Each event is there when its delivery is done; a server that is away is a failure that passes."""
    came: list[str] = []
    connections: list[ServerConnection] = []

    async def receive(connection: ServerConnection) -> None:
        connections.append(connection)
        async for frame in connection:
            event = CloudEvent.from_json(json.loads(frame))
            came.append(event.id)

    async with serve(receive, HOST, 0, subprotocols=[Subprotocol("cloudevents.json")]) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        sinks = Sinks([SinkSettings(name="sink", url=f"ws://{HOST}:{port}")])
        for number, event in enumerate(EVENTS[:3], 1):
            await sinks.publish(event)
            assert len(came) == number
        await connections[0].close()
        await sinks.publish(EVENTS[3])
        assert (len(came), len(connections)) == (4, 2)
    await fault_of(sinks.publish(EVENTS[4]), retryable=True)
    await sinks.aclose()


async def test_a_stream_has_an_event_once_on_each_of_its_subjects(jetstream: Server, topic: str) -> None:
    """It confirms that it has it; a repetition is not kept. That of one sink is no repetition of that of another."""
    url = f"nats://{HOST}:{jetstream.port}"
    async with await nats.connect(url) as connection:
        streams = connection.jetstream()
        await streams.add_stream(name=topic, subjects=[f"{topic}.*"])
        both = [
            SinkSettings(name=name, url=url, subject=f"{topic}.{name}", stream=topic, mode="binary")
            for name in ("all", "some")
        ]
        async with aclosing(Sinks(both)) as sinks:
            for _ in range(3):
                assert await sinks.publish(EVENTS[0]) == ["all", "some"]
        info = await streams.stream_info(topic, subjects_filter=">")
    assert info.state.subjects == {f"{topic}.all": 1, f"{topic}.some": 1}
    elsewhere = both[0].replace(subject=f"{topic}-other", mode="structured")
    await fault_of(Sinks([elsewhere]).publish(EVENTS[0]), told="no stream")


async def test_an_exchange_leads_to_a_queue(rabbitmq: Server, topic: str, take: Take, taken: list[str]) -> None:
    """A consumer binds its queue; a sink publishes by the type of the event."""
    there = {"url": f"amqp://{HOST}:{rabbitmq.port}", "exchange": "amq.topic"}
    settings = settings_of(BrokerAddress(**there, queue=topic, routing_key=f"{topic}.#", declare=True))
    async with aclosing(Sinks([SinkSettings(name="sink", **there)])) as sinks, consuming(settings, take):
        await sinks.publish(CloudEvent("1", "shop", f"{topic}.placed"))
        await until(lambda: taken == ["1"])


HEADERS = {"ce_specversion": "1.0", "ce_id": "1", "ce_type": "t", "ce_source": "s"}


@pytest.mark.parametrize(("payload", "content_type", "expected"), [
    (b"\xef\xbb\xbfhello", "text/plain", "hello"),
    (b"gr\xfc", "text/plain; charset=ISO-8859-1", "gr\u00fc"),
    (b'{"a": "gr\xfc"}', "application/json; charset=ISO-8859-1", {"a": "gr\u00fc"}),
])  # fmt: skip
def test_the_charset_of_a_message_is_that_of_its_data(payload: bytes, content_type: str, expected: JSON) -> None:
    event = event_in(Message(payload, content_type, HEADERS), "kafka")
    assert event.data == expected
    if isinstance(expected, str):
        again = message_of(event, "kafka", "binary")
        assert event_in(again, "kafka").data == expected
        assert again.payload == payload.removeprefix(b"\xef\xbb\xbf")
