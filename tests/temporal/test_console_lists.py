"""The console's lists: what they show and find, how they refresh themselves, and actions on many instances."""

import asyncio
import html
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.operations import schedules
from swf_temporal.operations.client import Client
from swf_temporal.settings.forms import Rate
from swf_temporal.settings.http import Operation, Tenant
from swf_temporal.temporal.instance_part import OperatorOptions, OperatorOptionsInterceptor
from swf_temporal.temporal.schedules import schedule_id
from swf_temporal.temporal.search_attributes import needed_by, set_up
from swf_temporal.temporal.server import local_server
from swf_temporal.temporal.start_options import BUSINESS_KEY
from tests.temporal.building import awaits, inject
from tests.temporal.conftest import AT_ONCE, Bench, Running, calling, define, until
from tests.temporal.test_console import KEY, OTHER, page, post
from tests.temporal.test_gateway import served

pytestmark = pytest.mark.temporal

ON = OperatorOptionsInterceptor(OperatorOptions(search_attributes=True))
LIST = "/console/instances"


@asynccontextmanager
async def with_attributes() -> AsyncIterator[Bench]:
    """Run a server on which the search attributes of all instances are registered."""
    async with local_server(extra=[*AT_ONCE, "--dynamic-config-value", "frontend.WorkflowPauseEnabled=true"]) as server:
        await set_up(server.client, needed_by([]))
        yield Bench(server)


@pytest.fixture(scope="module")
async def searched() -> AsyncIterator[Bench]:
    async with with_attributes() as bench:
        yield bench


def approval(name: str) -> Definition:
    """Return a definition that waits for an event, and then calls what may fail."""
    return define(
        inject("First"), awaits("Decide", "Approved"), calling("Pay", "pay"), functions=("pay",),
        events=[{"name": "Approved", "type": "approved", "source": "people"}], id=name,
    )  # fmt: skip


def decline(_: Any) -> Any:
    raise CallFailed("the card was declined", name="Declined", code="DECLINED")


async def shown(client: httpx.AsyncClient, filters: dict[str, str], answer: int = 200) -> str:
    return html.unescape(await page(client, f"{LIST}?{urlencode(filters)}", answer))


async def ids(client: httpx.AsyncClient, number: int, **filters: str) -> set[str]:
    """Return the ids that a list has, once there are that many: the server lists some time late."""

    async def found() -> set[str]:
        return set(map(str, re.findall(r'href="/console/instances/([^"?]+)"', await shown(client, filters))))

    found_ids: set[str] = await until(found, lambda one: len(one) == number)
    return found_ids


async def begin(running: Running, name: str, numbers: int, **data: Any) -> list[str]:
    """Begin instances that wait, and return their ids."""
    handles = [
        await running.start(data, workflow_id=f"{name}-{n}", options={"memo": {BUSINESS_KEY: f"key-{name}-{n}"}})
        for n in range(numbers)
    ]
    for one in handles:
        await running.awaiting(one, "Approved")
    return [one.id for one in handles]


async def approve(bench: Bench, *instances: str) -> None:
    for one in instances:
        event = {"id": one, "type": "approved", "source": "people"}
        await bench.handle(one).signal("event", {"specversion": "1.0", **event})


