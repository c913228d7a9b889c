"""The paths of SonataFlow's instances, on a real server; and what instances keep of the requests that start them."""

import asyncio
import time
from datetime import timedelta
from typing import Any

import httpx
import pytest

from swf_temporal.base.errors import CallFailed
from swf_temporal.http.gateway import sonataflow
from swf_temporal.operations import instances
from swf_temporal.operations.client import Client
from swf_temporal.settings.http import Operation, Tenant
from tests.temporal.conftest import Bench, named, until
from tests.temporal.test_gateway import CALCULATION, WAITING, event, problem, refuses, send, served, working

APPROVAL = """
metadata: {compensateOnCancel: true}
functions:
- {name: prepare, type: custom, operation: prepare}
- {name: release, type: custom, operation: release}
events:
- {name: Decided, type: decided, source: desk, correlation: [{contextAttributeName: order}]}
states:
- name: Prepare
  type: operation
  actions: [{functionRef: prepare, actionDataFilter: {toStateData: .prepared}}]
  compensatedBy: Release
  transition: Wait
- name: Wait
  type: event
  onEvents: [{eventRefs: [Decided], eventDataFilter: {toStateData: .decision}}]
  end: true
- name: Release
  type: operation
  usedForCompensation: true
  actions: [{functionRef: release}]
"""

CALLING = """
functions: [{name: call, type: custom, operation: call}]
states:
- {name: Call, type: operation, actions: [{functionRef: call, actionDataFilter: {toStateData: .answer}}], end: true}
"""

SLEEPING = """
states:
- {name: Begin, type: inject, data: {begun: true}, transition: Sleep}
- {name: Sleep, type: sleep, duration: PT10M, end: true}
"""

OUTER = """
states:
- {name: Inner, type: operation, actions: [{subFlowRef: INNER}], end: true}
"""


async def listed(client: httpx.AsyncClient, path: str, ids: set[str]) -> list[dict[str, Any]]:
    """Return what is listed at *path* once that are the instances with these *ids*: the server's list lags behind."""
    answer = await until(lambda: client.get(path), lambda one: {row["id"] for row in one.json()} == ids)
    return list(answer.json())


DOUBLING = """
events: [{name: Go, type: go, source: desk}]
states:
- {name: Twice, type: inject, data: {}, stateDataFilter: {output: "${ {a: .x, b: .x} }"}, transition: Wait}
- {name: Wait, type: event, onEvents: [{eventRefs: [Go]}], end: true}
"""


async def test_a_change_that_took_effect_is_answered_so(bench: Bench) -> None:
    """Even if the data is then too large to be shown; after the end, it follows from the history."""
    doubling, large = named(DOUBLING), "x" * 900_000
    async with bench.worker(doubling) as worker, served(bench, [doubling], worker.queue, sonataflow_api=True) as client:
        begun = await client.post(f"/{doubling.id}", json={"x": large})
        at = begun.headers["location"]
        first, second = [await client.patch(at, json={name: large}) for name in "cd"]
        aborted = await client.delete(at)
    assert (first.status_code, second.status_code, aborted.status_code) == (200, 200, 200)
    assert second.json() == {"id": begun.json()["id"], "workflowdata": None}
    assert aborted.json()["workflowdata"].keys() == set("abcd")


async def test_a_client_that_knew_sonataflow(bench: Bench) -> None:
    """It starts instances, looks at them, sends one its event, and aborts another one."""
    approval, released = named(APPROVAL), []
    functions = {"prepare": "ready", "release": lambda _: released.append(1)}
    async with working(bench, approval, sonataflow_api=True, functions=functions) as (client, _):
        path = f"/{approval.id}"
        first = await client.post(path, params={"businessKey": "order 1"}, json={"workflowdata": {"item": "mouse"}})
        other = await client.post(path, json={"item": "cat"})
        none = await client.post(path)
        beside = {"workflowdata": {"item": "dog"}, "id": "7", "item": "bird"}
        wrapped = await client.post(path, params={"businessKey": ""}, json=beside)
        keyless = await client.get(f"/instances/{wrapped.json()['id']}")
        await client.delete(wrapped.headers["location"])
        shown = await client.get(first.headers["location"])
        known = await client.get(f"/instances/{first.json()['id']}")
        rows = await listed(client, path, {one.json()["id"] for one in (first, other, none)})
        limited = (await client.get(path, params={"limit": 1})).json()
        patched = await client.patch(first.headers["location"], json={"item": "rat"})
        aborted = await client.delete(other.headers["location"])
        missing = [await client.get(other.headers["location"]), await client.delete(other.headers["location"])]
        for number in range(2):  # of the two that are left, each takes one
            await send(client, event("decided", "desk", order=str(number), data="yes"))
        gone = await until(lambda: client.get(first.headers["location"]), lambda one: one.status_code != 200)
        output = (await client.get(f"/instances/{first.json()['id']}/result", params={"wait": 30})).json()["output"]
        schema = (await client.get(f"{path}/schema")).json()
    assert (first.status_code, other.status_code, none.status_code) == (201, 201, 201)
    assert first.headers["location"] == f"{path}/{first.json()['id']}"
    assert first.json()["workflowdata"] == {"item": "mouse", "prepared": "ready"}
    assert none.json()["workflowdata"] == {"prepared": "ready"}
    assert (wrapped.status_code, wrapped.json()["workflowdata"]) == (201, {"item": "dog", "prepared": "ready"})
    assert "businessKey" not in keyless.json()
    assert (shown.status_code, shown.json()) == (200, first.json())
    assert known.json()["businessKey"] == "order 1"
    assert sorted(rows, key=lambda one: one["id"]) == sorted(
        (one.json() for one in (first, other, none)), key=lambda one: one["id"]
    )
    assert len(limited) == 1
    assert patched.json() == {"id": first.json()["id"], "workflowdata": {"item": "rat", "prepared": "ready"}}
    assert (aborted.status_code, aborted.json()) == (200, other.json())
    assert released == [1, 1]
    assert [problem(one) for one in missing] == [(404, "unknown-instance")] * 2
    assert problem(gone) == (404, "unknown-instance")
    assert output == {"item": "rat", "prepared": "ready", "decision": "yes"}
    assert schema == {}


