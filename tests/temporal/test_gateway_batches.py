"""Batches of events at the gateway, a server that dies while one is sent, and one that stalls."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import UsageError
from swf_temporal.http.gateway.answers import Taken
from swf_temporal.http.gateway.events import Batch, answer_of
from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.http.gateway.serving import gateway
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.settings.http import GatewaySettings
from swf_temporal.settings.values import Address
from swf_temporal.temporal.server import local_server
from tests.cli.conftest import free_port
from tests.proxying import Proxy, proxying
from tests.temporal.conftest import Bench, Measured, listed, measured_at, named, until, until_ready
from tests.temporal.test_event_starts import ORDER
from tests.temporal.test_gateway import event, problem, send, served

pytestmark = pytest.mark.temporal

ORDERS, REPEATED = 25, 10
"""Enough events that a server dies before it has them all, for instances that are quickly run."""


def events(*names: str) -> list[CloudEvent]:
    return [CloudEvent(name, "s", "t") for name in names]


async def test_events_of_one_lane_keep_their_order() -> None:
    log: list[str] = []
    others_are_done = asyncio.Event()

    async def work(one: CloudEvent) -> Taken:
        if one.id == "a1":
            await others_are_done.wait()
        log.append(one.id)
        if one.id == "b2":
            others_are_done.set()
        return answer_of(one, "accepted")

    batch = Batch(events("a1", "a2", "b1", "b2", "ab"), work)
    lanes = [frozenset(text) for text in ("a", "a", "b", "b", "ab")]
    assert [one["event"]["id"] for one in await batch.answers(lanes)] == ["a1", "a2", "b1", "b2", "ab"]
    assert log == ["b1", "b2", "a1", "a2", "ab"]


async def test_after_one_that_is_refused_none_is_sent() -> None:
    """Those in other lanes that were under way are taken; each event is told of."""
    log: list[str] = []

    async def work(one: CloudEvent) -> Taken:
        log.append(one.id)
        if one.id == "a1":
            raise UsageError("no")
        return answer_of(one, "accepted")

    batch = Batch(events("b1", "a1", "a2", "c1"), work)
    with pytest.raises(Refused) as refused:
        await batch.answers([frozenset(text) for text in ("b", "a", "a", "b")])
    assert log == ["b1", "a1"]
    assert refused.value.facts["index"] == 1
    assert [one["status"] for one in refused.value.facts["events"]] == ["accepted", *["not-taken"] * 3]


@asynccontextmanager
async def serving(
    definition: Definition, port: int, database: Path
) -> AsyncIterator[tuple[httpx.AsyncClient, Measured]]:
    """Serve a gateway for the server at *port*, which need not stay there; yield a client, and what is counted."""
    async with local_server(port=port, database=database):
        measured = await measured_at(f"127.0.0.1:{port}")
    clients: dict[str | None, Client] = {None: Client(measured.client)}
    settings = GatewaySettings(address=Address("127.0.0.1", 0), task_queue="batches")
    async with (
        gateway(settings, Catalogue([definition]), clients, "") as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=120) as client,
    ):
        yield client, measured


@pytest.mark.timeout(300)
async def test_a_server_that_dies_within_a_batch(tmp_path: Path) -> None:
    """The answer tells of each event whether it was taken; the batch sent again, nothing is lost and nothing double."""
    orders, port, database = named(ORDER), free_port(), tmp_path / "db"
    batch = REPEATED * [
        event(type_, source, order=str(number), data=number)
        for type_, source in (("placed", "shop"), ("paid", "bank"))
        for number in range(ORDERS)
    ]
    async with serving(orders, port, database) as (client, measured):
        async with local_server(port=port, database=database):
            sending = asyncio.create_task(send(client, batch))
            await until(lambda: len(measured.counted("swf_gateway_events")) >= 10)
        broken = await sending
        assert problem(broken) == (503, "unavailable")
        told = broken.json()
        assert [one["event"]["id"] for one in told["events"]] == [one["id"] for one in batch]
        statuses = [one["status"] for one in told["events"]]
        assert statuses[told["index"]] == "not-taken"
        assert 10 <= statuses.count("accepted") < len(batch)

        async with local_server(port=port, database=database) as server:
            answer = await send(client, batch)
            while answer.status_code == 503:  # the connection comes back by and by
                await asyncio.sleep(int(answer.headers["retry-after"]))
                answer = await send(client, batch)
            assert answer.status_code == 202, answer.text
            bench = Bench(server)
            async with bench.worker(orders, queue="batches"):
                await listed(server.client, f"WorkflowType = '{orders.id}' AND ExecutionStatus = 'Completed'", ORDERS)
                found = [one async for one in server.client.list_workflows(f"WorkflowType = '{orders.id}'")]
                outputs = [await server.client.get_workflow_handle(one.id).result() for one in found]
    assert sorted(one["placed"] for one in outputs) == sorted(one["paid"] for one in outputs) == list(range(ORDERS))
    assert all(one["placed"] == one["paid"] for one in outputs)


async def test_what_is_too_large_is_told(bench: Bench) -> None:
    definition = named(ORDER.replace(", correlation: [{contextAttributeName: order}]", ""))
    async with served(bench, [definition]) as client:
        refused = await send(client, [event("placed", "shop", data="x" * 2_200_000)])
    assert problem(refused) == (413, "too-large")
    assert refused.json()["detail"].startswith("an event and the definitions of 2,2")


MEDIA = {
    "/events": "application/cloudevents+json",
    "/instances/x": "application/json",
    "/workflows/stalled": "application/json",
}

STALLED = load("""
id: stalled
version: '1.0'
specVersion: '0.8'
events: [{name: Placed, type: placed, source: shop}]
states: [{name: Wait, type: event, onEvents: [{eventRefs: [Placed]}], end: true}]
""")


@asynccontextmanager
async def stalling(bench: Bench) -> AsyncIterator[tuple[httpx.AsyncClient, Proxy]]:
    """Yield a client of a gateway, and the proxy between that and the server."""
    with proxying(int(bench.client.service_client.config.target_host.rpartition(":")[2])) as proxy:
        client = await Client.connect(proxy.address)
        settings = GatewaySettings(address=Address("127.0.0.1", 0))
        async with (
            gateway(settings, Catalogue([STALLED]), {None: client}, "") as url,
            httpx.AsyncClient(base_url=url, trust_env=False, timeout=60, limits=httpx.Limits()) as asking,
        ):
            await until_ready(asking)
            yield asking, proxy


def requests_at_work() -> int:
    """Return for how many requests the gateway, which is in this process, works."""
    coroutines = [str(task.get_coro()) for task in asyncio.all_tasks()]
    return sum("Gateway._worked" in one for one in coroutines)


async def test_requests_whose_client_has_left_end(bench: Bench) -> None:
    """Of those that read a body and those that have none; and whether it is ready is answered soon."""
    async with stalling(bench) as (client, proxy):
        proxy.stall()
        asked = [
            asyncio.create_task(client.get("/instances/x")),
            asyncio.create_task(client.post("/workflows/stalled", json={})),
        ]
        async with asyncio.timeout(10):
            await until(lambda: requests_at_work() >= len(asked))
            ready = await client.get("/readyz")
            for one in asked:
                one.cancel()
            await until(lambda: not requests_at_work())
    assert ready.status_code == 503


async def status_of(port: int, path: str, body: bytes | None) -> bytes:
    """Return the status of an answer, asked for over a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {MEDIA[path]}\r\n"
    writer.write(f"{head}Content-Length: {len(body or b'')}\r\n\r\n".encode() + (body or b""))
    status = (await reader.readline()).split(b" ")[1]
    writer.close()
    return status


@pytest.mark.long
async def test_many_requests_in_a_stall(bench: Bench) -> None:
    """Each is answered within the time that the page says, and a probe meanwhile."""
    async with stalling(bench) as (client, proxy):
        proxy.stall()
        port = client.base_url.port
        assert port is not None
        began = time.monotonic()
        sent = []
        for number in range(150):
            event = {"specversion": "1.0", "source": "shop", "type": "placed", "id": str(number)}
            for path, body in zip(MEDIA, (json.dumps(event).encode(), None, b"{}"), strict=True):
                sent.append(asyncio.create_task(status_of(port, path, body)))
        await asyncio.sleep(1)
        probed = time.monotonic()
        assert (await client.get("/readyz")).status_code == 503
        assert time.monotonic() - probed < 10
        assert set(await asyncio.gather(*sent)) == {b"503"}
        assert time.monotonic() - began < 24
