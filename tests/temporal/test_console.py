"""The console over real sockets: what its pages show, and to whom; forms, and what is refused."""

import asyncio
import html
import json
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from swf_temporal.base.data import JSON
from swf_temporal.http.console import tasks
from swf_temporal.languages.port import Definition
from swf_temporal.operations import instances
from swf_temporal.settings.http import Operation, Tenant
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.pausing import pause
from swf_temporal.temporal.start_options import StartOptions
from tests.temporal.conftest import Bench, named, reset
from tests.temporal.test_gateway import served, working
from tests.temporal.test_gateway_reruns import failed

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
        assert [one.headers["location"] for one in homes] == ["/console/overview"] * 2
        assert approval.id in await page(client, "/console/definitions")
        shown = await page(client, path)
        wrong = await post(client, f"{path}/start", shown, __item="mouse", __quantity="many")
        unfit = await post(client, f"{path}/start", shown, __item="mouse", __quantity="0")
        no_json = await post(client, f"{path}/start", shown, json="{")
        fields = {"__item": "mouse", "__quantity": "2", "__address__city": "Wien", "__urgent": "true"}
        started = await post(client, f"{path}/start", shown, **fields)
        instance = started.headers["location"]
        task = f"/console/tasks/{instance.rpartition('/')[2]}"
        shown = await until(client, instance, "Send Approved")
        listed = await page(client, f"/console/instances?definition={approval.id}&status=running")
        listed_tasks = await page(client, "/console/tasks")
        short = await post(client, task, shown, event="Approved", __by="x")
        sent = await post(client, task, shown, event="Approved", __by="boss")
        ended = await until(client, instance, '"by": "boss"')
        late = await post(client, task, shown, event="Approved", __by="boss")
    assert [one.status_code for one in (wrong, unfit, no_json, short, late)] == [422] * 4 + [404]
    assert "This is not a number." in wrong.text
    assert 'value="many"' in wrong.text
    assert "quantity" in unfit.text
    assert "this is not JSON" in no_json.text
    assert (started.status_code, sent.status_code) == (303, 303)
    for each in (listed, listed_tasks):
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
        asked = await page(client, f"{paths[0]}/cancel")
        cancelled = await post(client, f"{paths[0]}/cancel", asked)
        asked = await page(client, f"{paths[1]}/terminate")
        terminated = await post(client, f"{paths[1]}/terminate", asked, reason="over &\r\n <out>")
        await until(client, paths[0], '<span class="status cancelled">')
        told = await until(client, paths[1], "over & <out>")
        assert "over &amp; <out>" not in told
        again = await post(client, f"{paths[1]}/cancel", shown[1])
        too_late = await client.get(f"{paths[1]}/cancel")
        unknown = await post(client, f"{paths[0]}/destroy", shown[0])
    for path, each in zip(paths, shown, strict=True):
        assert all(f'href="{path}/{one}"' in each for one in ("pause", "cancel", "terminate"))
    assert (cancelled.status_code, terminated.status_code) == (303, 303)
    assert (again.status_code, too_late.status_code, unknown.status_code) == (422, 422, 404)


UNDONE = """
metadata: {compensateOnCancel: true}
events: [{name: Go, type: go, source: shop}]
functions: [{name: note, type: expression, operation: .}]
states:
- {name: Book, type: inject, data: {}, compensatedBy: Unbook, transition: Pay}
- {name: Pay, type: inject, data: {}, compensatedBy: Unpay, transition: Ship}
- name: Ship
  type: operation
  actions: [{subFlowRef: OTHER}, {subFlowRef: {workflowId: OTHER, invoke: async, onParentComplete: continue}}]
  actionMode: parallel
  end: true
- {name: Unbook, type: inject, usedForCompensation: true, data: {}}
- {name: Unpay, type: inject, usedForCompensation: true, data: {}}
"""
ONLY_WAITS = """
events: [{name: Go, type: go, source: shop}]
states: [{name: Wait, type: event, onEvents: [{eventRefs: [Go]}], end: true}]
"""


