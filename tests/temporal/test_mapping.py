"""What a person sees of a definition in Temporal: names, ids, summaries."""

import json
from collections import Counter
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHandle
from temporalio.common import Priority

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.routing import route
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.event_dispatch import dispatch
from tests.temporal.building import awaits, consumed, inject, operation, sleeps, subflow
from tests.temporal.conftest import Bench, calling, child_of, define, events_of


async def test_a_definition_is_seen_by_its_own_names(bench: Bench) -> None:
    """The type of a workflow is its definition's id; calls, timers and children say where they belong."""
    definition = define(
        calling("Check stock", "checkStock"), sleeps("Cool down", "PT0.01S"), subflow("Ship", "shipping"),
        functions=("checkStock",), id="orders",
    )  # fmt: skip
    child = define(inject("a", {"shipped": True}), id="shipping")
    async with bench.worker(definition, child, checkStock={"ok": True}) as worker:
        handle = await worker.start({"order": 7})
        assert await handle.result() == {"order": 7, "ok": True, "shipped": True}
        events = await events_of(handle)
    assert (await handle.describe()).workflow_type == "orders"
    [call], [timer], [begun] = (
        [one for one in events if one.HasField(f"{kind}_event_attributes")]
        for kind in ("activity_task_scheduled", "timer_started", "start_child_workflow_execution_initiated")
    )
    activity = call.activity_task_scheduled_event_attributes
    assert (activity.activity_type.name, activity.activity_id) == ("checkStock", "Check stock/checkStock#1")
    summaries = [json.loads(one.user_metadata.summary.data) for one in (call, timer)]
    assert summaries == ["Check stock › checkStock", "sleep: Cool down"]
    attributes = begun.start_child_workflow_execution_initiated_event_attributes
    run = str(handle.first_execution_run_id).rpartition("-")[2]
    assert (attributes.workflow_type.name, attributes.workflow_id) == (
        "shipping", f"{handle.id}/{run}/Ship/shipping#1"
    )  # fmt: skip


async def test_a_worker_with_the_same_connection_is_given_the_first_task_at_once(bench: Bench) -> None:
    started = define(inject("a"), id="eager")
    awaiting = define(awaits("a", "go"), id="eager-event", events=consumed("go"))
    async with bench.worker(started, awaiting) as worker:
        by_hand = await worker.start()
        go = CloudEvent("1", "x", "go")
        [receipt] = await dispatch(bench.client, go, route(go, [awaiting]), lambda each: [each], worker.queue)
        assert receipt.instance is not None
        first = [(await events_of(bench.client.get_workflow_handle(id_)))[0] for id_ in (by_hand.id, receipt.instance)]
    assert [one.workflow_execution_started_event_attributes.eager_execution_accepted for one in first] == [True, True]


PRIORITY_OF_ITS_OWN = 2
PRIORITY_OF_THE_RUN = 4


async def test_a_call_has_the_priority_of_its_function(bench: Bench) -> None:
    """An activity has the priority that the function's metadata say, else that of the run; so do calls not awaited."""
    urgent = {"name": "urgent", "type": "custom", "metadata": {"priority": PRIORITY_OF_ITS_OWN}}
    alone_ = {"functionRef": {"refName": "urgent", "invoke": "async"}}
    ship = operation("Ship", {"functionRef": "urgent"}, {"functionRef": "usual"}, alone_, {"subFlowRef": "shipping"})
    parent = define(ship, functions=(urgent, "usual"), id="priorities")
    child = define(calling("Deliver", "usual"), functions=("usual",), id="shipping")
    async with bench.worker(parent, child, urgent={}, usual={}) as worker:
        handle = await worker.start({}, options={"priority": Priority(priority_key=PRIORITY_OF_THE_RUN)})
        await handle.result()
        alone = bench.client.get_workflow_handle(await child_of(bench.client, handle.id, "Ship/urgent#2"))
        await alone.result()
        found = [
            await _priorities(bench.client.get_workflow_handle(id_))
            for id_ in (handle.id, alone.id, await child_of(bench.client, handle.id, "Ship/shipping#1"))
        ]
    assert found == [
        [("urgent", PRIORITY_OF_ITS_OWN), ("usual", PRIORITY_OF_THE_RUN)],
        [("urgent", PRIORITY_OF_ITS_OWN)],
        [("usual", PRIORITY_OF_THE_RUN)],
    ]


async def _priorities(handle: WorkflowHandle[Any, Any]) -> list[tuple[str, int]]:
    """Return the activities of an instance, and the priority of each: the history has its own, or none at all."""
    events = await events_of(handle)
    of_the_run = events[0].workflow_execution_started_event_attributes.priority.priority_key
    scheduled = [
        event.activity_task_scheduled_event_attributes
        for event in events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    ]
    return [(one.activity_type.name, one.priority.priority_key or of_the_run) for one in scheduled]