async def test_lists_find_by_what_operators_ask(searched: Bench) -> None:
    """By what instances wait for and how long, by id, key and error, and by time; and show these."""
    definition = approval("asked")
    async with (
        searched.worker(definition, interceptors=[ON], pay=decline) as running,
        served(searched, [definition], running.queue, console=True) as client,
    ):
        waits, fails = await begin(running, "asked", 2)
        assert await ids(client, 2, waits="Approved", status="running") == {waits, fails}
        await approve(searched, fails)
        assert await ids(client, 1, error="Declined", ended="1h") == {fails}
        for search in ("asked-1", "key-asked-1", "Declined", "DECLINED"):
            assert await ids(client, 1, q=search) == {fails}
        for found in ({"waits": "Approved"}, {"state": "Decide", "longer": "P0DT0.001S"}, {"q": "key-asked-0"}):
            assert await ids(client, 1, **found) == {waits}
        for nothing in ({"longer": "1h"}, {"q": "sked"}, {"startedBefore": "1h"}, {"waits": "Denied"}, {"parent": "x"}):
            assert "No instances found." in await shown(client, nothing)
        row = await shown(client, {"q": fails})
        wrong = [
            await shown(client, one, 422)
            for one in ({"longer": "soon"}, {"ended": "noon"}, {"status": "dead"}, {"attribute": "a'b"})
        ]
        unknown = await shown(client, {"attribute": "Nothing", "value": "x"}, 422)
        await searched.handle(waits).terminate()
    assert 'title="business key">key-asked-1<' in row
    assert ">Declined</a> DECLINED" in row
    assert re.search(r'<time class="moment" datetime="\d{4}-[^"]+Z">', row)
    assert "'soon' is not a duration" in wrong[0]
    assert "2h (ago), 12:00" in wrong[1]
    assert "the server does not understand the filter" in unknown.lower()


async def test_without_search_attributes_ids_are_found(bench: Bench) -> None:
    """What else is asked for is refused, with what to do."""
    definition = approval("plain")
    async with (
        bench.worker(definition, pay=1) as running,
        served(bench, [definition], running.queue, console=True) as client,
    ):
        [waits] = await begin(running, "plain", 1)
        assert await ids(client, 1, q="plain-") == {waits}
        assert "`swf setup` registers it" in await shown(client, {"waits": "Approved"}, 422)
        await bench.handle(waits).terminate()


async def test_a_list_refreshes_itself(searched: Bench) -> None:
    """What changes is sent to all who look at it; nothing is sent that has not changed."""
    definition = approval("fresh")
    async with (
        searched.worker(definition, interceptors=[ON], pay=decline) as running,
        served(searched, [definition], running.queue, console=True) as client,
    ):
        [waits] = await begin(running, "fresh", 1)
        await ids(client, 1, waits="Approved")
        path = html.unescape(re.findall(r'data-stream="([^"]+)"', await page(client, f"{LIST}?definition=fresh"))[0])
        refused = await client.get("/console/lists/stream?longer=soon")
        async with asyncio.timeout(60), client.stream("GET", path) as answer:
            parts = (json.loads(one[6:])["list"] async for one in answer.aiter_lines() if one.startswith("data: "))
            first = await anext(parts)
            await approve(searched, waits)
            second = await anext(one async for one in parts if "failed" in one)
    assert "waits for" in first
    assert "Declined" in second
    assert refused.status_code == 422


async def test_many_are_retried(searched: Bench) -> None:
    """Those selected, or all that match: after a page that says how many they are; each is reported."""
    definition, cards = approval("retried"), {"is_open": False}

    def pay(data: Any) -> Any:
        return decline(data) if not cards["is_open"] else 1

    async with (
        searched.worker(definition, interceptors=[ON], pay=pay) as running,
        served(searched, [definition], running.queue, console=True) as client,
    ):
        instances = await begin(running, "retried", 4)
        await approve(searched, *instances[:3])
        await ids(client, 3, error="Declined", definition="retried")
        cards["is_open"] = True
        nothing = await page(client, "/console/changes/retry", 422)
        selected = urlencode([("instance", one) for one in (instances[0], instances[3], "retried-9")])
        asked = await page(client, f"/console/changes/retry?{selected}&status=running")
        first = await post(client, "/console/changes/retry", asked, **_runs(asked))
        again = await post(client, "/console/changes/retry", asked, **_runs(asked))
        await ids(client, 1, definition="retried", status="completed")
        everything = await page(client, "/console/changes/retry?all=1&error=Declined&ended=1h&definition=retried")
        others = await post(client, "/console/changes/retry", everything, **_runs(everything))
        assert await ids(client, 3, definition="retried", status="completed") == set(instances[:3])
        await searched.handle(instances[3]).terminate()
    assert "no instance is selected" in nothing.lower()
    assert "Retry 1 instance?" in asked
    assert list(_runs(asked)) == [f"run:{instances[0]}"]
    assert "1 of 1 instance retried" in first.text
    assert "0 of 1 instance retried" in again.text
    assert "Retry 2 instances?" in everything
    assert "2 of 2 instances retried" in others.text


