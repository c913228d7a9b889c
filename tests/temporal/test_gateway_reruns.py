"""Instances that go on from a state where they have been, by requests to the gateway."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from temporalio.client import Client as TemporalClient

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.operations import rerunning
from swf_temporal.operations.client import Client
from swf_temporal.operations.rerunning import plan_retry
from swf_temporal.settings.http import Operation, Tenant
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.restarting import RestartInput
from tests.temporal.building import awaits, consumed, operation
from tests.temporal.conftest import Bench, Running, calling, define, told_in
from tests.temporal.test_gateway import problem, refuses, result_of, served
from tests.temporal.test_rerunning import Calls, ended

DEFINITION = define(
    calling("First", "first"), awaits("Wait", "go"), calling("Last", "last"), functions=("first", "last"),
    events=consumed("go"), id="gone-on",
)  # fmt: skip
INNER = define(calling("Only", "last"), functions=("last",), id="inner")
OUTER = define(operation("Run", {"name": "inner", "subFlowRef": "inner"}), id="outer-of-inner")


@asynccontextmanager
async def failed(bench: Bench, **settings: Any) -> AsyncIterator[tuple[httpx.AsyncClient, Running, Calls, swf.Handle]]:
    """Serve an instance that has failed in its last state, whose function no longer fails."""
    calls = Calls("last")
    definitions = (DEFINITION, INNER, OUTER)
    async with (
        bench.worker(*definitions, **calls.functions("first", "last")) as worker,
        served(bench, definitions, worker.queue, **settings) as client,
    ):
        handle = await worker.start({})
        await swf.deliver(bench.client, handle.id, {"name": "go", "data": {"n": 1}})
        assert await ended(handle) is None
        calls.broken.clear()
        yield client, worker, calls, handle


async def test_one_that_failed_is_retried(bench: Bench) -> None:
    """It can be asked before what is done again; then it goes on once, and has not failed any longer."""
    async with failed(bench) as (client, _, calls, handle):
        path = f"/instances/{handle.id}"
        planned = await client.post(f"{path}/retry", params={"dryRun": "true"})
        assert calls.made == ["first", "last"]
        begun = await client.post(f"{path}/retry")
        outcome = await result_of(client, begun.headers["location"])
        again = await client.post(f"{path}/retry")
        shown = (await client.get(path)).json()
    facts = planned.json()
    assert (planned.status_code, facts["from"], facts["again"], facts["events"]) == (200, "Last", ["Last"], 0)
    assert facts["done"] == [{"id": "Last/last#1", "name": "last", "kind": "call", "outcome": "failed"}]
    assert (begun.status_code, begun.json()) == (202, facts | {"runId": shown["runId"]})
    assert outcome["output"] == {"first": 1, "n": 1, "last": 2}
    assert calls.made == ["first", "last", "last"]
    assert problem(again) == (409, "not-failed")
    assert again.json()["hint"].startswith("a rerun continues it")


@pytest.mark.parametrize("drops", [False, True], ids=["given again", "dropped"])
async def test_one_goes_on_from_a_state(bench: Bench, *, drops: bool) -> None:
    async with failed(bench) as (client, worker, calls, handle):
        path = f"/instances/{handle.id}"
        options = {"from": "First", "action": "first", "dropEvents": str(drops).lower()}
        begun = await client.post(f"{path}/rerun", params=options)
        if drops:
            await worker.awaiting(worker.bench.handle(handle), "go")
            await swf.deliver(bench.client, handle.id, {"name": "go", "data": {"n": 2}})
        outcome = await result_of(client, path)
    assert (begun.status_code, begun.json()["action"], begun.json()["events"]) == (202, "first", 1)
    assert outcome["output"] == {"first": 2, "n": 2 if drops else 1, "last": 2}
    assert calls.made == ["first", "last", "first", "last"]


async def test_what_is_refused(bench: Bench) -> None:
    async with failed(bench) as (client, worker, calls, handle):
        calls.broken = {"last"}
        outer = await worker.start({}, definition=2)
        assert await ended(outer) is None
        inner = await _inner(bench, outer.id)
        path = f"/instances/{handle.id}"
        await refuses(
            (404, "unknown-instance", client.post("/instances/nobody/retry")),
            (400, "bad-parameter", client.post(f"{path}/rerun")),
            (400, "bad-parameter", client.post(f"{path}/rerun", params={"from": "Last", "dryRun": "yes"})),
            (422, "sub-workflow", client.post(f"/instances/{quote(inner, safe='')}/retry")),
        )
        for wrong, hint in (({"from": "last"}, "'Last'"), ({"from": "Last", "action": "lsat"}, "'last'")):
            refused = await client.post(f"{path}/rerun", params=wrong)
            assert problem(refused) == (422, "never-there")
            assert refused.json()["hint"] == f"did you mean {hint}?"


async def _inner(bench: Bench, outer: str) -> str:
    [started] = await told_in(bench.handle(outer), "child_workflow_execution_started")
    return str(started.workflow_execution.workflow_id)


async def test_tenants(bench: Bench) -> None:
    """It takes an operation of its own; the instances of another tenant are not there."""
    keys = {name: f"{name}-key-0123456789" for name in ("ender", "other", "mine")}
    tenants = {
        "ender": Tenant(workflows=("*",), operations=frozenset(Operation) - {Operation.RERUN}, keys=(keys["ender"],)),
        "other": Tenant(workflows=("else",), keys=(keys["other"],)),
        "mine": Tenant(workflows=("gone-on",), operations=frozenset({Operation.RERUN}), keys=(keys["mine"],)),
    }
    async with failed(bench, tenants=tenants) as (client, *_, handle):
        ender, other, mine = (
            client.post(f"/instances/{handle.id}/retry", params={"dryRun": "true"}, headers={"X-API-Key": key})
            for key in keys.values()
        )
        await refuses((403, "not-permitted", ender), (404, "unknown-instance", other))
        assert (await mine).status_code == 200


async def test_side_by_side(bench: Bench) -> None:
    """The history of one instance may be followed several times at once, and it goes on once."""
    async with failed(bench) as (client, _, calls, handle):
        path = f"/instances/{handle.id}/retry"
        planned = await asyncio.gather(*(client.post(path, params={"dryRun": "true"}) for _ in range(5)))
        plans = [await plan_retry(Client(bench.client), handle.id) for _ in range(2)]
        await plans[0].begin(Client(bench.client))
        with pytest.raises(UsageError, match="has continued meanwhile"):
            await plans[1].begin(Client(bench.client))
        output = await ended(bench.handle(handle))
    assert [one.status_code for one in planned] == [200] * 5
    assert calls.made.count("last") == 2
    assert output is not None


async def test_one_that_is_left_halfway(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is cancelled once the server has been asked leaves an instance that has all of its events."""
    async with failed(bench) as (_, worker, _, handle):
        plan = await rerunning.plan_rerun(Client(bench.client), handle.id, "Wait")
        starting, start = asyncio.Event(), RestartInput.start

        async def slow(one: RestartInput, client: TemporalClient, workflow_id: str) -> str:
            starting.set()
            await asyncio.sleep(0.2)
            return await start(one, client, workflow_id)

        monkeypatch.setattr(RestartInput, "start", slow)
        beginning = asyncio.ensure_future(plan.begin(Client(bench.client)))
        await starting.wait()
        beginning.cancel()
        with pytest.raises(asyncio.CancelledError):
            await beginning
        output = await ended(worker.bench.handle(handle))
    assert output == {"first": 1, "n": 1, "last": 2}


async def test_with_other_data(bench: Bench) -> None:
    """A patch in the body changes the data with which it enters the state; any other body is refused."""
    async with failed(bench) as (client, _, calls, handle):
        path, query = f"/instances/{handle.id}/rerun", {"from": "Last"}
        bodies: list[JSON] = [[1], {"data": 1}, {"patch": {}}]
        wrong = [await client.post(path, params=query, json=one) for one in bodies]
        plan = await client.post(path, params=query | {"dryRun": "true"}, json={"data": {"n": 2}})
        begun = await client.post(path, params=query, json={"data": {"n": 2, "first": None}})
        output = await ended(bench.handle(handle, begun.json()["runId"]))
    assert [problem(one) for one in wrong] == [(422, "bad-body")] * 3
    assert (plan.status_code, plan.json()["data"]) == (200, {"n": 2})
    assert begun.status_code == 202
    assert output == {"n": 2, "last": 2}
    assert calls.made.count("first") == 1
