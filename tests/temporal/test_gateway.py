"""The gateway over real sockets, on a real server: events, instances, tenants, and what is refused."""

import asyncio
import json
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cloudevents.v1.conversion import to_binary, to_structured
from cloudevents.v1.http import CloudEvent as FormerEvent
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from temporalio.client import WorkflowExecutionStatus

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.consumers.consumer import NotNowError
from swf_temporal.http.gateway.serving import gateway
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.sdk.asgi_server import asgi_server
from swf_temporal.sdk.definitions import catalogue_of
from swf_temporal.sdk.event_router import Router
from swf_temporal.sdk.rereading import RereadCatalogue
from swf_temporal.settings.forms import Rate
from swf_temporal.settings.http import GatewaySettings, Operation, Tenant
from swf_temporal.settings.values import Address
from swf_temporal.temporal.server import local_server
from tests.temporal.conftest import Bench, Measured, Running, named, until, until_ready
from tests.temporal.test_event_starts import ORDER

pytestmark = pytest.mark.temporal

_NUMBERS = count(1)
STRUCTURED = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"

CALCULATION = """
dataInputSchema:
  schema: {type: object, properties: {n: {$ref: '#/definitions/n'}}, required: [n], definitions: {n: {type: integer}}}
states:
- {name: Double, type: inject, data: {doubled: '${ 2 * .n }'}, end: true}
"""

WAITING = """
events: [{name: Paid, type: paid, source: bank}]
states:
- {name: Begin, type: inject, data: {}, transition: Wait}
- {name: Wait, type: event, onEvents: [{eventRefs: [Paid], eventDataFilter: {toStateData: .paid}}], end: true}
"""

FAILING = """
functions: [{name: f, type: custom, operation: f}]
states:
- {name: Fail, type: foreach, inputCollection: '${ .none }', iterationParam: x, actions: [{functionRef: f}], end: true}
"""


def event(type_: str, source: str, identifier: str | None = None, **rest: Any) -> dict[str, Any]:
    id_ = identifier or f"{type_}-{next(_NUMBERS)}"
    return {"specversion": "1.0", "id": id_, "source": source, "type": type_, **rest}


@asynccontextmanager
async def served(
    bench: Bench, definitions: Sequence[Definition] | Catalogue, queue: str = "gateway-nobody", **settings: Any
) -> AsyncIterator[httpx.AsyncClient]:
    address = Address("127.0.0.1", 0)
    chosen = GatewaySettings(address=address, task_queue=queue, **settings)
    catalogue = definitions if isinstance(definitions, Catalogue) else Catalogue(definitions)
    async with (
        gateway(chosen, catalogue, {None: Client.of(bench.server)}, "") as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as client,
    ):
        yield client


@asynccontextmanager
async def working(
    bench: Bench, *definitions: Definition, functions: Mapping[str, Any] | None = None, **settings: Any
) -> AsyncIterator[tuple[httpx.AsyncClient, Running]]:
    """Serve *definitions*, with a worker that runs their instances; yield a client and the worker."""
    async with (
        bench.worker(*definitions, **(functions or {})) as worker,
        served(bench, definitions, worker.queue, **settings) as client,
    ):
        yield client, worker


async def send(client: httpx.AsyncClient, sent: Any, path: str = "/events", **headers: str) -> httpx.Response:
    media = BATCH if isinstance(sent, list) else STRUCTURED
    return await client.post(path, content=json.dumps(sent), headers={"Content-Type": media, **headers})