async def test_an_action_asks_first_and_says_what_it_does(bench: Bench) -> None:
    """Cancelling names what is compensated, and both what becomes of sub-workflows; nothing happens by asking."""
    other = named(ONLY_WAITS)
    parent = named(UNDONE.replace("OTHER", other.id))
    async with working(bench, parent, other, console=True) as (client, worker):
        path = f"/console/instances/{(await worker.start({})).id}"
        running = await until(client, path, "Sub-workflows:")
        waited, detached = (f"Ship/{number}/{other.id}#1" for number in (0, 1))
        asked = {one: html.unescape(await page(client, f"{path}/{one}")) for one in ("cancel", "terminate", "pause")}
        still = await page(client, path)
        await post(client, f"{path}/cancel", asked["cancel"])
        undone = await until(client, path, '<span class="status cancelled">')
        [left] = set(re.findall(r"/console/instances/[^\"?]*%2F1%2F[^\"]*", running))
        await post(client, f"{left}/terminate", asked["cancel"])
    assert waited in running
    assert detached in running
    said = {one: " ".join(re.sub("<[^>]+>", "", text).split()) for one, text in asked.items()}
    assert "These states are undone, in this order: Pay, Book." in said["cancel"]
    assert f"{waited} is cancelled, too, and ends first." in said["cancel"]
    assert f"{waited} is asked to cancel." in said["terminate"]
    assert all(f"{detached} continues." in said[one] for one in ("cancel", "terminate"))
    assert "nothing is compensated" in said["terminate"]
    assert "takes no further step until it is resumed" in said["pause"]
    assert all("<textarea" in asked[one] for one in ("cancel", "terminate", "pause"))
    assert '<span class="status running">' in still
    assert "compensating" in undone


PEOPLE = """
events:
- name: Decided
  type: decided
  source: desk
  correlation: [{contextAttributeName: approver, contextAttributeValue: '${ .boss }'}]
  metadata:
    roles: [approvers, auditors]
    assignee: {attribute: approver}
    dataSchema:
      type: object
      required: [granted]
      properties:
        granted: {type: boolean}
        limit: {type: number, maximum: 10}
        notes: {type: array, items: {type: string, minLength: 2}}
- {name: Withdrawn, type: withdrawn, source: desk, metadata: {assignee: ada}}
states:
- name: Ask
  type: event
  exclusive: false
  onEvents: [{eventRefs: [Decided]}, {eventRefs: [Withdrawn]}]
  end: true
"""