def _runs(asked: str) -> dict[str, str]:
    return dict(re.findall(r'name="(run:[^"]+)" value="([^"]+)"', asked))


async def test_many_are_ended(searched: Bench) -> None:
    """What an action has no effect on is left out, and what ended meanwhile is reported; the reason is kept."""
    definition = approval("ended")
    async with (
        searched.worker(definition, interceptors=[ON], pay=1) as running,
        served(searched, [definition], running.queue, console=True) as client,
    ):
        instances = await begin(running, "ended", 3)
        await ids(client, 3, waits="Approved", definition="ended")
        path = "/console/changes/{}?all=1&definition=ended"
        paused = await page(client, path.format("resume"))
        asked = await page(client, path.format("terminate"))
        await searched.handle(instances[0]).terminate()
        done = await post(client, "/console/changes/terminate", asked, reason="ordered\ntwice", **_runs(asked))
        unknown = await page(client, path.format("explode"), 404)
        described = [(await searched.handle(one).describe()).status for one in instances]
        history = [one async for one in searched.handle(instances[1]).fetch_history_events()]
    assert "None of them can be resumed" in paused
    assert "Terminate 3 instances?" in asked
    assert "2 of 3 instances terminated" in done.text
    assert done.text.count("had ended already") == 1
    assert "there is no action" in html.unescape(unknown).lower()
    assert {one.name for one in described if one} == {"TERMINATED"}
    assert "ordered twice" in history[-1].workflow_execution_terminated_event_attributes.reason


async def test_no_filter_reaches_another_tenant(searched: Bench) -> None:
    """Whatever an address says: neither lists nor actions have what is another's, nor does a form that names it."""
    mine, foreign = approval("mine"), approval("foreign")
    tenants = {
        "shop": Tenant(keys=(KEY,), workflows=("mine",), rate=Rate(1000, 1)),
        "bank": Tenant(keys=(OTHER,), workflows=("foreign",)),
    }
    async with (
        searched.worker(mine, foreign, interceptors=[ON], pay=1) as running,
        served(searched, [mine, foreign], running.queue, console=True, tenants=tenants) as client,
    ):
        own = await running.start_awaiting("Approved", {}, workflow_id="mine-0")
        other = await running.start_awaiting("Approved", {}, workflow_id="foreign-0", definition=1)
        await client.post("/console/login", data={"key": KEY})
        assert await ids(client, 1, waits="Approved") == {"mine-0"}
        hostile = ("') OR (WorkflowId = 'foreign-0", '" OR WorkflowId = "foreign-0', "x\\' OR 1=1 --", "foreign-0", "%")
        for name in ("q", "waits", "error", "state", "parent", "definition", "value", "longer", "started", "zone"):
            for text in hostile:
                filters = {name: text} | ({"attribute": "WorkflowId"} if name == "value" else {})
                answers = [
                    await client.get(LIST, params=filters),
                    await client.get("/console/changes/cancel", params={"all": "1", **filters}),
                ]
                for answer in answers:
                    assert answer.status_code in (200, 422), answer.text
                    assert "/console/instances/foreign-0" not in answer.text
        named = await page(client, "/console/changes/terminate?instance=foreign-0")
        asked = await page(client, "/console/changes/terminate?instance=mine-0")
        run = (await other.describe()).run_id or ""
        done = await post(client, "/console/changes/terminate", asked, **{"run:foreign-0": run})
        forged = await client.post("/console/changes/terminate", data={"csrf": "0" * 64, "run:mine-0": "x"})
        still = (await other.describe()).status
        await own.terminate()
        await other.terminate()
    assert "None of them can be terminated" in named
    assert "0 of 1 instance terminated" in done.text
    assert "there is no instance" in html.unescape(done.text)
    assert forged.status_code == 403
    assert still is not None
    assert still.name == "RUNNING"


