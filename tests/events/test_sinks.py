"""Where produced events go: to receivers, brokers and the router; each once, whatever fails beside it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from swf_temporal.base.client_errors import RunEnded
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.sinks import Sinks
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.operations.event_sending import send
from swf_temporal.sdk.worker import Worker
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.events import ROUTER, EventSettings, SinkSettings
from swf_temporal.settings.network import Network
from tests.brokers.servers import HOST
from tests.temporal.conftest import Bench
from tests.temporal.test_event_starts import output

pytestmark = pytest.mark.temporal
ROUTED = SinkSettings(name="router", url=ROUTER)

FIRST = """
id: ID-first
version: '1.0'
specVersion: '0.8'
start: Begin
events:
- {name: Begun, type: begun-ID, correlation: [{contextAttributeName: question}]}
- {name: Asked, type: asked-ID, kind: produced}
- {name: Answered, type: answered-ID, correlation: [{contextAttributeName: question}]}
states:
- name: Begin
  type: event
  onEvents: [{eventRefs: [Begun]}]
  transition:
    nextState: Wait
    produceEvents: [{eventRef: Asked, data: {number: 6}, contextAttributes: {question: '7'}}]
- {name: Wait, type: event, onEvents: [{eventRefs: [Answered], eventDataFilter: {toStateData: .answer}}], end: true}
"""

SECOND = """
id: ID-second
version: '1.0'
specVersion: '0.8'
start: Wait
events:
- {name: Asked, type: asked-ID, correlation: [{contextAttributeName: question}]}
- {name: Answered, type: answered-ID, kind: produced}
states:
- name: Wait
  type: event
  onEvents: [{eventRefs: [Asked], eventDataFilter: {toStateData: .asked}}]
  end:
    produceEvents: [{eventRef: Answered, data: '${ .asked.number * 7 }', contextAttributes: {question: '7'}}]
"""


@asynccontextmanager
async def working(bench: Bench, *definitions: Definition, sinks: tuple[SinkSettings, ...]) -> AsyncIterator[Worker]:
    async with Worker(
        Client(bench.client), definitions=definitions, task_queue=f"sinks-{definitions[0].id}",
        call_settings=Settings(network=Network()), events=EventSettings(sinks=sinks),
    ) as worker:  # fmt: skip
        yield worker


def named(text: str, name: str) -> Definition:
    return load(text.replace("ID", name))


async def test_instances_talk_to_each_other(bench: Bench, topic: str) -> None:
    """What one produces starts another, whose answer the first one gets."""
    first, second = named(FIRST, topic), named(SECOND, topic)
    async with working(bench, first, second, sinks=(ROUTED,)) as worker:
        begun = CloudEvent("1", "test", f"begun-{topic}", None, {"question": "7"})
        [receipt] = await send(worker.client, begun, worker.catalogue, worker.settings.task_queue)
        assert await output(bench, receipt.instance) == {"answer": 42}


PRODUCING = """
id: ID
version: '1.0'
specVersion: '0.8'
start: A
events: [{name: Made, type: made-ID, kind: produced}]
states:
- name: A
  type: inject
  data: {a: 1}
  end: {produceEvents: [{eventRef: Made, data: '${ .a }'}, {eventRef: Made, data: '${ .a + 1 }'}]}
"""


@asynccontextmanager
async def receiver(answers: list[int]) -> AsyncIterator[tuple[str, list[Any]]]:
    got: list[Any] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        body = await reader.readexactly(int(headers["content-length"]))
        status = answers.pop(0) if answers else 204
        got.append((status, headers, json.loads(body)))
        writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, HOST, 0)
    async with server:
        yield f"http://{HOST}:{server.sockets[0].getsockname()[1]}/events", got


async def produced(bench: Bench, topic: str, *sinks: SinkSettings) -> str:
    """Run an instance that produces two events; return its id."""
    definition = named(PRODUCING, topic)
    async with working(bench, definition, sinks=sinks) as worker:
        instance = await worker.client.start(definition, {}, task_queue=worker.settings.task_queue)
        assert await instance.result() == {"a": 1}
    return instance.id


async def test_an_event_is_sent_until_every_sink_has_it(bench: Bench, topic: str) -> None:
    """With the same id; and no more to a sink that has it."""
    async with receiver([500]) as (one, first), receiver([]) as (two, second):
        id_ = await produced(
            bench, topic,
            SinkSettings(name="one", url=one, headers={"X-Key": "k"}, mode="binary"),
            SinkSettings(name="two", url=two, credentials={"username": "ada", "password": "p"}),
            SinkSettings(name="other", url="http://127.0.0.1:1", types=("other",)),
        )  # fmt: skip
    assert [(status, data) for status, _, data in first] == [(500, 1), (204, 1), (204, 2)]
    headers = first[0][1]
    assert headers["ce-id"] == first[1][1]["ce-id"]
    assert (headers["ce-type"], headers["ce-swfinstanceid"], headers["x-key"]) == (f"made-{topic}", id_, "k")
    assert [whole["data"] for _, _, whole in second] == [1, 2]
    assert second[0][1]["authorization"].startswith("basic ")
    assert (second[0][2]["swfinstanceid"], second[0][2]["swfdefinitionid"]) == (id_, topic)


async def test_the_timeout_of_a_sink_counts_in_place_of_that_of_its_host() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.5)
        writer.write(b"HTTP/1.1 204 X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    settings = Settings(calls=Options(timeout=timedelta(seconds=0.1)))
    async with await asyncio.start_server(answer, HOST, 0) as server:
        url = f"http://{HOST}:{server.sockets[0].getsockname()[1]}/"
        patient = SinkSettings(name="patient", url=url, timeout=timedelta(seconds=30))
        sinks = [patient, SinkSettings(name="usual", url=url)]
        async with aclosing(Sinks(sinks, settings)) as all_of_them:
            outcomes = await all_of_them.deliver(CloudEvent("1", "test", "done"))
    assert [one.fault and one.fault.code for one in outcomes] == [None, "Timeout"]


async def test_attempts_end_where_the_sink_says_so(bench: Bench, topic: str) -> None:
    async with receiver([500, 503, 500]) as (url, got):
        with pytest.raises(RunEnded, match="503"):
            await produced(bench, topic, SinkSettings(name="one", url=url, max_attempts=2))
    assert len(got) == 2


async def test_an_event_that_no_sink_takes_is_logged_once(
    bench: Bench, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    """For all events of the instance."""
    await produced(bench, topic, ROUTED)
    assert [record.getMessage() for record in caplog.records if "no sink" in record.getMessage()] == [
        f"no sink takes the event of type 'made-{topic}' that it produces"
    ]