def problem(answer: httpx.Response) -> tuple[int, str]:
    """Return the status and the code of a refusal, which says what it is to programs and people."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    told = answer.json()
    assert told["status"] == answer.status_code
    assert told["detail"]
    return answer.status_code, told["code"]


async def refuses(*asked: tuple[int, str, Awaitable[httpx.Response]]) -> None:
    """Make requests one after the other, and check that each is refused with its status and code."""
    for status, code, asking in asked:
        assert problem(await asking) == (status, code)


async def result_of(client: httpx.AsyncClient, location: str) -> dict[str, Any]:
    answer = await client.get(f"{location}/result", params={"wait": 30})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def test_an_event_starts_an_instance_and_another_ends_it(bench: Bench) -> None:
    """In binary and structured mode; sent again, before and after the end, they have no effect."""
    orders = named(ORDER)
    paid = event("paid", "bank", order="42", data={"amount": 38})
    headers = {"ce-specversion": "1.0", "ce-id": "e-1", "ce-source": "shop", "ce-type": "placed", "ce-order": "42"}
    async with working(bench, orders) as (client, _):
        for _ in range(2):
            placed = await client.put("/events", json={"item": "mouse"}, headers=headers)
            assert (placed.status_code, placed.json()["receipts"][0]["definition"]) == (202, orders.id)
        assert (await send(client, paid)).status_code == 202
        location = placed.headers["location"]
        told = await result_of(client, location)
        for again in (client.put("/events", json={"item": "mouse"}, headers=headers), send(client, paid)):
            assert (await again).status_code == 202
        shown = (await client.get(location)).json()
    assert (told["status"], told["output"]) == ("completed", {"placed": {"item": "mouse"}, "paid": {"amount": 38}})
    assert (shown["status"], shown["definition"]) == ("completed", orders.id)


async def test_events_in_a_batch_and_out_of_order(bench: Bench) -> None:
    """The payment comes before the order, in one request with events of another order, and one that nobody takes."""
    sent = [
        event("paid", "bank", order="1", data=1), event("unknown", "shop"), event("placed", "shop", order="2", data=2),
        event("placed", "shop", order="1", data=3), event("paid", "bank", order="2", data=4),
    ]  # fmt: skip
    async with working(bench, named(ORDER)) as (client, _):
        answer = await send(client, sent)
        told = answer.json()["events"]
        assert answer.status_code == 202
        assert [one["status"] for one in told] == ["accepted", "ignored", "accepted", "accepted", "accepted"]
        assert [one["event"]["id"] for one in told] == [one["id"] for one in sent]
        for index, output in ((3, {"placed": 3, "paid": 1}), (4, {"placed": 2, "paid": 4})):
            assert (await result_of(client, f"/instances/{told[index]['receipts'][0]['instance']}"))["output"] == output


async def test_what_nobody_takes_is_not_to_be_sent_again(bench: Bench) -> None:
    """It is answered with 200, since Temporal has nothing of it, and with why each definition does not take it."""
    orders = named(ORDER)
    async with served(bench, [orders]) as client:
        for one, reason in (
            (event("plcaed", "shop", order="1"), "its type is 'plcaed'"),
            (event("placed", "market", order="1"), "its source is"),
            (event("placed", "shop"), "it lacks"),
        ):
            answer = await send(client, one)
            told = answer.json()
            assert (answer.status_code, told["status"], told["receipts"]) == (200, "ignored", [])
            assert any(one["reason"].startswith(reason) and one["definition"] == orders.id for one in told["reasons"])
        chained = await send(client, event("placed", "shop", order="1", swfhops=100))
        nothing = await send(client, [])
    assert (nothing.status_code, nothing.json()) == (200, {"events": []})
    told = chained.json()
    assert (chained.status_code, told["status"], told["receipts"][0]["status"]) == (200, "ignored", "stopped")
    assert [one["definition"] for one in told["reasons"] if "a chain of 100" in one["reason"]] == [orders.id]


async def test_an_instance_is_started_with_its_input(bench: Bench) -> None:
    """And waited for; what does not fit its schema is refused at once, and so is what is no JSON."""
    calculation = named(CALCULATION)
    path = f"/workflows/{calculation.id}"
    async with working(bench, calculation) as (client, _):
        for preferences in (
            [("Prefer", "respond-async, wait=30")],
            [("Prefer", one) for one in ("respond-async", "wait=30")],
        ):
            waited = await client.post(path, json={"n": 21}, headers=preferences)
            assert (waited.status_code, waited.json()["output"]) == (200, {"n": 21, "doubled": 42})
        left = await client.post(path, json={"n": 1})
        started = left.json()
        assert left.status_code == 202
        assert started == {"id": started["id"], "definition": calculation.id, "status": "running"}
        assert (await result_of(client, left.headers["location"]))["output"]["doubled"] == 2
        assert (await client.get(f"{path}/schemas/input")).json() == calculation.input_schema
        await refuses(
            (422, "unfit-input", client.post(path, json={"n": "x"})),
            (422, "unfit-input", client.post(path)),
            (400, "no-json", client.post(path, content="{", headers={"Content-Type": "application/json"})),
            (415, "no-json", client.post(path, content="a", headers={"Content-Type": "text/plain"})),
            (404, "unknown-definition", client.post(path, json={"n": 1}, params={"version": "9"})),
            (400, "bad-parameter", client.post(path, json={"n": 1}, params={"wait": "soon"})),
            (400, "bad-parameter", client.post(path, json={"n": 1}, params={"id": "swf-events:x"})),
            (404, "unknown-definition", client.post("/workflows/unknown", json={})),
        )


async def test_a_start_can_be_repeated(bench: Bench) -> None:
    """By a key it starts one instance, also after that has ended; by an id it is told that it was started before."""
    calculation, waiting = named(CALCULATION), named(WAITING)
    key, chosen = {"Idempotency-Key": "k-1"}, {"id": f"chosen-{waiting.id}"}
    of_calculation, of_waiting = f"/workflows/{calculation.id}", f"/workflows/{waiting.id}"
    with_id = f"{of_waiting}?id=both-{waiting.id}"
    async with working(bench, calculation, waiting) as (client, _):
        first, again = [
            await client.post(of_calculation, json={"n": 1}, headers=key, params={"wait": 30}) for _ in range(2)
        ]
        assert first.json() == again.json()
        started = await client.post(of_waiting, params=chosen)
        refused = await client.post(of_waiting, params=chosen)
        assert started.json()["id"] == chosen["id"]
        assert problem(refused) == (409, "already-started")
        assert refused.headers["location"] == started.headers["location"]
        assert [(await client.post(with_id, headers=key)).status_code for _ in range(2)] == [202, 202]
        await refuses(
            (409, "already-started", client.post(of_calculation, json={"n": 1}, params=chosen, headers=key)),
            (409, "already-started", client.post(of_waiting, params=chosen, headers=key)),
            (409, "already-started", client.post(with_id, headers={"Idempotency-Key": "k-2"})),
        )
        await client.post(f"{started.headers['location']}/terminate", json={"reason": "over"})
        assert (await result_of(client, started.headers["location"]))["status"] == "terminated"


async def test_events_for_one_instance(bench: Bench) -> None:
    """Are answered by it: one that it never takes is refused at once, and one that comes after its end, too."""
    waiting = named(WAITING)
    async with working(bench, waiting) as (client, _):
        path = (await client.post(f"/workflows/{waiting.id}")).headers["location"]
        paid = event("paid", "bank", data=5)
        await refuses((422, "never-taken", send(client, event("refunded", "bank"), f"{path}/events")))
        taken = await send(client, paid, f"{path}/events")
        assert (taken.status_code, taken.json()["status"]) == (202, "taken")
        assert (await result_of(client, path))["output"] == {"paid": 5}
        await refuses(
            (409, "instance-ended", send(client, event("paid", "bank"), f"{path}/events")),
            (404, "unknown-instance", send(client, paid, "/instances/nobody/events")),
        )


async def test_an_instance_without_room_keeps_an_event_from_no_other() -> None:
    """Others get it, and it is to be sent again: by clients, and by consumers of brokers."""
    most, waiting = 5, named(WAITING)
    limit = ("--dynamic-config-value", f"history.maximumSignalsPerExecution={most}")
    async with local_server(extra=limit) as server, working(Bench(server), waiting) as (client, worker):
        other, full = [(await client.post(f"/workflows/{waiting.id}")).json()["id"] for _ in range(2)]
        for number in range(most):
            await server.client.get_workflow_handle(full).signal("unknown", number)
        await until(lambda: server.client.count_workflows(f"WorkflowType = '{waiting.id}'"), lambda one: one.count >= 2)
        refused = await send(client, event("paid", "bank", "p-1"))
        told = await result_of(client, f"/instances/{other}")
        router = Router(Client.of(server), Catalogue([waiting]), worker.queue)
        with pytest.raises(NotNowError, match=full):
            await router.take(CloudEvent("p-2", "bank", "paid"))
    assert (problem(refused), refused.headers["retry-after"]) == ((429, "no-room"), "5")
    assert told["status"] == "completed"


async def test_a_batch_that_is_not_taken_to_its_end(bench: Bench) -> None:
    orders = named(ORDER)
    async with working(bench, orders) as (client, _):
        path = (await client.post(f"/workflows/{orders.id}")).headers["location"]
        sent = [event("paid", "bank", order="1"), event("refunded", "bank"), event("paid", "bank", order="2")]
        refused = await send(client, sent, f"{path}/events")
        again = await send(client, sent[:1], f"{path}/events")
    assert problem(refused) == (422, "never-taken")
    told = refused.json()
    assert (told["index"], told["event"]["id"]) == (1, sent[1]["id"])
    assert [one["status"] for one in told["events"]] == ["kept", "not-taken", "not-taken"]
    assert again.json()["events"][0]["status"] == "duplicate"


async def test_an_instance_that_is_about_to_start(bench: Bench) -> None:
    """A link from the answer to an event can be followed at once, though a worker has yet to start its instance."""
    waiting = named(WAITING)
    path = f"/instances/{waiting.id}-soon"

    async def start_late(client: httpx.AsyncClient) -> httpx.Response:
        await asyncio.sleep(0.3)
        return await client.post(f"/workflows/{waiting.id}", params={"id": f"{waiting.id}-soon"})

    async with working(bench, waiting) as (client, _):
        seen, result, started = await asyncio.gather(client.get(path), client.get(f"{path}/result"), start_late(client))
        cancelled = await client.post(f"{path}/cancel")
    assert started.status_code == 202
    assert (seen.status_code, seen.json()["definition"]) == (200, waiting.id)
    assert (result.status_code, result.json()["status"]) == (202, "running")
    assert cancelled.status_code == 202


async def test_how_instances_end(bench: Bench) -> None:
    waiting, failing = named(WAITING), named(FAILING)
    async with working(bench, waiting, failing) as (client, _):
        failed = await client.post(f"/workflows/{failing.id}", params={"wait": 30})
        told = failed.json()
        assert (failed.status_code, told["status"], told["error"]["name"]) == (200, "failed", "WrongData")
        path = (await client.post(f"/workflows/{waiting.id}")).headers["location"]
        running = await client.get(f"{path}/result")
        assert (running.status_code, running.json()["status"]) == (202, "running")
        assert (await client.post(f"{path}/cancel")).status_code == 202
        assert (await result_of(client, path))["status"] == "cancelled"
        await refuses(
            (409, "instance-ended", client.post(f"{path}/cancel")),
            (400, "bad-parameter", client.get("/instances", params={"status": "over"})),
        )
        of_it = {"definition": waiting.id, "status": "cancelled"}  # the server's list lags a little behind
        listed = await until(lambda: client.get("/instances", params=of_it), lambda one: one.json()["instances"])
        assert [one["definition"] for one in listed.json()["instances"]] == [waiting.id]


async def test_pausing(bench: Bench) -> None:
    """An instance is paused once, and resumed once; a key that may not end instances may not pause them, either."""
    waiting = named(WAITING)
    key, reader, other = (f"{name}-key-0123456789" for name in ("our", "reader", "other"))
    tenants = {
        "us": Tenant(workflows=(waiting.id,), keys=(key,)),
        "reader": Tenant(workflows=(waiting.id,), keys=(reader,), operations=frozenset([Operation.READ])),
        "other": Tenant(workflows=("other",), keys=(other,)),
    }
    ours, reads, foreign = ({"X-API-Key": one} for one in (key, reader, other))
    async with working(bench, waiting, tenants=tenants) as (client, _):
        path = (await client.post(f"/workflows/{waiting.id}", headers=ours)).headers["location"]
        await refuses(
            (403, "not-permitted", client.post(f"{path}/pause", headers=reads)),
            (404, "unknown-instance", client.post(f"{path}/pause", headers=foreign)),
            (422, "bad-body", client.post(f"{path}/pause", headers=ours, json={"reason": 1})),
        )
        paused = await client.post(f"{path}/pause", headers=ours, json={"reason": "stocktaking"})
        shown = (await client.get(path, headers=ours)).json()
        await refuses((409, "pause-conflict", client.post(f"{path}/pause", headers=ours)))
        resumed = await client.post(f"{path}/resume", headers=ours)
        await refuses((409, "pause-conflict", client.post(f"{path}/resume", headers=ours)))
        assert (await client.post(f"{path}/terminate", headers=ours)).status_code == 202
        await refuses((409, "instance-ended", client.post(f"{path}/pause", headers=ours)))
    assert (paused.status_code, resumed.status_code) == (202, 202)
    assert (shown["status"], shown["paused"]["by"], shown["paused"]["reason"]) == ("paused", "us", "stocktaking")


async def test_a_server_that_cannot_pause() -> None:
    waiting = named(WAITING)
    async with local_server(as_installed=True) as server:
        catalogue, address = Catalogue([waiting]), Address("127.0.0.1", 0)
        settings = GatewaySettings(address=address, task_queue="nobody")
        async with (
            gateway(settings, catalogue, {None: Client.of(server)}, "") as url,
            httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as client,
        ):
            path = (await client.post(f"/workflows/{waiting.id}")).headers["location"]
            refused = await client.post(f"{path}/pause")
    assert problem(refused) == (501, "not-supported")
    assert "frontend.WorkflowPauseEnabled" in refused.json()["hint"]


async def test_tenants_see_what_is_theirs(bench: Bench) -> None:
    """By their keys: definitions, sources of events and operations; what is another's is not there."""
    ours, theirs = named(ORDER), named(WAITING)
    our_key, their_key, reader = (f"{name}-key-0123456789" for name in ("our", "their", "reader"))
    tenants = {
        "us": Tenant(workflows=(ours.id,), sources=("shop", "ban*"), keys=(our_key, f"{our_key}-next")),
        "them": Tenant(workflows=(theirs.id,), keys=(their_key,)),
        "reader": Tenant(workflows=("named-*",), operations=frozenset([Operation.READ]), keys=(reader,)),
    }
    placed, elsewhere = event("placed", "shop", order="7"), event("placed", "market", order="7")
    we, they, one_reads = ({"Authorization": f"Bearer {key}"} for key in (our_key, their_key, reader))
    async with working(bench, ours, theirs, tenants=tenants) as (client, _):
        for headers in ({}, {"Authorization": "Bearer our-key-012345678"}):
            answer = await send(client, placed, **headers)
            assert problem(answer) == (401, "unauthenticated")
            assert answer.headers["www-authenticate"] == "Bearer"
        accepted = await send(client, placed, **{"X-API-Key": f"{our_key}-next"})
        assert accepted.status_code == 202
        location = accepted.headers["location"]
        mixed = await send(client, [placed, elsewhere], **we)
        assert problem(mixed) == (403, "not-permitted")
        assert [one["index"] for one in mixed.json()["errors"]] == [1]
        await refuses(
            (403, "not-permitted", send(client, elsewhere, **we)),
            (403, "not-permitted", client.post(f"/workflows/{theirs.id}", headers=we)),
            (403, "not-permitted", client.post("/workflows/nowhere", headers=we)),
            (403, "not-permitted", client.post(f"{location}/cancel", headers=one_reads)),
            (404, "unknown-definition", client.get("/workflows/named-0", headers=one_reads)),
            (404, "unknown-instance", client.get(location, headers=they)),
        )
        assert (await client.get(location, headers=one_reads)).json()["definition"] == ours.id
        ignored = await send(client, placed, **they)
        assert (ignored.json()["status"], ours.id in ignored.text) == ("ignored", False)
        assert [one["id"] for one in (await client.get("/workflows", headers=we)).json()["workflows"]] == [ours.id]
        description = await client.get("/openapi.json", headers=we)
        assert f"/workflows/{ours.id}" in description.json()["paths"]
        assert theirs.id not in description.text


