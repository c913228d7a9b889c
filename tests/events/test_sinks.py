"""Where produced events go: to receivers, brokers and the router; each once, whatever fails beside it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from swf_temporal.app.client import Client
from swf_temporal.app.event_sending import send
from swf_temporal.app.worker import Worker
from swf_temporal.cloud_event import CloudEvent
from swf_temporal.events.settings import ROUTER, BrokerAddress, EventSettings, SinkSettings
from swf_temporal.functions.operator.network import Network
from swf_temporal.functions.operator.settings import Settings
from swf_temporal.languages.port import Definition
from swf_temporal.loading import load
from tests.temporal.conftest import Bench
from tests.temporal.test_event_starts import output

pytestmark = pytest.mark.temporal
ROUTED = SinkSettings("router", BrokerAddress(ROUTER))

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
    """Run a worker whose instances' events go to *sinks*."""
    queue = f"sinks-{definitions[0].id}"
    worker = Worker(
        Client(bench.client),
        definitions=definitions,
        task_queue=queue,
        call_settings=Settings(network=Network()),
        events=EventSettings(sinks=sinks),
    )
    async with worker:
        yield worker


def named(text: str, name: str) -> Definition:
    """Return the definition in *text*, with ids and types of its own."""
    return load(text.replace("ID", name))


async def test_instances_talk_to_each_other(bench: Bench, topic: str) -> None:
    """What one produces starts another, whose answer the first one gets."""
    first, second = named(FIRST, topic), named(SECOND, topic)
    async with working(bench, first, second, sinks=(ROUTED,)) as worker:
        begun = CloudEvent("1", "test", f"begun-{topic}", None, {"question": "7"})
        queue = worker.settings.task_queue
        [receipt] = await send(worker.client, begun, worker.catalogue, queue)
        assert await output(bench, receipt.instance) == {"answer": 42}
