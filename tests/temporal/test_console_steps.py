"""Pages of steps, parts and traces: why a call failed, in three clicks; what is searched and counted; and for whom."""

import html
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.http.console import drawing
from swf_temporal.languages.loading import load
from swf_temporal.settings.http import Tenant
from tests.temporal.conftest import Bench, named, until
from tests.temporal.test_gateway import working
from tests.temporal.test_gateway_reruns import failed
from tests.temporal.test_rerunning import ended

ORDER = """
functions: [{name: charge, type: custom}, {name: reserve, type: custom}]
retries: [{name: twice, delay: PT0.01S, maxAttempts: 3}]
states:
- {name: Each, type: foreach, inputCollection: .items, iterationParam: item, transition: Both,
   actions: [{functionRef: {refName: charge, arguments: {item: "${ .item }"}}}]}
- name: Both
  type: parallel
  branches:
  - name: stock
    actions: [{name: take, functionRef: {refName: reserve, arguments: {order: "${ .id }"}}, retryRef: twice}]
  - {name: card, actions: [{functionRef: charge}]}
  end: true
"""
DSL = """
document: {dsl: '1.0.3', namespace: opened, name: NAME, version: 1.0.0}
do:
- prepare: {set: {id: '${ .id }', more: true}}
- take: {call: http, with: {method: post, endpoint: 'http://localhost/none', body: {n: '${ .id }'}}}
"""
DIREKTIV = """
direktiv_api: workflow/v1
functions: [{id: take, type: knative-namespace, service: take}]
states:
- {id: prepare, type: noop, transform: 'jq({id: .id, more: true})', transition: order}
- id: order
  type: action
  action: {function: take, input: "jq({n: .id})", retries: {max_attempts: 2, codes: ["*"], delay: PT0.01S}}
"""


def refuse(_: JSON) -> JSON:
    raise CallFailed("no stock", code="503", status=503, body={"reason": "item <7> is not there"})


async def page(client: httpx.AsyncClient, path: str, expected: int = 200, **query: Any) -> str:
    answer = await client.get(f"{path}?{urlencode(query)}" if query else path)
    assert answer.status_code == expected, answer.text
    return html.unescape(answer.text)


def linked(shown: str, text: str) -> str:
    """Return the address of the first link with that *text*."""
    found = re.search(rf'href="([^"]*)"[^>]*>{re.escape(text)}', shown)
    assert found is not None, shown
    return found[1]


async def test_from_a_list_to_the_answer_of_a_failed_call(bench: Bench) -> None:
    """Three clicks: the instance, the failed call; there are the answer, each attempt, the input, and the data then."""
    order = named(ORDER)
    functions = {"charge": {"ok": True}, "reserve": refuse}
    async with working(bench, order, functions=functions, console=True) as (client, worker):
        handle = await worker.start({"id": 42, "items": [1, 2]})
        assert await ended(handle) is None
        listed = await page(client, "/console/instances", definition=order.id, status="failed")
        shown = await page(client, linked(listed, handle.id))
        step = await page(client, linked(shown, "Open the failed call"))
        state = await page(client, linked(step, "Both"))
    assert "CallFailed: no stock" in step
    assert "Status 503" in step
    assert '"reason": "item <7> is not there"' in step
    attempts = re.findall(r'data-label="Attempt">(\d)</td>.*?data-label="Delay before the next">([^<]*)<', step)
    assert attempts == [("1", "10 ms"), ("2", "10 ms"), ("3", "")]
    assert step.count("no stock</td>") == 3
    assert len(set(re.findall(r'data-label="Began">([^<]+)<', step))) == 3
    assert re.search(r'data-label="Worker">[^<]+@[^<]+<', step)
    assert '"order": 42' in step.partition("Arguments")[2].partition("Result")[0]
    assert '"id": 42' in step.partition("Data when it failed")[2]
    assert ("State" in state, "take" in state.partition("Steps in it")[2]) == (True, True)
    assert '"items"' in state.partition("Input</h2>")[2].partition("Output</h2>")[0]