async def test_limits(bench: Bench) -> None:
    """Of bytes, of events in a batch, and of requests: refused, and nothing of it taken."""
    orders, key = named(ORDER), {"X-API-Key": "a-key-of-16-chars"}
    one = event("placed", "shop", order="1")
    limits: dict[str, Any] = {"max_bytes": 1000, "max_batch_bytes": 2000, "max_batch": 3}
    async with served(bench, [orders], **limits) as client:
        await refuses(
            (413, "too-large", send(client, {**one, "data": "x" * 1000})),
            (
                413,
                "too-large",
                client.post("/events", content=_chunks(b"x" * 1500), headers={"Content-Type": STRUCTURED}),
            ),
            (413, "too-many-events", send(client, [one] * 4)),
            (415, "content-encoding", send(client, one, **{"Content-Encoding": "gzip"})),
        )
        assert (await send(client, [{**one, "data": "x" * 1500}])).status_code == 202
    tenant = Tenant(workflows=("*",), keys=tuple(key.values()), rate=Rate(3, 3600))
    async with served(bench, [orders], tenants={"one": tenant}) as client:
        assert [(await client.get("/workflows", headers=key)).status_code for _ in range(2)] == [200, 200]
        for asking in (send(client, [one] * 2, **key), client.get("/workflows", headers=key)):
            answer = await asking
            assert problem(answer) == (429, "too-many-requests")
            assert int(answer.headers["retry-after"]) >= 1


