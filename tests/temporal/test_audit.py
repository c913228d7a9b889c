"""The audit trail: who did what to an instance, on its page, by the gateway and by a command."""

import html
import re
from pathlib import Path

from swf_temporal.operations.audit import MAX_ENTRIES, AuditTrail, audit_trail
from swf_temporal.operations.client import Client
from swf_temporal.operations.instances import execution_of
from swf_temporal.operations.rerunning import plan_rerun, plan_retry
from swf_temporal.temporal.pausing import pause
from tests.temporal.conftest import Bench, named, reset
from tests.temporal.conftest import until as until_it
from tests.temporal.test_console import APPROVAL, post, until
from tests.temporal.test_gateway_reruns import failed
from tests.temporal.test_identity import BANK, INPUT, READER, SHOP, shared

LONG = """
events: [{name: Some, type: some, source: shop}]
states:
- {name: Wait, type: switch, eventConditions: [{eventRef: Some, transition: Wait}], defaultCondition: {end: true},
   timeouts: {eventTimeout: P1D}}
"""


async def entries(client: Client, instance: str, run: str | None = None) -> list[tuple[str, str, str]]:
    execution = await (
        execution_of(client, instance)
        if run is None
        else client.temporal.get_workflow_handle(instance, run_id=run).describe()
    )
    return [(one.what, one.by, one.detail) for one in (await audit_trail(client, execution)).entries]


async def test_a_page_says_who_did_what(bench: Bench, tmp_path: Path) -> None:
    """All that was done to an instance is on its page, while it is open and once it has ended, as plain text."""
    async with shared(bench, tmp_path) as (client, worker, token):
        started = await client.post(f"/workflows/{worker.definitions[0].id}", json=INPUT, headers=token("ann"))
        instance = started.json()["id"]
        path = f"/console/instances/{instance}"
        await worker.awaiting(bench.client.get_workflow_handle(instance), "Approved")
        hostile = token("<b onclick=x>bob</b>\n")
        await client.patch(f"/{worker.definitions[0].id}/{instance}", json={"n": 1}, headers=hostile)
        await client.post(f"/instances/{instance}/pause", json={"reason": "lunch"}, headers={"X-API-Key": SHOP})
        await client.post(f"/instances/{instance}/resume", headers={"X-API-Key": SHOP})
        await client.post("/console/login", data={"key": token("cyd")["Authorization"].partition(" ")[2]})
        shown = await until(client, path, "Cancel…")
        await post(client, f"{path}/cancel", shown, reason="<i>twice</i>")
        raw = (await client.get(path)).text
        page = await until(client, path, '<span class="status cancelled">')
        trail = (await client.get(f"/instances/{instance}/audit", headers={"X-API-Key": READER})).json()
        foreign = await client.get(f"/instances/{instance}/audit", headers={"X-API-Key": BANK})
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", one) for one in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)]
    told = [tuple(one[1:]) for one in rows if len(one) == 4]
    assert told[:1] == [("cancellation requested", "shop/cyd", "<i>twice</i>")]
    assert told[1:3] == [("resumed", "shop:SHOP_KEY", ""), ("paused", "shop:SHOP_KEY", "lunch")]
    assert told[3][:2] == ("data changed", trail["entries"][1]["by"])
    assert told[4:] == [("started", "shop/ann", "")]
    assert "<i>twice" not in raw
    assert "<b onclick" not in raw
    assert html.escape("<i>twice</i>") in raw
    assert [one["what"] for one in trail["entries"]] == [one[0] for one in reversed(told)]
    assert foreign.status_code == 404