@pytest.mark.parametrize("language", ["dsl", "direktiv"])
async def test_a_node_of_another_language(bench: Bench, language: str) -> None:
    """A node of the graph leads to its visits and the call in it, in DSL 1.0 and in Direktiv."""
    text = {"dsl": DSL, "direktiv": DIREKTIV}[language]
    definition = load(text.replace("NAME", f"opened-{language}"), name=f"opened-{language}.yaml")
    functions = {"take": refuse}
    async with working(bench, definition, functions=functions, console=True) as (client, worker):
        handle = await worker.start({"id": 42})
        assert await ended(handle) is None
        path = f"/console/instances/{handle.id}"
        pictures = await page(client, f"{path}/pictures")
        nodes = re.findall(r'href="([^"]*steps\?part=[^"]*)"', pictures)
        called = await page(client, nodes[1])
        before = await page(client, linked(await page(client, nodes[0]), "prepare"))
        step = await page(client, linked(await page(client, path), "Open the failed call"))
    assert len(nodes) == 2
    assert {"dsl": "Task <span", "direktiv": "State <span"}[language] in before
    assert "no stock" in called
    assert '"more": true' in before.partition("Output</h2>")[2]
    assert '"more"' not in before.partition("Input</h2>")[2].partition("Output</h2>")[0]
    assert '"reason": "item <7> is not there"' in step
    assert "42" in step.partition("Arguments")[2].partition("Result")[0]


async def test_a_call_in_progress_tells_its_attempts(bench: Bench) -> None:
    """What the server keeps of it as long as it has not ended is shown, and when the next attempt is."""
    order = named(ORDER.replace("PT0.01S", "PT5M"))
    functions = {"charge": {"ok": True}, "reserve": refuse}
    async with working(bench, order, functions=functions, console=True) as (client, worker):
        handle = await worker.start({"id": 42, "items": []})
        path = f"/console/instances/{handle.id}"
        shown = await until(lambda: page(client, path), lambda one: "no stock" in one)
        step = await page(client, linked(shown, "reserve"))
        drawn = await page(client, f"{path}/pictures")
        await handle.terminate()
    assert re.search(r'data-label="Attempt">1</td>.*data-label="Delay before the next">5 min<', step)
    assert "in progress" in step
    assert "The last failed attempt: CallFailed: no stock" in step
    assert ", 2 attempts</text>" in drawn


async def test_a_sub_workflow_can_be_opened(bench: Bench) -> None:
    inner = named("functions: [{name: reserve, type: custom}]\nstates: [{name: Take, type: operation, "
                  "actions: [{functionRef: reserve}], end: true}]")  # fmt: skip
    outer = named(f"states: [{{name: Run, type: operation, actions: [{{subFlowRef: {inner.id}}}], end: true}}]")
    async with working(bench, outer, inner, functions={"reserve": refuse}, console=True) as (client, worker):
        handle = await worker.start({"given": 7})
        assert await ended(handle) is None
        step = await page(client, linked(await page(client, f"/console/instances/{handle.id}"), "Open the failed call"))
        child = re.search(r'href="(/console/instances/[^"?]*%2F[^"?]*)"', step)
        assert child is not None
        inside = await page(client, linked(await page(client, child[1]), "Open the failed call"))
    assert '"given": 7' in step.partition("Input</h2>")[2]
    assert '"reason": "item <7> is not there"' in inside


MANY = """
functions: [{name: double, type: expression, operation: '{n: (.item * 2)}'}, {name: charge, type: custom}]
events: [{name: Go, type: go, source: people}]
states:
- {name: Each, type: foreach, inputCollection: .items, iterationParam: item, batchSize: 1, transition: Wait,
   actions: [{name: double one, functionRef: double}]}
- {name: Wait, type: event, onEvents: [{eventRefs: [Go]}], end: true}
"""


