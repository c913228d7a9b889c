"""Instances that start each other by the events that they produce: a chain of them ends."""

import asyncio
import logging
from dataclasses import replace

import pytest

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.consumers.port import NeverError
from swf_temporal.events.routing import HOPS
from swf_temporal.operations.client import Client
from swf_temporal.operations.event_sending import send
from swf_temporal.sdk.event_router import Router
from swf_temporal.sdk.worker import Worker
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import EventSettings
from swf_temporal.settings.network import Network
from tests.events.test_sinks import ROUTED, named
from tests.temporal.conftest import Bench, listed

pytestmark = pytest.mark.temporal

AGAIN = """
id: ID
version: '1.0'
specVersion: '0.8'
start: Wait
events:
- {name: Came, type: came-ID, source: s, CORRELATION}
- {name: Again, type: came-ID, source: s, kind: produced}
states:
- name: Wait
  type: event
  onEvents: [{eventRefs: [Came]}]
  end: {produceEvents: [{eventRef: Again, contextAttributes: {key: '7'}}]}
"""

AGAIN_IN_DIREKTIV = """
id: /ID
start: {type: event, event: {type: came-ID}}
states: [{id: a, type: generateEvent, event: {type: came-ID, source: s}}]
"""


@pytest.mark.parametrize("text", [
    AGAIN.replace(", CORRELATION", ""),
    AGAIN.replace("CORRELATION", "correlation: [{contextAttributeName: key}]"),
    AGAIN_IN_DIREKTIV,
], ids=["each event an instance", "one key", "direktiv"])  # fmt: skip
async def test_a_chain_ends(bench: Bench, topic: str, text: str, caplog: pytest.LogCaptureFixture) -> None:
    """The event at its end starts nothing, and the log says so; those who send it are told."""
    definition = named(text, topic)
    worker = Worker(
        Client(bench.client), definitions=[definition], task_queue=f"chain-{topic}",
        call_settings=Settings(network=Network()), events=EventSettings(sinks=(ROUTED,), max_hops=3),
    )  # fmt: skip
    event = CloudEvent("1", "s", f"came-{topic}", None, {"key": "7"})
    with caplog.at_level(logging.ERROR, "swf.events"):
        async with worker, asyncio.timeout(60):
            await send(worker.client, event, worker.catalogue, worker.settings.task_queue)
            while "after a chain of 3" not in caplog.text:
                await asyncio.sleep(0.05)
            query = f"WorkflowType = '{definition.id}'"
            await listed(bench.client, f"{query} AND ExecutionStatus = 'Completed'", 3)
            assert (await bench.client.count_workflows(query)).count == 3
    last = replace(event, id="2", attributes={"key": "7", HOPS: "3"})
    router = Router(worker.client, worker.catalogue, "nobody", max_hops=3)
    with pytest.raises(NeverError, match="chain of 3"):
        await router.take(last)
    assert not await router.deliver(last)
    assert await router.take(replace(last, attributes={"key": "7", HOPS: "2"})) == 1
