"""An instance is all of its runs: what is shown of it begins with the first, and each can be opened by itself."""

import html
import re
from collections.abc import Sequence
from datetime import timedelta

import httpx
import pytest
from temporalio.service import RPCError

from swf_temporal.operations import instances
from swf_temporal.operations.client import Client
from swf_temporal.operations.instance_history import list_runs
from swf_temporal.operations.instances import facts_of, view_instance
from swf_temporal.operations.pictures import runs_of_instance
from swf_temporal.operations.rerunning import plan_rerun, plan_retry
from swf_temporal.settings.http import Tenant
from swf_temporal.temporal import continuing
from tests.temporal.building import awaits, consumed, inject
from tests.temporal.conftest import Bench, calling, define, reset
from tests.temporal.test_console import page
from tests.temporal.test_gateway import served
from tests.temporal.test_rerunning import Calls, ended

WAIT = awaits("Wait", "go")
DEFINITION = define(
    inject("Begin"), WAIT, calling("Call", "first"), functions=("first",), events=consumed("go"), id="has-many-runs"
)
KEY, OTHER = "a-key-of-the-shop-0001", "a-key-of-the-bank-0002"
TENANTS = {
    "shop": Tenant(keys=(KEY,), workflows=(DEFINITION.id,)),
    "bank": Tenant(keys=(OTHER,), workflows=("other-of-runs",)),
}


@pytest.fixture(autouse=True)
def _answers_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait no longer for a worker that is not there."""
    monkeypatch.setattr(instances, "PATIENCE", timedelta(seconds=1))


async def test_its_start_is_that_of_its_first_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """So it is for status, the gateway, and the console, as in the graph; the console has a page of each run."""
    monkeypatch.setattr(continuing, "MAX_SIGNALS", 1)
    calls, client = Calls("first"), Client(bench.client)
    async with bench.worker(DEFINITION, **calls.functions("first")) as worker:
        old = await worker.start({}, workflow_id="many-runs")
        await worker.awaiting(old, "go")
        await old.terminate()
        handle = await worker.start({}, workflow_id="many-runs")
        await worker.awaiting(handle, "go")
        began = (await handle.describe()).start_time
        await handle.signal("go", {})
        assert await ended(handle) is None
        calls.broken.clear()
        for planned in (plan_retry(client, handle.id), plan_rerun(client, handle.id, "Call")):
            run = await (await planned).begin(client)
            assert await ended(bench.handle(handle, run)) is not None
        await ended(await reset(bench.handle(handle), bench.client))
        foreign = await worker.start({})
    runs = [one async for one in list_runs(client, handle.id)]
    [drawn] = await runs_of_instance(client, handle.id)
    async with served(bench, [DEFINITION], console=True, tenants=TENANTS) as web:
        await web.post("/console/login", data={"key": KEY})
        shown = html.unescape(await page(web, "/console/instances/many-runs"))
        pages = [await _run(web, one.described.run_id) for one in runs]
        strange = [await _run(web, one) for one in (old.first_execution_run_id, foreign.first_execution_run_id, "x")]
        asked = await web.get("/instances/many-runs", headers={"Authorization": f"Bearer {KEY}"})
        await web.post("/console/login", data={"key": OTHER})
        hidden = [await _run(web, one.described.run_id) for one in runs]
    await foreign.terminate()
    assert [one.why for one in runs] == ["reset", "run again from Call", "retried", "continued as new", "started"]
    assert runs[-1].described.run_id == handle.first_execution_run_id
    started = (await facts_of(client, handle.id))["started"]
    assert began is not None
    assert drawn.course.began is not None
    assert abs((drawn.course.began - began).total_seconds()) < 1
    assert asked.json()["started"] == started == began.isoformat(timespec="milliseconds")
    assert f"started {began:%Y-%m-%d %H:%M:%S}" in shown
    assert re.findall(r"\?run=([-\w]+)", shown) == [one.described.run_id for one in runs]
    assert [one.status_code for one in pages] == [200] * 5
    assert [_entered(one) for one in pages] == [["Call"], ["Call"], [], ["Call"], ["Begin", "Wait"]]
    assert all("<svg" in one.text for one in pages)
    assert [one.status_code for one in (*strange, *hidden)] == [404] * 8


async def _run(web: httpx.AsyncClient, run: str | None) -> httpx.Response:
    return await web.get("/console/instances/many-runs", params={"run": run or ""})


def _entered(shown: httpx.Response) -> Sequence[str]:
    return re.findall(r"state entered</span> <span>(\w+)", shown.text)[::-1]


@pytest.mark.parametrize("has_pending", [False, True])
async def test_a_closed_one_is_answered_without_a_worker(bench: Bench, *, has_pending: bool) -> None:
    """Also if a workflow task was to be done when it was terminated: what no worker has done has not happened."""
    client = Client(bench.client)
    async with bench.worker(DEFINITION) as worker:
        handle = await worker.start({})
        await worker.awaiting(handle, "go")
    if has_pending:
        await handle.signal("go", {})
    open_ = await facts_of(client, handle.id, with_trace=True)
    await handle.terminate("enough")
    facts = await facts_of(client, handle.id, with_trace=True)
    view = await view_instance(client, handle.id)
    with pytest.raises(RPCError):  # no worker is there to be asked
        await handle.query("status", rpc_timeout=timedelta(milliseconds=300))
    assert (facts["status"], facts["state"], "note" in facts) == ("terminated", "Wait", False)
    assert [one["events"][0]["name"] for one in facts["awaiting"]] == ["go"]
    assert [one["kind"] for one in facts["trace"]][-1] == "event-awaited"
    assert (view.status, view.trace) == ("terminated", facts["trace"])
    assert (open_["state"], open_["trace"]) == ("Wait", facts["trace"])
    assert open_["note"] == "no worker is currently responding: its history shows where it is"