async def test_a_request_to_two_hosts_is_refused(bench: Bench) -> None:
    async with served(bench, [named(ORDER)]) as client:
        reader, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
        writer.write(b"GET /workflows HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
        answer = await reader.readline()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 400 ")


async def test_requests_with_wrong_keys_count_for_themselves(bench: Bench) -> None:
    """They are refused with 429 beyond the gateway's rate, and take nothing from those who have a key."""
    key = "a-key-of-16-chars"
    tenant = Tenant(workflows=("*",), keys=(key,))
    async with served(bench, [named(ORDER)], tenants={"one": tenant}, rate=Rate(3, 3600)) as client:
        wrong = [await client.get("/workflows", headers={"X-API-Key": "another-key-of-16"}) for _ in range(4)]
        none = await client.get("/workflows")
        right = [await client.get("/workflows", headers={"X-API-Key": key}) for _ in range(4)]
    assert [one.status_code for one in (*wrong, none)] == [401, 401, 401, 429, 429]
    assert [one.status_code for one in right] == [200, 200, 200, 429]


async def test_a_batch_as_large_as_the_rate_is_taken_after_a_pause_and_a_larger_one_never(bench: Bench) -> None:
    key, one = {"X-API-Key": "a-key-of-16-chars"}, event("placed", "shop", order="1")
    tenant = Tenant(workflows=("*",), keys=tuple(key.values()), rate=Rate(4, 0.4))
    async with served(bench, [named(ORDER)], tenants={"one": tenant}) as client:
        await refuses((413, "too-many-events", send(client, [one] * 5, **key)))
        for _ in range(10):
            taken = await send(client, [one] * 4, **key)
            if taken.status_code != 429:
                break
            await asyncio.sleep(int(taken.headers["retry-after"]))
    assert taken.status_code == 202


async def _chunks(content: bytes) -> AsyncIterator[bytes]:
    yield content[:700]
    yield content[700:]


async def test_a_server_that_is_gone_is_told() -> None:
    """With 503 and when to try again, never with 202; it is alive then, and not ready."""
    orders = named(ORDER)
    async with AsyncExitStack() as stack:
        async with local_server() as server:
            clients: dict[str | None, Client] = {None: Client.of(server)}
            settings = GatewaySettings(address=Address("127.0.0.1", 0))
            url = await stack.enter_async_context(gateway(settings, Catalogue([orders]), clients, ""))
            client = httpx.AsyncClient(base_url=url, trust_env=False, timeout=60)
            await stack.enter_async_context(client)
            await until_ready(client)
        sent, read, alive, ready = await asyncio.gather(
            send(client, event("placed", "shop", order="1")), client.get("/instances/x"), client.get("/livez"),
            client.get("/readyz"),
        )  # fmt: skip
    for answer in (sent, read):
        assert problem(answer) == (503, "unavailable")
        assert int(answer.headers["retry-after"]) >= 1
    assert (alive.status_code, ready.status_code) == (200, 503)


async def test_definitions_that_could_not_be_read(bench: Bench, tmp_path: Path) -> None:
    """No event is told that nobody takes it, alone or in a batch; without any definition, the gateway is not ready."""
    folder = tmp_path / "definitions"
    folder.mkdir()
    catalogue = RereadCatalogue([folder], lambda known: catalogue_of([folder], known=known))
    async with served(bench, catalogue) as client:
        folder.rmdir()
        await catalogue.refresh()
        alone, batch = await send(client, event("placed", "shop")), await send(client, [event("placed", "shop")])
        unready = await client.get("/readyz")
        folder.mkdir()
        await catalogue.refresh()
        ignored = await send(client, event("placed", "shop"))
        await until_ready(client)
    assert (problem(alone), problem(batch)) == ((503, "definitions-unavailable"),) * 2
    assert alone.headers["Retry-After"] == "5"
    assert (ignored.status_code, ignored.json()["status"]) == (200, "ignored")
    assert unready.status_code == 503


async def test_each_event_is_counted(measured: Measured) -> None:
    orders = named(ORDER)
    async with served(measured, [orders]) as client:
        await send(client, [event("placed", "shop", order="1"), event("unknown", "shop")])
        await send(client, event("unknown", "shop"))
        await until_ready(client)
    assert sorted(measured.counted("swf_gateway_events", "status")) == [("accepted",), ("ignored",), ("ignored",)]
    requests = measured.counted("swf_gateway_request_duration", "operation", "status")
    assert requests == [("POST /events", "202"), ("POST /events", "200")]


async def test_pages_of_others_do_not_ask(bench: Bench) -> None:
    """Neither a page of another origin, nor one that has rebound its name to this machine."""
    waiting, page = named(WAITING), "https://shop.example.com"
    path = f"/workflows/{waiting.id}"
    async with served(bench, [waiting], origins=(page,)) as client:
        assert (await client.post(path, headers={"Origin": str(client.base_url)})).status_code == 202
        allowed = await client.post(path, headers={"Origin": page})
        assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (202, page)
        await refuses(
            (403, "foreign-page", client.post(path, headers={"Origin": "https://evil.example.com"})),
            (403, "foreign-page", client.post(path, headers={"Origin": "http://["})),
            (403, "foreign-page", client.post(path, headers={"Origin": "file://", "Host": ""})),
            (421, "foreign-host", client.post(path, headers={"Host": "evil.example.com"})),
            (421, "foreign-host", client.post(path, headers={"Host": "["})),
        )
        consent = await client.options("/events", headers={"WebHook-Request-Origin": "eventemitter.example.com"})
    assert consent.headers["webhook-allowed-origin"] == "eventemitter.example.com"


async def test_a_page_sends_events_with_attributes_of_its_own(bench: Bench) -> None:
    """A browser asks before it sends their headers, or those of a trace, and before a PUT: CORS."""
    page = "https://shop.example.com"
    headers = "ce-id, ce-orderid, content-type, prefer, traceparent"
    cases = [*((page, method, True) for method in ("POST", "PUT", "GET")), (page, "DELETE", False)]
    async with served(bench, [named(WAITING)], origins=(page,)) as client:
        for origin, method, may in (*cases, ("https://evil.example.com", "POST", False)):
            wanted = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers}
            answer = await client.options("/events", headers={"Origin": origin, **wanted})
            allowed = [answer.headers.get(f"access-control-allow-{one}") for one in ("headers", "origin")]
            assert ((answer.status_code, *allowed) == (200, headers, origin)) == may