@pytest.mark.parametrize("key", [None, "shop"], ids=["by itself", "as it was started"])
async def test_sub_workflows_have_the_fairness_key_of_the_outermost_instance(bench: Bench, key: str | None) -> None:
    """On all levels; the outermost instance has none by itself, as all others that nobody gave one."""
    outer, middle = (
        define(subflow("Ship", below, end=True), id=name) for name, below in (("outer", "middle"), ("middle", "inner"))
    )
    inner = define(inject("a"), id="inner")
    async with bench.worker(outer, middle, inner) as worker:
        handle = await worker.begin("outer", {}, workflow_id=f"fair-{key}", priority=Priority(fairness_key=key))
        await handle.result()
        child = await child_of(bench.client, handle.id, "Ship/middle#1")
        ids = [handle.id, child, await child_of(bench.client, child, "Ship/inner#1")]
        events = [(await events_of(bench.client.get_workflow_handle(id_)))[0] for id_ in ids]

    own, *keys = [one.workflow_execution_started_event_attributes.priority.fairness_key for one in events]
    assert own == (key or "")
    assert keys == [key or handle.first_execution_run_id] * 2


async def test_a_sub_workflow_carries_the_definitions_that_it_may_need(bench: Bench) -> None:
    ship = subflow("Ship", "part")
    part = define(subflow("Part", "a-part"), id="part")
    others = [define(inject("a", {"x": 1}), id=name) for name in ("a-part", "other")]
    definitions = [define(ship), part, *others]
    async with bench.worker(*definitions) as worker:
        handle = await worker.start({})
        assert await handle.result() == {"x": 1}
        child = await child_of(bench.client, handle.id, "Ship/part#1")
        grandchild = await child_of(bench.client, child, "Part/a-part#1")
        for id_, carried in ((child, ["a-part", "part"]), (grandchild, ["a-part"])):
            begun = (await events_of(bench.client.get_workflow_handle(id_)))[0]
            _, record = begun.workflow_execution_started_event_attributes.input.payloads
            found = sorted(json.loads(one["text"])["id"] for one in json.loads(record.data)["definitions"])
            assert found == carried


async def test_plain_start_needs_nothing_but_the_data(bench: Bench) -> None:
    """A caller that knows only the definition's id starts it with the data alone, and the worker knows the rest."""
    definition = define(inject("a", {"x": "${ .n + 1 }"}), id="plain")
    async with bench.worker(definition) as worker:
        output = await bench.client.execute_workflow("plain", {"n": 1}, id="plain-1", task_queue=worker.queue)
    assert output == {"n": 1, "x": 2}


async def test_what_an_instance_costs_its_history(bench: Bench) -> None:
    """The least there is, and one more event for the definition where an instance is started by its type alone."""
    definition = define(inject("a", {"x": 1}), id="costs")
    async with bench.worker(definition) as worker:
        plain = await worker.begin("costs", {}, workflow_id="costs-plain")
        assert await plain.result() == {"x": 1}
        carrying = await worker.start()
        assert await swf.result(carrying) == {"x": 1}

    least = Counter(
        [
            EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
            EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
            EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED,
            EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
            EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
        ]
    )
    assert Counter(event.event_type for event in await events_of(carrying)) == least
    of_plain = Counter(event.event_type for event in await events_of(plain))
    assert of_plain == least + Counter([EventType.EVENT_TYPE_MARKER_RECORDED])


async def test_a_running_instance_keeps_its_definition(bench: Bench) -> None:
    wait = awaits("wait", "go")
    events = consumed("go")
    old = define(wait, inject("a", {"text": "old"}), id="pinned", events=events)
    new = define(wait, inject("a", {"text": "new"}), id="pinned", events=events)
    async with bench.worker(old) as worker:
        handle = await worker.begin("pinned", {}, workflow_id="pinned-1")
        await worker.awaiting(handle, "go")
        queue = worker.queue
    async with bench.worker(new, queue=queue):
        await handle.signal("go", {})
        assert await handle.result() == {"text": "old"}


async def test_details_say_where_the_run_is(bench: Bench) -> None:
    """The current details, which the UI shows, name the state and the event that is waited for."""
    definition = define(awaits("Wait for payment", "paid"), events=consumed("paid", source="bank"))
    async with bench.worker(definition) as worker:
        handle = await worker.start()
        await worker.awaiting(handle, "paid")
        metadata = await handle.query("__temporal_workflow_metadata")
        await handle.signal("paid", {})
        await handle.result()
    assert "**Wait for payment**, waiting for paid" in metadata.current_details


async def test_details_say_that_the_time_was_over(bench: Bench) -> None:
    """A run that dealt with its timeout completes, and its trace and current details tell of the timeout."""
    definition = define(
        sleeps("Nap", "PT1H", end=True),
        inject("Settle", {"settled": True}, end=True),
        timeouts={"workflowExecTimeout": {"duration": "PT1S", "runBefore": "Settle"}},
    )
    async with bench.worker(definition) as worker:
        handle = await worker.start()
        assert await handle.result() == {"settled": True}
        metadata = await handle.query("__temporal_workflow_metadata")
        trace = await handle.query("trace")
    assert metadata.current_details == "**sample** 1.0.0 ran out of time, and is in state **Settle**"
    assert "workflow-timed-out" in [entry["kind"] for entry in trace]


async def test_keys_keep_their_order(bench: Bench) -> None:
    definition = define(
        inject("a", {"keys": "${ [keys_unsorted[]] }"}),
        calling("b", "f"),
        inject("c", {"after": "${ [keys_unsorted[]] }"}),
        functions=("f",),
    )
    async with bench.worker(definition, f={"z": 1, "y": 2}) as worker:
        output = await worker.run({"c": 1, "a": 2, "b": 3})
    assert isinstance(output, dict)
    assert output["keys"] == ["c", "a", "b"]
    assert output["after"] == ["c", "a", "b", "keys", "z", "y"]
