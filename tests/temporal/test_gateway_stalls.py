"""What a gateway does while its server stalls: it answers in time, and works for nobody who has left."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from swf_temporal.http.gateway.serving import gateway
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.operations.client import Client
from swf_temporal.settings.http import GatewaySettings
from swf_temporal.settings.values import Address
from tests.proxying import Proxy, proxying
from tests.temporal.conftest import Bench, until, until_ready

MEDIA = {
    "/events": "application/cloudevents+json",
    "/instances/x": "application/json",
    "/workflows/stalled": "application/json",
}

DEFINITION = load("""
id: stalled
version: '1.0'
specVersion: '0.8'
events: [{name: Placed, type: placed, source: shop}]
states: [{name: Wait, type: event, onEvents: [{eventRefs: [Placed]}], end: true}]
""")


@asynccontextmanager
async def served(bench: Bench) -> AsyncIterator[tuple[httpx.AsyncClient, Proxy]]:
    """Yield a client of a gateway, and the proxy between that and the server."""
    with proxying(int(bench.client.service_client.config.target_host.rpartition(":")[2])) as proxy:
        client = await Client.connect(proxy.address)
        settings = GatewaySettings(address=Address("127.0.0.1", 0))
        async with (
            gateway(settings, Catalogue([DEFINITION]), {None: client}, "") as url,
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
    async with served(bench) as (client, proxy):
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
    async with served(bench) as (client, proxy):
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