async def test_paths_and_methods(bench: Bench) -> None:
    namespaced = named(CALCULATION, f"/billing/{os.getpid()} ü.yaml")
    path = f"/workflows/%2Fbilling%2F{os.getpid()}%20%C3%BC.yaml"
    async with working(bench, namespaced) as (client, worker):
        assert (await client.get(path)).json()["links"]["start"] == path
        started = (await client.post(path, json={"n": 2}, params={"wait": 30})).json()
        assert started["output"]["doubled"] == 4
        described = await worker.bench.handle(started["id"]).describe()
        assert described.status is WorkflowExecutionStatus.COMPLETED
        for asked, allowed in (("/livez", "GET, HEAD"), ("/docs", "GET, HEAD"), (path, "GET, HEAD, OPTIONS, POST")):
            answer = await client.request("DELETE" if asked == path else "POST", asked)
            assert problem(answer) == (405, "unknown-method")
            assert ", ".join(sorted(answer.headers["allow"].split(", "))) == allowed
        await refuses(
            (404, "unknown-path", client.get("/elsewhere")),
            (501, "unknown-method", client.request("PROPFIND", "/events")),
            (501, "unknown-method", client.request("PROPFIND", "/livez")),
            (404, "unknown-id", client.get("/workflows/%ff")),
        )