async def test_what_is_waited_for(bench: Bench) -> None:
    """The end, or a wait for an event or a moment, also in a sub-workflow; a call is none, however long it takes."""
    calculation, sleeping, waiting, calling = named(CALCULATION), named(SLEEPING), named(WAITING), named(CALLING)
    outer = named(OUTER.replace("INNER", waiting.id))
    ready = asyncio.Event()

    async def call(_: Any) -> str:
        await ready.wait()
        return "done"

    definitions = (calculation, sleeping, waiting, calling, outer)
    async with working(bench, *definitions, sonataflow_api=True, functions={"call": call}) as (client, _):
        ended = await client.post(f"/{calculation.id}", json={"n": 21})
        gone = await client.get(ended.headers["location"])
        began = time.monotonic()
        sleeps = await client.post(f"/{sleeping.id}", json={"n": 1})
        inner_waits = await client.post(f"/{outer.id}", json={"n": 2})
        took = time.monotonic() - began
        impatient = await client.post(f"/{calling.id}", json={"n": 3}, params={"wait": 1})
        starting = asyncio.create_task(client.post(f"/{calling.id}", json={"n": 4}))
        await asyncio.sleep(0.5)
        has_answered = starting.done()
        ready.set()
        called = await starting
        await refuses((404, "unknown-instance", client.get(f"/{waiting.id}/{sleeps.json()['id']}")))
        for one in (sleeps, inner_waits):
            await client.delete(one.headers["location"])
    assert (ended.status_code, ended.json()["workflowdata"]) == (201, {"n": 21, "doubled": 42})
    assert problem(gone) == (404, "unknown-instance")
    assert (sleeps.status_code, sleeps.json()["workflowdata"]) == (201, {"n": 1, "begun": True})
    assert (inner_waits.status_code, inner_waits.json()["workflowdata"]) == (201, {"n": 2})
    assert took < 50  # and not as long as a request may wait
    assert (impatient.status_code, impatient.json()["workflowdata"]) == (201, {"n": 3})
    assert not has_answered
    assert (called.status_code, called.json()["workflowdata"]) == (201, {"n": 4, "answer": "done"})


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (CallFailed("there is no such order", code=404, status=404), 404),
        (CallFailed("it was changed", code=412, status=412), 412),
        (CallFailed("please wait", code=429, status=429), 500),
        (CallFailed("it broke"), 500),
    ],
)
async def test_a_call_that_failed(bench: Bench, fault: CallFailed, status: int) -> None:
    """Its status is that of the answer, if it is one of some, and otherwise 500; the instance is named."""
    calling = named(CALLING)

    def call(_: Any) -> Any:
        raise fault

    async with working(bench, calling, sonataflow_api=True, functions={"call": call}) as (client, _):
        failed = await client.post(f"/{calling.id}", json={})
        result = (await client.get(f"/instances/{failed.json()['id']}/result")).json()
    assert problem(failed) == (status, "instance-failed")
    assert failed.json()["message"] == fault.message
    assert result["status"] == "failed"


async def test_data_that_is_wrong(bench: Bench) -> None:
    """Is answered with 400: before an instance is started if it does not match the schema, else with that instance."""
    calculation = named(CALCULATION)
    loose = named(CALCULATION.replace("required: [n]", "required: []"))
    async with working(bench, calculation, loose, sonataflow_api=True) as (client, _):
        unfit = await client.post(f"/{calculation.id}", json={"n": "x"})
        failed = await client.post(f"/{loose.id}", json={})
        from_node = await client.post(f"/{loose.id}", json={"n": 1}, headers={"X-KOGITO-StartFromNode": "7"})
        schema = (await client.get(f"/{calculation.id}/schema")).json()
    assert problem(unfit) == (400, "unfit-input")
    assert "id" not in unfit.json()
    assert problem(failed) == (400, "instance-failed")
    assert failed.json()["id"].startswith(loose.id)
    assert problem(from_node) == (501, "not-supported")
    assert schema == calculation.input_schema