async def test_runs_that_follow(bench: Bench) -> None:
    """A retry and a rerun are of those who asked for them, in the run that they began; so is a reset."""
    async with failed(bench) as (*_, handle):
        client = Client(bench.client)
        plan = await plan_retry(client.acting_as("ann"), handle.id)
        retried = await plan.begin(client.acting_as("ann"))
        await bench.client.get_workflow_handle(handle.id).result()
        plan = await plan_rerun(client, handle.id, "First", "first")
        rerun = await plan.begin(client.acting_as("bob"))
        await bench.client.get_workflow_handle(handle.id).result()
        first = await entries(client, handle.id, handle.result_run_id)
        runs = [await entries(client, handle.id, one) for one in (retried, rerun)]
    assert [one[0] for one in first] == ["started", "event"]
    assert first[1][2] == "go"
    assert runs[0] == [("retried", "ann", "")]
    assert runs[1][:1] == [("run again from First/first", "bob", "")]


async def test_one_that_runs(bench: Bench) -> None:
    """The run that a rerun ends says that; its own runs say who asked for that."""
    mine = named(APPROVAL)
    client = Client(bench.client).acting_as("ann")
    async with bench.worker(mine) as worker:
        handle = await worker.start_awaiting("Approved", INPUT)
        plan = await plan_rerun(client, handle.id, "Prepare")
        await plan.begin(client)
        ended = await entries(client, handle.id, handle.result_run_id)
        begun = await entries(client, handle.id)
        await bench.client.get_workflow_handle(handle.id).terminate()
    assert ended[1:] == [("terminated", "", "another run began")]
    assert begun == [("run again from Prepare", "ann", "")]


async def test_a_reset(bench: Bench) -> None:
    mine = named(APPROVAL)
    client = Client(bench.client)
    async with bench.worker(mine) as worker:
        handle = await worker.start(INPUT)
        await worker.awaiting(handle, "Approved")
        await reset(handle, bench.client, identity="cyd", reason="once again")
        told = await entries(client, handle.id)
        await bench.client.get_workflow_handle(handle.id).terminate()
    assert told[0][:2] == ("started", bench.client.identity)
    assert told[1][:2] == ("reset", "")
    assert "again" in told[1][2]


async def test_only_what_is_new_is_read(bench: Bench) -> None:
    """A trail that is known is continued, whatever was before; it has so many entries at most."""
    long = named(LONG)
    client = Client(bench.client)
    async with bench.worker(long) as worker:
        handle = await worker.start({})
        for number in range(3):
            await client.acting_as(f"p{number}").instance(handle.id).send_event({"name": "Some"}, wait=False)

        async def trail(*before: AuditTrail) -> AuditTrail:
            return await audit_trail(client, await execution_of(client, handle.id), *before)

        # A signal that comes within a workflow task is in the history once that has ended.
        known = await until_it(trail, lambda one: len(one.entries) == 4)
        same = await trail(known)
        await pause(client.acting_as("ann").temporal, handle.id, "enough")
        more = await until_it(lambda: trail(known), lambda one: len(one.entries) == 5)
        whole = await trail()
        for _ in range(MAX_ENTRIES):
            await client.instance(handle.id).send_event({"name": "Some"}, wait=False)
        full = await until_it(trail, lambda one: len(one.entries) == MAX_ENTRIES)
        await handle.terminate()
    assert [one.what for one in known.entries] == ["started", "event", "event", "event"]
    assert [one.by for one in known.entries[1:]] == ["p0", "p1", "p2"]
    assert same.entries == known.entries
    assert [*known.entries, more.entries[-1]] == more.entries == list(whole.entries)
    assert (more.entries[-1].what, more.entries[-1].by, more.entries[-1].detail) == ("paused", "ann", "enough")
    assert len(full.entries) == MAX_ENTRIES
    assert full.entries[0].what == "event"


async def test_a_history_that_is_gone(bench: Bench) -> None:
    """Where the server has forgotten a run, nothing is known of it."""
    mine = named(APPROVAL)
    client = Client(bench.client)
    async with bench.worker(mine) as worker:
        handle = await worker.start(INPUT)
        execution = await execution_of(client, handle.id)
        execution.run_id = "00000000-0000-0000-0000-000000000000"
        assert (await audit_trail(client, execution)).entries == []
        await handle.terminate()