APPROVAL = """
events:
- name: Decided
  type: decided
  source: desk
  metadata: {dataSchema: {type: object, required: [approved], properties: {approved: {type: boolean}}}}
- {name: Withdrawn, type: withdrawn, source: desk}
states:
- {name: Begin, type: inject, data: {}, transition: Wait}
- name: Wait
  type: event
  onEvents:
  - {eventRefs: [Decided], eventDataFilter: {toStateData: .decision}}
  - {eventRefs: [Withdrawn], eventDataFilter: {toStateData: .decision}}
  end: true
"""


async def test_tasks(bench: Bench) -> None:
    """Are listed, shown with the schema of their data, and completed once, by data that fit."""
    approval, waiting = named(APPROVAL), named(WAITING)
    key, other = "the-key-of-people", "the-key-of-others"
    tenants = {
        "people": Tenant(workflows=(approval.id,), keys=(key,)),
        "others": Tenant(workflows=(waiting.id,), operations=frozenset([Operation.READ]), keys=(other,)),
    }
    async with working(bench, approval, waiting, tenants=tenants) as (client, worker):
        client.headers["X-API-Key"] = key
        instance = (await client.post(f"/workflows/{approval.id}")).json()["id"]
        await worker.awaiting(worker.bench.handle(instance), "Decided")
        path, decided = f"/tasks/{instance}", {"event": "Decided"}
        listed = await until(lambda: client.get("/tasks"), lambda one: one.json()["tasks"])  # the list lags behind
        assert {one["event"] for one in listed.json()["tasks"]} == {"Decided", "Withdrawn"}
        assert (await client.get(path, params=decided)).json()["schema"]["required"] == ["approved"]
        await refuses(
            (404, "no-task", client.get(path)),
            (422, "unfit-data", client.post(path, params=decided, json={"approved": "yes"})),
            (404, "no-task", client.post(path, params={"event": "Decidde"}, json={})),
            (403, "not-permitted", client.get("/tasks", headers={"X-API-Key": other})),
        )
        done = await client.post(path, params=decided, json={"approved": True})
        assert (done.status_code, done.json()["status"]) == (202, "taken")
        assert (await result_of(client, f"/instances/{instance}"))["output"] == {"decision": {"approved": True}}
        await refuses((404, "no-task", client.post(path, params=decided, json={"approved": True})))