async def test_no_worker(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told that the instance was started, and where it is; in a list it has no data."""
    for module in (instances, sonataflow):
        monkeypatch.setattr(module, "PATIENCE", timedelta(seconds=1))
    calculation = named(CALCULATION)
    async with served(bench, [calculation], sonataflow_api=True, max_wait=1) as client:
        unanswered = await client.post(f"/{calculation.id}", json={"n": 1})
        location = unanswered.headers["location"]
        [row] = await listed(client, f"/{calculation.id}", {location.rpartition("/")[2]})
        await client.post(f"/instances/{row['id']}/terminate")
    assert problem(unanswered) == (503, "no-worker")
    assert "retry-after" not in unanswered.headers
    assert unanswered.json()["hint"] == f"the instance '{row['id']}' was started: GET {location}"
    assert row["workflowdata"] is None


async def test_paths_of_the_gateway_come_first(bench: Bench) -> None:
    calculation = named(CALCULATION)
    events = named(CALCULATION, "events")
    async with working(bench, calculation, events, sonataflow_api=True) as (client, _):
        await refuses(
            (415, "no-event", client.post("/events", json={"n": 1})),
            (404, "unknown-definition", client.get("/elsewhere")),
            (405, "unknown-method", client.put(f"/{calculation.id}", json={})),
        )
        started = await client.post("/workflows/events", json={"n": 1}, params={"wait": 30})
        assert started.json()["status"] == "completed"
        described = (await client.get("/openapi.json")).json()
    async with served(bench, [calculation]) as client:
        await refuses(
            (404, "unknown-path", client.post(f"/{calculation.id}", json={"n": 1})),
            (404, "unknown-path", client.get(f"/{calculation.id}/1")),
        )
        without = (await client.get("/openapi.json")).json()
    further = described["paths"].keys() - without["paths"].keys() - {"/workflows/events"}
    assert further == {"/{id}", "/{id}/schema", "/{id}/{instance}"}
    schemas, those_without = (one["components"]["schemas"].keys() for one in (described, without))
    assert schemas - those_without == {"Input.events", "WorkflowData"}


async def test_tenants_have_what_is_theirs(bench: Bench) -> None:
    """Others learn neither of definitions nor of instances, and what a key is not for is refused."""
    waiting, other = named(WAITING), named(WAITING)
    tenants = {
        "shop": Tenant(workflows=(waiting.id,), keys=("shop-key-0123456789",)),
        "bank": Tenant(workflows=(other.id,), keys=("bank-key-0123456789",), operations=frozenset([Operation.READ])),
    }
    shop, bank = {"X-API-Key": "shop-key-0123456789"}, {"X-API-Key": "bank-key-0123456789"}
    async with working(bench, waiting, other, sonataflow_api=True, tenants=tenants) as (client, _):
        started = await client.post(f"/{waiting.id}", headers=shop)
        assert started.status_code == 201
        path = started.headers["location"]
        of_other = path.replace(waiting.id, other.id, 1)
        await refuses(
            (401, "unauthenticated", client.post(f"/{waiting.id}")),
            (403, "not-permitted", client.get(f"/{waiting.id}", headers=bank)),
            (403, "not-permitted", client.get(path, headers=bank)),
            (404, "unknown-instance", client.get(of_other, headers=bank)),
            (403, "not-permitted", client.post(f"/{other.id}", headers=bank)),
            (403, "not-permitted", client.delete(of_other, headers=bank)),
        )
        assert (await client.delete(path, headers=shop)).status_code == 200


async def test_what_an_instance_keeps_of_its_request(bench: Bench) -> None:
    """The headers that are listed, by the names as they are listed, and who sent it; nothing of one without any."""
    calculation = named(CALCULATION)
    tenants = {"shop": Tenant(workflows=("*",), keys=("shop-key-0123456789",))}
    headers = [("x-team", "a"), ("X-Team", "b"), ("X-Other", "c"), ("X-API-Key", "shop-key-0123456789")]
    kept = {"kept_headers": ("X-TEAM", "X-Absent"), "sonataflow_api": True}
    memos = []
    async with bench.worker(calculation) as worker:
        async with served(bench, [calculation], worker.queue, tenants=tenants, **kept) as client:
            for path in (f"/{calculation.id}?businessKey=k", f"/workflows/{calculation.id}"):
                started = await client.post(path, json={"n": 1}, headers=headers)
                memos.append(await _memo(bench, started.json()["id"]))
        async with served(bench, [calculation], worker.queue, **kept) as client:
            started = await client.post(f"/workflows/{calculation.id}", json={"n": 1})
            memos.append(await _memo(bench, started.json()["id"]))
    of_request = {"headers": {"X-TEAM": "a,b"}, "identity": "shop"}
    assert memos == [of_request | {"businessKey": "k"}, of_request, {}]


async def _memo(bench: Bench, instance: str) -> dict[str, Any]:
    return dict(await (await Client.of(bench.server).instance(instance).handle.describe()).memo())
