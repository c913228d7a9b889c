"""What side by side is more than one workflow task can send, or a server lets an instance have in progress."""

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import outgoing
from swf_temporal.temporal.outgoing import MAX_BYTES_TO_BEGIN
from tests.temporal.building import inject, operation, sleeps
from tests.temporal.conftest import Bench, define, events_of, gives_way, outcome, replays

ITEMS = 50
LARGE = "x" * 200_000
"""So many of these are three times as much as one workflow task may send."""


@pytest.mark.parametrize(
    "action",
    [{"functionRef": {"refName": "f", "arguments": {"large": "${ .large }", "n": "${ .n }"}}}, {"subFlowRef": "child"}],
    ids=["calls", "sub-workflows"],
)
async def test_what_waits_for_room_is_not_sent_all_in_the_next_task(bench: Bench, action: dict[str, Any]) -> None:
    each = {
        "name": "each", "type": "foreach", "inputCollection": "${ .items }", "outputCollection": "${ .out }",
        "iterationParam": "n", "actions": [{**action, "actionDataFilter": {"results": "${ .n }"}}],
    }  # fmt: skip
    child = define(inject("a"), id="child")
    async with bench.worker(define(each, functions=("f",)), child, f=lambda given: {"n": given["n"]}) as worker:
        handle = await worker.start({"items": list(range(ITEMS)), "large": LARGE})
        output = await swf.result(handle)
        sent = Counter[int]()
        for event in await events_of(handle):
            for kind in ("activity_task_scheduled", "start_child_workflow_execution_initiated"):
                if event.HasField(f"{kind}_event_attributes") and not gives_way(event):
                    sent[getattr(event, f"{kind}_event_attributes").workflow_task_completed_event_id] += len(LARGE)
    assert isinstance(output, dict)
    assert output["out"] == list(range(ITEMS))
    assert max(sent.values()) <= MAX_BYTES_TO_BEGIN


MAX_WAITING = 8


@pytest.mark.parametrize(
    "action",
    [
        {"functionRef": {"refName": "f", "arguments": "${ .large }"}},
        {"functionRef": {"refName": "f", "invoke": "async"}},
        {"subFlowRef": "child"},
        {"subFlowRef": {"workflowId": "child", "invoke": "async"}},
        {"subFlowRef": {"workflowId": "child", "invoke": "async", "onParentComplete": "continue"}},
    ],
    ids=["large calls", "calls not awaited", "sub-workflows", "not awaited", "abandoned"],
)
async def test_no_more_is_in_progress_than_a_server_lets_an_instance_have(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, action: dict[str, Any]
) -> None:
    """All begin at once, before it is known of any that it is under way."""
    monkeypatch.setattr(outgoing, "MAX_PENDING", MAX_WAITING)
    each = {"name": "each", "type": "foreach", "inputCollection": "${ .items }", "actions": [action]}
    child = define(sleeps("a", "PT0.2S"), id="child")
    after = sleeps("after", "PT1S")

    async def f(_: JSON) -> None:
        await asyncio.sleep(0.2)

    async with bench.worker(define(each, after, functions=("f",)), child, f=f) as worker:
        data: Any = {"items": list(range(2 * MAX_WAITING + 4)), "large": LARGE if "arguments" in str(action) else ""}
        handle = await worker.start(data)
        await swf.result(handle)
        first = bench.first(handle)
        pending = most = 0
        events = await events_of(first)
        ways = {event.event_id for event in events if gives_way(event)}  # one at a time, beside the others
        for event in events:
            kind = event.WhichOneof("attributes") or ""
            if ways & {event.event_id, event.activity_task_completed_event_attributes.scheduled_event_id}:
                continue
            pending += kind.startswith(("activity_task_scheduled", "start_child_workflow_execution_initiated"))
            pending -= kind.startswith(("activity_task_completed", "child_workflow_execution_completed"))
            most = max(most, pending)

    assert most == MAX_WAITING


async def test_what_an_evaluation_comes_to_is_sent_with_the_rest(bench: Bench) -> None:
    evaluated = {"name": "evaluated", "actions": [{"functionRef": {"refName": "made"}}]}
    called = {
        "functionRef": {"refName": "f", "arguments": {"large": "${ .large + .large + .large + .large + .large }"}}
    }
    branches = [evaluated, *({"name": f"called {n}", "actions": [called]} for n in range(4))]
    made = {"name": "made", "type": "expression", "operation": "[range(200000)] | map(10000000)"}
    definition = define(
        {"name": "all", "type": "parallel", "branches": branches},
        inject("done", stateDataFilter={"output": "${ {} }"}),
        functions=("f", made),
    )
    async with bench.worker(definition, f=None) as worker:
        assert await worker.run({"large": LARGE}) == {}


async def test_an_output_is_sent_by_another_task_than_what_leaves_no_room_for_it(bench: Bench) -> None:
    """The results of two evaluations stand in markers of the last task: one is as large as the output, which it is."""
    made = [
        {"name": f"made {size}", "type": "expression", "operation": f"{{of: [range({size})] | map(10000000)}}"}
        for size in (105_000, 215_000)
    ]
    states = [
        operation(one["name"], {"functionRef": one["name"]}, stateDataFilter={"input": "${ {} }"}) for one in made
    ]
    async with bench.worker(define(*states, functions=tuple(made))) as worker:
        output = await worker.run()
    assert output == {"of": [10_000_000] * 215_000}


async def test_definitions_that_were_looked_up_are_sent_with_the_rest(bench: Bench) -> None:
    """They stand in a marker of the first task of an instance that was started by the type alone."""
    called = {"functionRef": {"refName": "f", "arguments": "${ .large }"}}
    each = {"name": "each", "type": "foreach", "inputCollection": "${ .items }", "actions": [called]}
    definition = define(
        each, inject("done", stateDataFilter={"output": "${ {} }"}), functions=("f",),
        constants={"large": "x" * 1_300_000},
    )  # fmt: skip
    async with bench.worker(definition, f=None) as worker:
        data = {"items": list(range(ITEMS)), "large": LARGE}
        handle = await worker.begin("sample", data, workflow_id="looked up")
        assert await outcome(handle) == {}


@pytest.mark.parametrize(("seconds", "yields"), [(0.0, 1), (1.5, 0)], ids=["the same task", "the next task"])
async def test_what_is_sent_beside_a_local_call(bench: Bench, seconds: float, yields: int) -> None:
    """A task ends within a local call that takes long, and what it sends is not sent once more; also on a replay."""
    slow = {"name": "slow", "type": "custom", "operation": "slow", "metadata": {"local": True}}
    large = {"functionRef": {"refName": "f", "arguments": "${ .large }"}}
    branches = [{"name": "a", "actions": [large]}, {"name": "b", "actions": [{"functionRef": "slow"}, large]}]
    definition = define({"name": "all", "type": "parallel", "branches": branches}, functions=(slow, "f"))
    data = {"large": "x" * 1_600_000}
    async with bench.worker(definition, f=None, slow=lambda _: asyncio.sleep(seconds)) as worker:
        handle = await worker.begin("sample", data, workflow_id=f"beside {seconds}", task_timeout=timedelta(seconds=1))
        await outcome(handle)
        history = await handle.fetch_history()
    assert sum(map(gives_way, history.events)) == yields
    assert await replays(history) is None
