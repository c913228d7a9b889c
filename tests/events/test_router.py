"""What becomes of events that the router sends: to a server that is away, and in chains that end."""

import asyncio
import logging
from dataclasses import replace

import pytest

from swf_temporal.base.client_errors import ServerUnavailableError
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import CallFailed
from swf_temporal.events.consumers.consumer import NeverError, NotNowError
from swf_temporal.events.routing import HOPS
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.operations.client import Client
from swf_temporal.operations.event_sending import send
from swf_temporal.sdk.event_router import Router
from swf_temporal.sdk.worker import Worker
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import EventSettings
from swf_temporal.settings.network import Network
from swf_temporal.temporal.server import local_server
from tests.events.test_consumers import events_of, order
from tests.events.test_sinks import ROUTED, named
from tests.failing import fault_of
from tests.temporal.conftest import Bench, listed

pytestmark = pytest.mark.temporal


async def test_a_server_that_is_away_is_asked_again() -> None:
    """An event that is too large is refused for good; one that the server could not be given is tried again."""
    catalogue = Catalogue([order()])
    placed = events_of("a")[0]
    async with local_server() as server:
        router = Router(Client(server.client), catalogue, "nobody")
        assert await router.take(placed) == 1
        assert await router.take(CloudEvent("1", "shop", "unheard-of")) == 0
        catalogue.unreadable = "definitions is not a folder"
        assert await router.take(placed) == 1
        with pytest.raises(NotNowError, match="definitions is not a folder"):
            await router.take(CloudEvent("1", "shop", "unheard-of"))
        catalogue.unreadable = None
        with pytest.raises(NeverError, match=r"too large|bytes"):
            await router.take(CloudEvent("1", "shop", "placed", "x" * 3_000_000, {"order": "7"}))
    away, undelivered, unconnected = await asyncio.gather(
        router.take(placed),
        fault_of(router.deliver(placed), retryable=True),
        Client.connect(server.client.service_client.config.target_host),
        return_exceptions=True,
    )
    assert isinstance(away, NotNowError)
    assert isinstance(undelivered, CallFailed)
    assert isinstance(away.__cause__, ServerUnavailableError)
    assert isinstance(unconnected, ServerUnavailableError)


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