async def test_the_page_needs_nothing_from_elsewhere(bench: Bench) -> None:
    """What it loads comes from the gateway, and its policy forbids all else; it is shown without a key."""
    tenant = Tenant(workflows=("*",), keys=("a-key-of-16-chars",))
    async with served(bench, [named(ORDER)], tenants={"one": tenant}) as client:
        page = await client.get("/", follow_redirects=True)
        loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        files = [await client.get(f"/{name}") for name in loaded if name != "data:,"]
        await refuses((401, "unauthenticated", client.get("/openapi.json")))
    assert {"default-src 'self'", "frame-ancestors 'none'"} <= {*page.headers["content-security-policy"].split("; ")}
    assert "://" not in page.text
    assert len(files) == 2
    assert all(one.status_code == 200 and len(one.content) > 10_000 for one in files)


async def test_tokens_of_an_issuer(bench: Bench) -> None:
    """A JWT is of the tenant whose claims it has; one of no tenant is refused, and so is one that does not count."""
    billing = named(WAITING)
    path = f"/workflows/{billing.id}"
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    jwk = {**jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": "1", "use": "sig"}

    async def keys(_: Request) -> Response:
        return JSONResponse({"keys": [jwk]})

    def token(**claims: Any) -> dict[str, str]:
        facts = {"aud": "gateway", "exp": time.time() + 60, **claims}
        return {"Authorization": f"Bearer {jwt.encode(facts, key, algorithm='RS256', headers={'kid': '1'})}"}

    reading = frozenset([Operation.READ])
    tenants = {
        "reading": Tenant(workflows=(billing.id,), operations=reading, claims={"scope": "workflows.read"}),
        "billing": Tenant(workflows=(billing.id,), claims={"groups": "billing", "aud": "gateway"}),
    }
    issuer = Starlette(routes=[Route("/jwks.json", keys)])
    async with asgi_server(issuer, Address("127.0.0.1", 0), "") as address:
        jwks = f"http://{address}/jwks.json"
        async with served(bench, [billing], tenants=tenants, jwks=jwks, audience="gateway") as client:
            started = await client.post(path, headers=token(groups=["people", "billing"], sub="ann"))
            assert started.status_code == 202
            assert await (await bench.handle(started.json()["id"]).describe()).memo() == {"identity": "ann"}
            assert (await client.get(path, headers=token(scope="openid workflows.read"))).status_code == 200
            await refuses(
                (403, "not-permitted", client.post(path, headers=token(scope="openid workflows.read"))),
                (403, "no-tenant", client.get(path, headers=token(groups=["people"]))),
                (401, "unauthenticated", client.get(path, headers=token(groups=["billing"], aud="shop"))),
                (401, "unauthenticated", client.get(path, headers=token(groups=["billing"], exp=time.time() - 60))),
            )
    nowhere = "http://127.0.0.1:1/jwks.json"
    async with served(bench, [billing], tenants=tenants, jwks=nowhere, audience="gateway") as client:
        await refuses((503, "unavailable", client.post(path, headers=token(groups=["billing"]))))


SOME = """
events: [{name: Some, type: com.example.someevent, source: '/mycontext/#'}]
states: [{name: Wait, type: event, onEvents: [{eventRefs: [Some], eventDataFilter: {toStateData: .got}}], end: true}]
"""


async def test_what_former_clients_of_cloudevents_send(bench: Bench) -> None:
    attributes = {"type": "com.example.someevent", "source": "/mycontext/1", "comexampleother": "5"}
    structured = {**attributes, "source": "/mycontext/ü 1", "comexampleother": "€ 5"}
    messages = [to_structured(FormerEvent(structured, {"n": 1})), to_binary(FormerEvent(attributes, {"n": 1}))]
    async with working(bench, named(SOME)) as (client, _):
        for headers, body in messages:
            answer = await client.post("/events", content=body, headers=headers)
            assert answer.status_code == 202, answer.text
            assert (await result_of(client, answer.headers["location"]))["output"] == {"got": {"n": 1}}