async def test_tasks_are_found_by_whose_they_are_and_have_pages(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is cut into pages of instances, and knows roles and persons; it has no forms."""
    monkeypatch.setattr(tasks, "_AT_ONCE", 2)
    people = named(PEOPLE)
    async with working(bench, people, console=True) as (client, worker):
        handles = [await worker.start({"boss": boss}) for boss in ("eve", "eve", "bob")]
        for one in handles:
            await worker.awaiting(one, "Decided")
        found = f"/console/tasks?definition={people.id}"
        async with asyncio.timeout(30):
            while "More instances" not in (first := await page(client, found)):
                await asyncio.sleep(0.1)
        [link] = re.findall(r'rel="next" href="([^"]+)"', first)
        second = await page(client, html.unescape(link))
        of_role = await page(client, f"{found}&role=auditors")
        of_nobody = await page(client, f"{found}&role=guests")
        of_eve = await page(client, f"{found}&assignee=eve&after={link.partition('after=')[2]}")
        too_new = await page(client, f"{found}&waiting=day")
        wrong = [await client.get(f"{found}&{one}") for one in ("waiting=year", "after=wrong")]
        told = (await client.get("/tasks", params={"definition": people.id, "assignee": "bob"})).json()
        bad = await client.get("/tasks", params={"waiting": "soon"})
        for one in handles:
            await one.terminate()
    shown = [{one for one in handles if f">{one.id}</a>" in text} for text in (first, second)]
    assert [len(one) for one in shown] == [2, 1]
    assert set.union(*shown) == set(handles)
    assert "<form method" not in first
    assert of_role.count("Decided</a>") == 2
    assert "Withdrawn</a>" not in of_role
    assert "others may" in of_nobody
    assert of_eve.count("Decided</a>") == (1 if handles[2] not in shown[1] else 0)
    assert "Nothing waits for such an event" in too_new
    assert [one.status_code for one in wrong] == [422, 422]
    assert [(one["instance"], one["assignee"], one["roles"]) for one in told["tasks"]] == [
        (handles[2].id, "bob", ["approvers", "auditors"])
    ]
    assert bad.status_code == 400


async def test_the_page_of_a_task_keeps_what_was_entered(bench: Bench) -> None:
    """What the schema refuses is said beside its field, rows are added, and nothing that was typed is lost."""
    people = named(PEOPLE)
    async with working(bench, people, console=True) as (client, worker):
        handle = await worker.start({"boss": "eve"})
        await worker.awaiting(handle, "Decided")
        path = f"/console/tasks/{handle.id}"
        shown = await page(client, f"{path}?event=Decided")
        fields = {"event": "Decided", "__limit": "1e99999", "__notes__0": "fine"}
        more = await post(client, path, shown, add="/notes", **fields)
        wrong = await post(client, path, shown, **fields)
        unfit = await post(client, path, shown, event="Decided", __granted="true", __limit="11", __notes__0="x")
        sent = await post(client, path, shown, event="Decided", __granted="true", __limit="1e1")
        late = await post(client, path, shown, event="Decided", __granted="true", __notes__0="a long text")
        gone = await client.get(f"{path}?event=Decided")
        await handle.terminate()
    assert "assigned to" in shown
    assert "eve" in shown
    assert "A number, at most 10." in shown
    assert (more.status_code, more.text.count('name="/notes/')) == (200, 2)
    assert re.search(r'name="/notes/1"[^>]*autofocus', more.text)
    assert all('value="1e99999"' in one.text and 'value="fine"' in one.text for one in (more, wrong))
    assert "This number is too large." in wrong.text
    assert "This is required." in wrong.text
    assert "2 fields have a wrong value." in wrong.text
    assert "11 is greater than the maximum of 10." in html.unescape(unfit.text)
    assert "&#39;x&#39; is too short." in unfit.text
    assert [one.status_code for one in (wrong, unfit, sent, late, gone)] == [422, 422, 303, 404, 404]
    assert "a long text" in late.text


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
        unknown = await page(client, f"/console/instances?definition={foreign.id}")
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
    assert logged_in.headers["location"] == "/console/overview"
    assert "httponly" in cookie.lower()
    assert "samesite=strict" in cookie.lower()
    assert KEY not in cookie
    assert (copied.status_code, copied.headers["location"]) == (303, "/console/login?next=%2Fconsole%2Finstances")
    assert not [one for one in lists if foreign.id in one or other.id in one]
    assert "No instances found." in unknown
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
    approval = named(APPROVAL)
    tenants = {"shop": _tenant(approval, KEY, operations=operations)}
    async with working(bench, approval, console=True, tenants=tenants, **settings) as (client, worker):
        handle = await worker.start({"item": "x", "quantity": 1})
        await client.post("/console/login", data={"key": KEY})
        shown = await until(client, f"/console/instances/{handle.id}", "event awaited")
        forms = [
            await post(client, f"/console/instances/{handle.id}/cancel", shown),
            await post(client, f"/console/tasks/{handle.id}", shown, event="Approved", json='{"by": "me"}'),
            await post(client, f"/console/definitions/{approval.id}/start", shown, json="{}"),
        ]
        definition = await page(client, f"/console/definitions/{approval.id}")
        await handle.terminate()
    assert [one.status_code for one in forms] == [403] * 3
    assert "Terminate" not in shown
    assert "Send Approved" not in shown
    assert "Start an instance" not in definition


async def test_a_key_that_may_not_read_is_told_refusals_alone(bench: Bench) -> None:
    """Forms that are wrong show neither the data of an instance nor a definition."""
    approval = named(APPROVAL)
    tenants = {"shop": _tenant(approval, KEY, operations=frozenset(Operation) - {Operation.READ})}
    async with working(bench, approval, console=True, tenants=tenants) as (client, worker):
        handle = await worker.start({"item": "a secret thing", "quantity": 1})
        await worker.awaiting(handle, "Approved")
        await client.post("/console/login", data={"key": KEY})
        listed_tasks = await page(client, "/console/tasks")
        where, task = f"/console/instances/{handle.id}", f"/console/tasks/{handle.id}"
        answers = [
            await post(client, task, listed_tasks, event="Approved", __by="x"),
            await post(client, task, listed_tasks, event="Another"),
            await post(
                client, f"/console/definitions/{approval.id}/start", listed_tasks, __item="mouse", __quantity="many"
            ),
            await post(client, f"{where}/retry", listed_tasks, seen="x"),
        ]
        sent = await post(client, task, listed_tasks, event="Approved", __by="boss")
        late = await post(client, f"{where}/cancel", listed_tasks)
    assert [one.status_code for one in (*answers, sent, late)] == [422, 404, 422, 409, 303, 409]
    assert not [one.url for one in (*answers, late) if "secret thing" in one.text or "Prepare" in one.text]
    assert "Send Approved" in answers[0].text
    assert sent.headers["location"] == "/console/tasks?done=sent"


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
        shown.append(await page(client, f"/console/instances?q={quote(image)}&after=x", 422))
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
        path = f"/console/instances?definition={approval.id}&q={approval.id}"
        await until(client, path, "</span> 55</a>")
        first = await page(client, path)
        older = re.search(r'rel="next" href="([^"]+)"', first)
        assert older is not None
        second = await page(client, html.unescape(older[1]))
        for token in ("x", "eA==", older[1].partition("after=")[2][:-8]):
            assert "he link to this page is not one of this list" in await page(client, f"{path}&after={token}", 422)
        bad = await page(client, f"{path}&attribute=NoSuch&value=1", 422)
        unknown = [await page(client, f"{path}&{one}", 422) for one in ("status=over", "started=noon", "attribute=a'b")]
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


async def test_it_is_shown_and_done_once(bench: Bench) -> None:
    """The form of a page that was shown before the instance failed once more is refused."""
    async with failed(bench, console=True) as (client, _, calls, handle):
        path = f"/console/instances/{handle.id}"
        shown = await page(client, path)
        plan = html.unescape(await page(client, f"{path}/retry"))
        calls.broken = {"last"}
        begun = await post(client, f"{path}/retry", plan, seen=_seen(plan))
        await until(client, path, '<span class="status failed">')
        stale = await post(client, f"{path}/retry", plan, seen=_seen(plan))
        calls.broken.clear()
        plan = await page(client, f"{path}/retry")
        await post(client, f"{path}/retry", plan, seen=_seen(plan))
        ended = await until(client, path, '<span class="status completed">')
        late = await client.get(f"{path}/retry")
    assert f'href="{path}/retry"' in shown
    assert "It continues in <strong>Last</strong>, where it failed" in plan
    assert "<td>calls last</td><td>Last/last#1</td><td>failed</td>" in plan
    assert (begun.status_code, begun.headers["location"]) == (303, f"{path}?done=retry")
    assert (stale.status_code, "it has been retried meanwhile, and failed again" in stale.text.lower()) == (422, True)
    assert calls.made == ["first", "last", "last", "last"]
    assert "Retry…" not in ended
    assert _input(ended) == _input(shown) != ""
    assert (late.status_code, "is completed, and has not failed" in late.text) == (422, True)


def _input(shown: str) -> str:
    return shown.partition("Input")[2].partition("</section>")[0]


def _seen(shown: str) -> str:
    return shown.partition('name="seen" value="')[2].partition('"')[0]


async def test_who_may_not_is_offered_nothing(bench: Bench) -> None:
    """A key without that operation has no button, and its form is refused."""
    key = "an-ender-key-0123456789"
    tenants = {"ender": Tenant(workflows=("*",), operations=frozenset({Operation.READ, Operation.END}), keys=(key,))}
    async with failed(bench, console=True, tenants=tenants) as (client, _, calls, handle):
        path = f"/console/instances/{handle.id}"
        await client.post("/console/login", data={"key": key})
        shown = await page(client, path)
        asked = await client.get(f"{path}/retry")
        sent = await post(client, f"{path}/retry", shown, seen="x")
        chosen = [await client.get(f"{path}/rerun{query}") for query in ("", "?from=First")]
        run = await post(client, f"{path}/rerun", shown, seen="x", **{"from": "First", "begin": "true"})
    assert "Retry…" not in shown
    assert "Rerun…" not in shown
    assert [one.status_code for one in (asked, sent, *chosen, run)] == [403] * 5
    assert calls.made == ["first", "last"]


STANDING = """
events: [{name: Go, type: go, source: shop}]
states:
- {name: Wait, type: event, onEvents: [{eventRefs: [Go]}], transition: Again}
- {name: Again, type: switch, dataConditions: [{condition: .again, end: {continueAs: ID}}],
   defaultCondition: {end: true}}
"""
SILENT = "No worker is currently responding."
SAYS = {
    "paused": ("paused", "Paused at <time ", ": stocktaking", "Its data can be seen once it is resumed.", "Resume"),
    "reset": ("running", "at <strong>Wait</strong>", "Send Go", '"again": true'),
    "continued": ("running", "at <strong>Wait</strong>", "Send Go", '"again": true'),
    "late": ("timed-out", "The workflow took longer than its start allowed.", "event awaited"),
    "ended": ("terminated", "enough of it", "event awaited"),
    "away": ("running", f"{SILENT[:-1]}: its history shows where it is.", "event awaited", '"again": true'),
    "unbegun": ("running", SILENT, "Shown once a worker answers for it.", '"again": true'),
}
"""By the names of instances, what their pages say, their statuses first."""


@asynccontextmanager
async def standing(bench: Bench) -> AsyncIterator[tuple[httpx.AsyncClient, dict[str, str]]]:
    """Bring instances where they are to be; yield a client of the console, and their ids by their names."""
    definition, deserted = named(STANDING), named(STANDING)
    handles: dict[str, swf.Handle] = {}
    data: JSON = {"again": True}
    async with bench.worker(deserted) as gone:
        handles["away"] = await gone.start(data)
        await gone.awaiting(handles["away"], "Go")
    queue = f"nobody-{os.getpid()}"
    handles["unbegun"] = await swf.start(bench.client, [deserted], data, workflow_id=queue, task_queue=queue)
    settings: Any = {"console": True}
    async with (
        bench.worker(definition) as worker,
        served(bench, [definition, deserted], worker.queue, **settings) as client,
    ):
        for name in ("paused", "reset", "continued", "ended"):
            handles[name] = await worker.start(data)
            await worker.awaiting(handles[name], "Go")
        second = StartOptions(execution_timeout=timedelta(seconds=1))
        handles["late"] = await worker.start({}, options=second)
        await swf.send_event(bench.client, handles["continued"].id, {"id": "1", "type": "go", "source": "shop"})
        await bench.handle(handles["ended"].id).terminate(reason="enough of it")
        await reset(handles["reset"], bench.client)
        await pause(bench.client, handles["paused"].id, "stocktaking")
        try:
            yield client, {name: one.id for name, one in handles.items()}
        finally:
            for name, one in handles.items():
                if name not in ("late", "ended"):
                    await bench.handle(one.id).terminate()


async def test_every_page_tells_what_is_known(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of instances that do not answer, too: their status, input and graph; and it says why the rest is missing."""
    monkeypatch.setattr(instances, "PATIENCE", timedelta(seconds=1))
    monkeypatch.setattr(instances, "_AT_WORK", timedelta(seconds=1.5))
    async with standing(bench) as (client, ids):
        await asyncio.gather(*(_look_at(client, instance, *SAYS[name]) for name, instance in ids.items()))
        definition = await page(client, "/console/definitions")
        listed = await until(client, "/console/instances", '<span class="status timed-out">')
        listed_tasks = html.unescape(await page(client, "/console/tasks"))
        form = await page(client, f"/console/instances/{ids['paused']}/resume")
        late = await post(client, f"/console/tasks/{ids['paused']}", form, event="Go", json="{}")
        again = await post(client, f"/console/instances/{ids['paused']}/pause", form)
        resumed = await post(client, f"/console/instances/{ids['paused']}/resume", form)
        await until(client, f"/console/instances/{ids['paused']}", "Send Go")
    assert definition.count("named-") >= 2
    assert all(one in listed for one in ids.values())
    answering, _, silent = listed_tasks.partition("did not answer, because they are paused or no worker is responding")
    assert [name for name, one in ids.items() if one in answering] == ["reset", "continued"]
    assert [name for name, one in ids.items() if one in silent] == ["away", "unbegun", "paused"]
    assert (late.status_code, again.status_code, resumed.status_code) == (409, 422, 303)
    assert "is paused, and answers once it is resumed" in late.text
    assert "is paused already" in again.text


async def _look_at(client: httpx.AsyncClient, instance: str, status: str, *said: str) -> None:
    path, has_not_begun = f"/console/instances/{instance}", instance.startswith("nobody")
    shown = await _saying(client, path, f'<span class="status {status}">{status}</span>', *said)
    assert "None" not in shown
    drawn = await page(client, f"{path}/pictures")
    assert 'data-path="Wait"' in drawn
    assert drawn.count("<svg") == 1 if has_not_begun else drawn.count("<svg") >= 2, "its timeline is missing"
    assert ('class="part wait unreached"' in drawn) == has_not_begun
    live = await _first(client, f"{path}/stream")
    assert status in live["live-head"]


async def _saying(client: httpx.AsyncClient, path: str, *texts: str) -> str:
    """Return a page once it says all of that: its instance may be about to go on."""
    async with asyncio.timeout(60):
        while True:
            shown = html.unescape(await page(client, path))
            if all(one in shown for one in texts):
                return shown
            await asyncio.sleep(0.1)


async def _first(client: httpx.AsyncClient, path: str) -> dict[str, str]:
    async with asyncio.timeout(30), client.stream("GET", path) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                parts: dict[str, str] = json.loads(line.removeprefix("data: "))
                return parts
    raise AssertionError("the stream has ended")
