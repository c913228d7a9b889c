"""The console over real sockets: what its pages show, and to whom; forms, and what is refused."""

import asyncio
import html
import json
import os
import re
from collections.abc import Mapping
from itertools import count
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from swf_temporal.languages.port import Definition
from swf_temporal.settings.http import Operation, Tenant
from tests.temporal.conftest import Bench, named
from tests.temporal.test_gateway import served, working

_NUMBERS = count(1)
KEY, OTHER = "a-key-of-the-shop-0001", "a-key-of-the-bank-0002"

APPROVAL = """
name: Approval
dataInputSchema:
  schema:
    type: object
    required: [item, quantity]
    properties:
      item: {type: string}
      quantity: {type: integer, minimum: 1}
      address: {type: object, properties: {city: {type: string}}}
      urgent: {type: boolean}
events:
- name: Approved
  type: approved
  source: people
  metadata: {dataSchema: {type: object, required: [by], properties: {by: {type: string, minLength: 2}}}}
states:
- {name: Prepare, type: inject, data: {}, transition: Ask}
- {name: Ask, type: event, onEvents: [{eventRefs: [Approved], eventDataFilter: {toStateData: .approval}}], end: true}
"""


async def page(client: httpx.AsyncClient, path: str, status: int = 200) -> str:
    answer = await client.get(path)
    assert answer.status_code == status, answer.text
    assert "script-src 'self';" in answer.headers["content-security-policy"]
    assert not re.search(r"<script(?! src)|\son\w+=\"|\sstyle=", answer.text)
    return answer.text


async def post(client: httpx.AsyncClient, path: str, shown: str, **fields: str) -> httpx.Response:
    found = re.search(r'name="csrf" value="(\w+)"', shown)
    assert found is not None
    data = {name.replace("__", "/"): value for name, value in fields.items()}
    return await client.post(path, data={"csrf": found[1], **data})


async def until(client: httpx.AsyncClient, path: str, text: str) -> str:
    async with asyncio.timeout(30):
        while text not in (shown := html.unescape(await page(client, path))):
            await asyncio.sleep(0.05)
    return shown


async def test_an_instance_from_its_start_to_its_end(bench: Bench) -> None:
    """It is started by a form, which says what is wrong with a value, and ends with the event of another form."""
    approval = named(APPROVAL)
    path = f"/console/definitions/{approval.id}"
    async with working(bench, approval, console=True) as (client, _):
        homes = [await client.get(home) for home in ("/console", "/console/")]
        assert [one.headers["location"] for one in homes] == ["/console/definitions"] * 2
        assert approval.id in await page(client, "/console/definitions")
        shown = await page(client, path)
        wrong = await post(client, f"{path}/start", shown, __item="mouse", __quantity="many")
        unfit = await post(client, f"{path}/start", shown, __item="mouse", __quantity="0")
        no_json = await post(client, f"{path}/start", shown, json="{")
        fields = {"__item": "mouse", "__quantity": "2", "__address__city": "Wien", "__urgent": "true"}
        started = await post(client, f"{path}/start", shown, **fields)
        instance = started.headers["location"]
        shown = await until(client, instance, "Send Approved")
        listed = await page(client, f"/console/instances?definition={approval.id}&status=running")
        tasks = await page(client, "/console/tasks")
        short = await post(client, f"{instance}/send", shown, event="Approved", __by="x")
        sent = await post(client, f"{instance}/send", shown, event="Approved", __by="boss")
        ended = await until(client, instance, '"by": "boss"')
        late = await post(client, f"{instance}/send", shown, event="Approved", __by="boss")
    assert [one.status_code for one in (wrong, unfit, no_json, short, late)] == [422] * 5
    assert "this is not a number" in wrong.text
    assert 'value="many"' in wrong.text
    assert "quantity" in unfit.text
    assert "this is not JSON" in no_json.text
    assert (started.status_code, sent.status_code) == (303, 303)
    for each in (listed, tasks):
        assert instance.rpartition("/")[2] in each
    assert '"urgent": true' in ended
    assert '"city": "Wien"' in ended
    assert "completed" in ended


async def test_actions(bench: Bench) -> None:
    """What a person does to an instance is done; one that has ended, and what cannot be done, is refused."""
    approval = named(APPROVAL)
    async with working(bench, approval, console=True) as (client, worker):
        handles = [await worker.start({"item": "x", "quantity": 1}) for _ in range(2)]
        paths = [f"/console/instances/{one.id}" for one in handles]
        shown = [await until(client, path, "Send Approved") for path in paths]
        cancelled = await post(client, f"{paths[0]}/cancel", shown[0])
        terminated = await post(client, f"{paths[1]}/terminate", shown[1], reason="over & <out>")
        await until(client, paths[0], '<span class="status cancelled">')
        told = await until(client, paths[1], "over & <out>")
        assert "over &amp; <out>" not in told
        again = await post(client, f"{paths[1]}/cancel", shown[1])
        unknown = await post(client, f"{paths[0]}/destroy", shown[0])
    assert (cancelled.status_code, terminated.status_code) == (303, 303)
    assert (again.status_code, unknown.status_code) == (422, 422)