async def test_a_trace_that_is_searched_and_folded(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,100 iterations are one row, also of what a worker no longer has; entries are found by all that they have."""
    many, count = named(MANY), 1_100
    async with working(bench, many, console=True) as (client, worker):
        handle = await worker.start_awaiting("Go", {"items": list(range(count))})
        path = f"/console/instances/{handle.id}"
        shown = await page(client, path)
        whole = await page(client, f"{path}/trace")
        one = await page(client, f"{path}/trace", branch="Each[7]")
        inside = await page(client, f"{path}/trace", branch="Each[")
        text = await page(client, f"{path}/trace", text="Double ONE", kind="action-completed")
        state = await page(client, f"{path}/trace", state="Wait")
        none = await page(client, f"{path}/trace", text="nothing of this")
        later = await page(client, f"{path}/trace", branch="Each[", after=200)
        wrong = await page(client, f"{path}/trace", 422, after="-1")
        monkeypatch.setattr(drawing, "_SMALL", 1)  # in another process, as large instances are, which is slow to start
        apart = await until(lambda: client.get(f"{path}/trace"), lambda one: one.status_code == 200)
        await handle.terminate()
    total = 2 * count + 5
    assert f"{total} entries" in whole
    assert "1100 iterations" in whole
    assert html.unescape(apart.text) == whole
    assert "1100 actions completed · 2200 entries" in whole
    assert whole.count("<li ") == 6
    left = re.search(r"(\d+) earlier entries of this run are left out", shown)
    folded = re.search(r"· (\d+) entries until", shown)
    assert left is not None
    assert folded is not None
    assert int(left[1]) + int(folded[1]) + shown.count('<li class="') == total + 1, "what is left out is counted"
    assert (f"2 of {total} entries" in one, f"{2 * count} of {total} entries" in inside) == (True, True)
    assert f"{count} of {total} entries" in text
    assert f"2 of {total} entries" in state
    assert "No entry matches" in none
    assert inside.count("<li ") == later.count("<li ") == 200
    assert "is not the number of an entry" in wrong


async def test_what_was_before_a_rerun_can_be_opened(bench: Bench) -> None:
    """The trace has the entries of all runs of the instance, each with the address of its own run."""
    async with failed(bench, console=True) as (client, _, _, handle):
        before = await page(client, f"/console/instances/{handle.id}/trace")
        run = (await handle.describe()).run_id
        answered = await client.post(f"/instances/{handle.id}/retry")
        assert answered.status_code < 300, answered.text
        await until(lambda: page(client, f"/console/instances/{handle.id}"), lambda one: "completed" in one)
        whole = await page(client, f"/console/instances/{handle.id}/trace")
        of_run = await page(client, f"/console/instances/{handle.id}/trace", run=run)
        failure = await page(client, linked(before, "action failed"))
    assert "in 2 runs" in whole
    assert "of this run" in of_run
    assert run in whole
    assert "workflow completed" in whole
    assert "Call <span" in failure


async def test_what_is_no_step_and_what_is_not_the_tenants(bench: Bench) -> None:
    """Addresses with what does not exist are refused, and another tenant's instance is not told apart from those."""
    mine, foreign = named(ORDER), named(ORDER)
    keys = {"own": "a-key-of-the-owner-11", "other": "a-key-of-another-0011"}
    tenants = {
        name: Tenant(workflows=(definition.id,), keys=(keys[name],))
        for name, definition in (("own", mine), ("other", foreign))
    }
    functions: Mapping[str, Any] = {"charge": {"ok": True}, "reserve": {"secret": "stock of the owner"}}
    async with working(bench, mine, foreign, functions=functions, tenants=tenants, console=True) as (client, worker):
        handle = await worker.start({"id": 42, "items": [1]})
        assert await ended(handle) is not None
        run = (await handle.describe()).run_id
        path = f"/console/instances/{handle.id}"
        asked: list[dict[str, Any]] = [{"run": run, "entry": 5}, {"part": "Both"}]
        await client.post("/console/login", data={"key": keys["own"]})
        own = [await page(client, f"{path}/steps", **query) for query in asked]
        unknown = "01900000-0000-7000-8000-000000000000"
        absent: list[dict[str, Any]] = [{"run": run, "entry": 999}, {"run": unknown, "entry": 1}, {"entry": 1}]
        for query in absent:
            await page(client, f"{path}/steps", 404, **query)
        wrong: list[dict[str, Any]] = [{"run": run, "entry": "x"}, {"run": "none", "entry": 1}, {}]
        for query in wrong:
            await page(client, f"{path}/steps", 422, **query)
        client.cookies.clear()
        await client.post("/console/login", data={"key": keys["other"]})
        refused = [await page(client, f"{path}/steps", 404, **query) for query in asked]
        refused += [await page(client, f"{path}/trace", 404), await page(client, f"{path}/trace", 404, run=run)]
    assert all("Both" in one or "Each" in one for one in own)
    for one in refused:
        assert "stock of the owner" not in one
        assert mine.id not in one.replace(handle.id, "")