@pytest.mark.parametrize("settings", [{"console_read_only": True}, {}], ids=["read-only", "a key that only reads"])
async def test_those_who_only_look_change_nothing(searched: Bench, settings: dict[str, Any]) -> None:
    definition = approval("looked")
    operations = frozenset(Operation) if settings else frozenset({Operation.READ})
    tenants = {"shop": Tenant(keys=(KEY,), workflows=("*",), operations=operations)}
    async with (
        searched.worker(definition, interceptors=[ON], pay=1) as running,
        served(searched, [definition], running.queue, console=True, tenants=tenants, **settings) as client,
    ):
        [waits] = await begin(running, "looked", 1)
        await client.post("/console/login", data={"key": KEY})
        await ids(client, 1, waits="Approved", definition="looked")
        listed = await page(client, LIST)
        csrf = re.findall(r'name="csrf" value="(\w+)"', listed)[0]
        answers = [
            answer
            for verb in ("retry", "cancel")
            for answer in (
                await client.get(f"/console/changes/{verb}?all=1"),
                await client.post(f"/console/changes/{verb}", data={"csrf": csrf, f"run:{waits}": "x"}),
            )
        ]
        await searched.handle(waits).terminate()
    assert [one.status_code for one in answers] == [403] * 4
    assert "formaction" not in listed
    assert 'name="instance"' not in listed


async def test_the_overview(searched: Bench) -> None:
    """What started, failed and waits, by definition, with addresses of lists that have the same; and schedules."""
    definition, foreign = approval("overviewed"), approval("unseen")
    scheduled = load(
        "id: yearly\nversion: '1.0'\nspecVersion: '0.8'\n"
        "start: {stateName: A, schedule: {cron: {expression: '0 0 1 1 *'}}}\n"
        "states: [{name: A, type: inject, data: {}, end: true}]"
    )
    tenants = {"shop": Tenant(keys=(KEY,), workflows=("overviewed", "yearly"))}
    known = [definition, foreign, scheduled]
    async with (
        searched.worker(*known, interceptors=[ON], pay=decline) as running,
        served(searched, known, running.queue, console=True, tenants=tenants) as client,
    ):
        instances = await begin(running, "overviewed", 3)
        other = await running.start_awaiting("Approved", {}, workflow_id="unseen-0", definition=1)
        await approve(searched, instances[0])
        await schedules.apply(Client(searched.client), scheduled, [], data={}, task_queue=running.queue, paused=False)
        await client.post("/console/login", data={"key": KEY})
        await ids(client, 1, error="Declined")

        async def overview() -> str:
            return html.unescape(await page(client, "/console/overview?period=hour"))

        seen = await until(overview, lambda one: "<strong>1</strong> failed" in one and "yearly" in one)
        link = re.findall(r'href="([^"]+)"><strong>1</strong> failed', seen)[0]
        failed = await page(client, link)
        for one in (*(searched.handle(each) for each in instances[1:]), other):
            await one.terminate()
        await (searched.client.get_schedule_handle(schedule_id("yearly"))).delete()
    assert "<strong>3</strong> started" in seen
    assert "<strong>2</strong> waiting" in seen
    assert re.search(r'href="/console/instances\?definition=overviewed&status=running">2<', seen)
    assert "unseen" not in seen
    assert re.search(r'>yearly</a></td>\s*<td class="time"><time class="moment" datetime="20\d\d-01-01T00:00:00', seen)
    assert "/console/instances/overviewed-0" in failed
    assert "/console/instances/overviewed-1" not in failed