async def test_one_that_waits_for_a_place_says_so(bench: Bench) -> None:
    approval = named("metadata: {concurrency: {limit: 1, key: '${ .item }'}}" + APPROVAL)
    async with working(bench, approval, console=True) as (client, worker):
        first, second = [await worker.start({"item": "x<y", "quantity": 1}) for _ in range(2)]
        told = f'Waits for a place: at most 1 of {approval.id} at once with the key <code>"x<y"</code>'
        async with asyncio.timeout(30):
            while not [one for one in (first, second) if told in await _shown(client, one.id)]:
                await asyncio.sleep(0.05)
        for one in (first, second):
            await one.terminate()


async def _shown(client: httpx.AsyncClient, instance: str) -> str:
    return html.unescape(await page(client, f"/console/instances/{instance}"))


SECURE: list[dict[str, str]] = [
    {"X-Forwarded-Proto": "HTTPS"},
    {"X-Forwarded-Proto": "https, http"},
    {"Forwarded": 'for=192.0.2.43;Proto="https", for=198.51.100.17'},
]
NOT_SECURE: list[dict[str, str]] = [{}, {"X-Forwarded-Proto": "http, https"}, {"Forwarded": "proto=http;for=https"}]


async def test_cookies_of_https_stay_there(bench: Bench) -> None:
    """Also behind proxies: what counts is how the browser sent its request."""
    mine = named(APPROVAL)
    async with working(bench, mine, console=True, tenants={"shop": _tenant(mine, KEY)}) as (client, _):
        cookies = [
            (await client.post("/console/login", data={"key": KEY}, headers=headers)).headers["set-cookie"].lower()
            for headers in (*SECURE, *NOT_SECURE)
        ]
    assert ["secure" in cookie for cookie in cookies] == [True] * 3 + [False] * 3


async def test_a_key_sees_only_its_own(bench: Bench) -> None:
    """Without a key there is a login alone; nothing of another tenant is on any page, and none of its forms counts."""
    mine, foreign = named(APPROVAL), named(APPROVAL)
    tenants = {"shop": _tenant(mine, KEY), "bank": _tenant(foreign, OTHER)}
    async with working(bench, mine, foreign, console=True, tenants=tenants) as (client, worker):
        own = await worker.start({"item": "x", "quantity": 1}, definition=0)
        other = await worker.start({"item": "x", "quantity": 1}, definition=1)
        asked = await client.get("/console/instances")
        posted = await client.post(f"/console/instances/{other.id}/cancel")
        refused = await client.post("/console/login", data={"key": "some-other-key-0003"})
        logged_in = await client.post("/console/login", data={"key": KEY, "next": "//evil.example/console/"})
        cookie = logged_in.headers["set-cookie"]
        shown = await until(client, f"/console/instances/{own.id}", "Send Approved")
        lists = [await page(client, f"/console/{one}") for one in ("definitions", "instances", "tasks")]
        lists.append(await page(client, f"/console/instances?definition={foreign.id}"))
        forbidden = await client.get(f"/console/definitions/{foreign.id}")
        hidden = [await client.get(f"/console/instances/{one}") for one in (other.id, "nobody")]
        done = [
            await post(client, f"/console/instances/{other.id}/terminate", shown),
            await post(client, f"/console/definitions/{foreign.id}/start", shown, json="{}"),
            await client.post(f"/console/instances/{own.id}/cancel", data={"csrf": "0" * 64}),
            await client.post(
                f"/console/instances/{own.id}/cancel", data={"csrf": "x"}, headers={"Origin": "https://evil.example"}
            ),
        ]
        left = await post(client, "/console/logout", shown)
        after = await client.get("/console/instances")
        copied = await client.get("/console/instances", headers={"Cookie": cookie.partition(";")[0]})
        await other.terminate()
        await own.terminate()
    assert (asked.status_code, asked.headers["location"]) == (303, "/console/login?next=%2Fconsole%2Finstances")
    assert (posted.status_code, posted.headers["location"]) == (303, "/console/login")
    assert (refused.status_code, "set-cookie" in refused.headers) == (401, False)
    assert logged_in.headers["location"] == "/console/definitions"
    assert "httponly" in cookie.lower()
    assert "samesite=strict" in cookie.lower()
    assert KEY not in cookie
    assert (copied.status_code, copied.headers["location"]) == (303, "/console/login?next=%2Fconsole%2Finstances")
    assert not [one for one in lists if foreign.id in one or other.id in one]
    assert forbidden.status_code == 403
    assert [one.status_code for one in hidden] == [404, 404]
    assert hidden[0].text.replace(other.id, "ID") == hidden[1].text.replace("nobody", "ID")
    assert [one.status_code for one in done] == [404, 403, 403, 403]
    assert (left.status_code, after.status_code) == (303, 303)


def _tenant(definition: Definition, key: str, **rest: Any) -> Tenant:
    return Tenant(keys=(key,), workflows=(definition.id,), **rest)


@pytest.mark.parametrize(
    ("settings", "operations"),
    [({"console_read_only": True}, frozenset(Operation)), ({}, frozenset({Operation.READ}))],
    ids=["read-only", "a key that only reads"],
)
async def test_those_who_only_look(bench: Bench, settings: Mapping[str, Any], operations: frozenset[Operation]) -> None:
    """They see what there is, and no form; what they send all the same is refused."""
    approval = named(APPROVAL)
    tenants = {"shop": _tenant(approval, KEY, operations=operations)}
    async with working(bench, approval, console=True, tenants=tenants, **settings) as (client, worker):
        handle = await worker.start({"item": "x", "quantity": 1})
        await client.post("/console/login", data={"key": KEY})
        shown = await until(client, f"/console/instances/{handle.id}", "event awaited")
        forms = [
            await post(client, f"/console/instances/{handle.id}/cancel", shown),
            await post(client, f"/console/instances/{handle.id}/send", shown, event="Approved", json='{"by": "me"}'),
            await post(client, f"/console/definitions/{approval.id}/start", shown, json="{}"),
        ]
        definition = await page(client, f"/console/definitions/{approval.id}")
        await handle.terminate()
    assert [one.status_code for one in forms] == [403] * 3
    assert "Terminate" not in shown
    assert "Send Approved" not in shown
    assert "Start an instance" not in definition


async def test_hostile_names_stay_text(bench: Bench) -> None:
    """Whatever an author, a client or an event says is shown as it was written, and is no part of a page."""
    image = "<img src=x onerror=alert(1)>"
    text = f"""
id: '{image}-ID'
name: '{image}'
description: '{image}'
version: '1.0'
specVersion: '0.8'
functions: [{{name: '{image}', type: custom, operation: f}}]
states:
- {{name: '{image}', type: inject, data: {{'{image}': '</pre>{image}'}}, end: true}}
"""
    hostile = named(text)
    async with working(bench, hostile, console=True) as (client, worker):
        instance = await client.post(
            f"/workflows/{quote(hostile.id, safe='')}", params={"id": f"'\"<img>{os.getpid()}"}, json={image: image}
        )
        shown = [await page(client, f"/console/definitions/{quote(hostile.id, safe='')}")]
        path = f"/console{instance.headers['location']}"
        async with asyncio.timeout(30):
            while "completed" not in (seen := await page(client, path)):
                await asyncio.sleep(0.05)
        shown += [seen, await page(client, "/console/definitions"), await page(client, "/console/instances")]
        shown.append(await page(client, f"/console/instances?id={quote(image)}&after=x", 422))
        shown.append(await page(client, f"/console/instances?status={quote(image)}", 422))
        assert "<img" not in await page(client, f"/console/{quote(image)}", 404)
        shown.append(await page(client, f"{path}/pictures"))
        await worker.bench.handle(instance.json()["id"]).describe()
    for one in shown:
        assert "<img" not in one
        assert "&lt;img" in one


async def test_a_form_is_not_much_larger_than_its_schema(bench: Bench) -> None:
    """Its fields share one list of choices."""
    choice = {"enum": [f"number {one}" for one in range(5_000)]}
    properties = {f"f{one}": {"$ref": "#/$defs/one"} for one in range(200)}
    schema = json.dumps({"schema": {"type": "object", "properties": properties, "$defs": {"one": choice}}})
    chosen = named(f"dataInputSchema: {schema}\nstates: [{{name: A, type: inject, data: {{}}, end: true}}]\n")
    async with served(bench, [chosen], console=True) as client:
        shown = await page(client, f"/console/definitions/{chosen.id}")
    assert shown.count("<datalist") == 1
    assert shown.count('list="') == 200
    assert len(shown) < 6 * len(schema)


async def test_lists_have_pages(bench: Bench) -> None:
    approval = named(APPROVAL)
    async with working(bench, approval, console=True) as (client, worker):
        handles = [await worker.start({"item": "x", "quantity": 1}) for _ in range(55)]
        path = f"/console/instances?definition={approval.id}&id={approval.id}"
        await until(client, path, "</span> 55</a>")
        first = await page(client, path)
        older = re.search(r'rel="next" href="([^"]+)"', first)
        assert older is not None
        second = await page(client, html.unescape(older[1]))
        for token in ("x", "eA==", older[1].partition("after=")[2][:-8]):
            assert "he link to this page is not one of this list" in await page(client, f"{path}&after={token}", 422)
        bad = await page(client, f"{path}&attribute=NoSuch&value=1", 422)
        unknown = [await page(client, f"{path}&{one}", 422) for one in ("status=over", "since=1h", "attribute=a'b")]
        await asyncio.gather(*(one.terminate() for one in handles))
    of_page = [{one.id for one in handles if f">{one.id}<" in shown} for shown in (first, second)]
    assert [len(one) for one in of_page] == [50, 5]
    assert len(of_page[0] | of_page[1]) == 55
    assert "does not understand the filter" in bad
    assert "It must be one of running, paused, completed" in unknown[0]
    assert not [one for one in unknown if "<tbody>" in one]


async def test_it_is_there_if_it_is_asked_for(bench: Bench) -> None:
    async with served(bench, [named(APPROVAL)]) as client:
        assert (await client.get("/console")).status_code == 404
