"""What a person sees of a definition in Temporal: names, ids, summaries and details."""

import ast
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.common import Priority

from swf_temporal import temporal
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.routing import route
from swf_temporal.languages.direktiv.execution.frames import DelayBody, InstanceFrame, StateFrame
from swf_temporal.languages.loading import load
from swf_temporal.runtime.host import SubflowCall, Timer
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import summaries
from swf_temporal.temporal.client import result, send_event
from swf_temporal.temporal.continuing import MAX_METADATA
from swf_temporal.temporal.event_dispatch import dispatch
from swf_temporal.temporal.records import Pin, pinned
from tests.temporal.building import awaits, consumed, inject, operation, sleeps, subflow
from tests.temporal.conftest import Bench, calling, define, events_of, listed, told_in


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


async def started(handle: swf.Handle) -> Any:
    [found] = await told_in(handle, "workflow_execution_started")
    return found


async def test_a_worker_with_the_same_connection_is_given_the_first_task_at_once(bench: Bench) -> None:
    beginning = define(inject("a"), id="eager")
    awaiting = define(awaits("a", "go"), id="eager-event", events=consumed("go"))
    async with bench.worker(beginning, awaiting) as worker:
        by_hand = await worker.start()
        go = CloudEvent("1", "x", "go")
        [receipt] = await dispatch(bench.client, go, route(go, [awaiting]), lambda each: [each], worker.queue)
        assert receipt.instance is not None
        first = [await started(bench.handle(id_)) for id_ in (by_hand.id, receipt.instance)]
    assert [one.eager_execution_accepted for one in first] == [True, True]


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
        alone = await bench.child(handle, "Ship/urgent#2")
        await alone.result()
        found = [await _priorities(one) for one in (handle, alone, await bench.child(handle, "Ship/shipping#1"))]
    assert found == [
        [("urgent", PRIORITY_OF_ITS_OWN), ("usual", PRIORITY_OF_THE_RUN)],
        [("urgent", PRIORITY_OF_ITS_OWN)],
        [("usual", PRIORITY_OF_THE_RUN)],
    ]


async def _priorities(handle: swf.Handle) -> list[tuple[str, int]]:
    """Return the activities of an instance, and the priority of each: the history has its own, or none at all."""
    of_the_run = (await started(handle)).priority.priority_key
    scheduled = await told_in(handle, "activity_task_scheduled")
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
        child = await bench.child(handle, "Ship/middle#1")
        handles = [handle, child, await bench.child(child, "Ship/inner#1")]
    own, *keys = [(await started(one)).priority.fairness_key for one in handles]
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
        child = await bench.child(handle, "Ship/part#1")
        grandchild = await bench.child(child, "Part/a-part#1")
        for begun, carried in ((child, ["a-part", "part"]), (grandchild, ["a-part"])):
            _, record = (await started(begun)).input.payloads
            found = sorted(json.loads(one["text"])["id"] for one in json.loads(record.data)["definitions"])
            assert found == carried


async def test_what_an_instance_costs_its_history(bench: Bench) -> None:
    """The least there is, and one more event for the definition where an instance is started by its type alone."""
    definition = define(inject("a", {"x": 1}), id="costs")
    async with bench.worker(definition) as worker:
        plain = await worker.begin("costs", {}, workflow_id="costs-plain")
        assert await plain.result() == {"x": 1}
        carrying = await worker.start()
        assert await swf.result(carrying) == {"x": 1}

    found = [[one.WhichOneof("attributes") for one in await events_of(handle)] for handle in (carrying, plain)]
    task = [f"workflow_task_{one}_event_attributes" for one in ("scheduled", "started", "completed")]
    least, marker = ["workflow_execution_started_event_attributes", *task], "marker_recorded_event_attributes"
    end = "workflow_execution_completed_event_attributes"
    assert found == [[*least, end], [*least, marker, end]]


async def test_a_running_instance_keeps_its_definition(bench: Bench) -> None:
    old, new = (
        define(awaits("wait", "go"), inject("a", {"text": text}), id="pinned", events=consumed("go"))
        for text in ("old", "new")
    )
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
        handle = await worker.start_awaiting("paid")
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
    first, last = (inject(name, {name: "${ [keys_unsorted[]] }"}) for name in ("keys", "after"))
    definition = define(first, calling("b", "f"), last, functions=("f",))
    output = await bench.run(definition, {"c": 1, "a": 2, "b": 3}, f={"z": 1, "y": 2})
    assert isinstance(output, dict)
    assert output["keys"] == ["c", "a", "b"]
    assert output["after"] == ["c", "a", "b", "keys", "z", "y"]


ORDER = [load(text) for text in ("""
id: /order
functions:
- {type: knative-workflow, id: stock, image: shop/stock}
- {type: subflow, id: ship, workflow: /order-ship}
states:
- {id: look-up, type: action, action: {function: stock, input: jq(.item)}, transition: payment}
- {id: payment, type: consumeEvent, event: {type: paid}, transition: pause}
- {id: pause, type: delay, duration: PT1S, transition: send}
- id: send
  type: parallel
  actions: [{function: ship}, {function: stock, input: jq(.item)}]
  transform: {paid: jq(.paid.data), shipped: 'jq(.return[0].shipped)'}
""", "id: /order-ship\nstates: [{id: go, type: noop, transform: {shipped: true}}]")]  # fmt: skip
"""A workflow that calls, waits for an event and a time, and runs a subflow."""


async def test_a_plain_client_starts_signals_and_asks(bench: Bench) -> None:
    """The SDK with nothing of ours: the type is the path, the input the data, the event a signal of its type."""
    client = await Client.connect(bench.client.service_client.config.target_host)
    async with bench.worker(*ORDER, stock={"left": 3}) as worker:
        handle = await client.start_workflow("/order", {"item": "lamp"}, id="direktiv-plain", task_queue=worker.queue)
        await worker.awaiting(handle, "paid")
        described = await handle.describe()
        status: Any = await handle.query("status")
        data: Any = await handle.query("data")
        await handle.signal("paid", {"amount": 5})
        output = await handle.result()
    assert described.workflow_type == "/order"
    assert (status["workflow"], status["state"]) == ("/order", "payment")
    events = [{"name": "paid", "type": "paid", "source": None}]
    [awaited] = status["awaiting"]
    assert awaited.pop("until") > awaited.pop("since")
    assert awaited == {"state": "payment", "events": events, "kind": "consumeEvent"}
    assert data == {"item": "lamp", "return": {"left": 3}}
    assert output == {"paid": {"amount": 5}, "shipped": True}


async def test_a_delay_that_ended_while_no_worker_was_there(bench: Bench) -> None:
    """A run that continued as new in a delay is taken up long after: the delay was over before the state's timeout."""
    napping = load({"id": "/nap", "states": [{"id": "nap", "type": "delay", "duration": "PT1S", "transform": "jq(.)"}]})
    begun = time.time() - 60
    frame = InstanceFrame({"a": 1}, "nap", run=StateFrame(begun, DelayBody(begun + 1)))
    pin = Pin(pinned([napping]))
    pin.progress = {"frame": frame.to_json(), "input": {"a": 1}, "started": begun}
    async with bench.worker(napping) as worker:
        handle = await worker.begin("/nap", None, pin.to_json(), workflow_id="nap")
        assert await swf.result(handle) == {"a": 1}


async def test_the_history_has_the_words_of_the_workflow(bench: Bench) -> None:
    """Activities, timers and children are called by the ids of states and functions, and say them in summaries."""
    async with bench.worker(*ORDER, stock={"left": 3}) as worker:
        handle = await worker.begin("/order", {"item": "lamp"}, workflow_id="direktiv-told")
        await worker.awaiting(handle, "paid")
        await handle.signal("event", {"specversion": "1.0", "id": "1", "type": "paid", "source": "bank", "data": 5})
        await handle.result()
        events = await events_of(handle)
        child = await bench.child(handle, "send/0/ship#1")

    def of(kind: str) -> list[Any]:
        return [one for one in events if one.HasField(f"{kind}_event_attributes")]

    def summaries(found: list[Any]) -> list[str]:
        return [json.loads(one.user_metadata.summary.data) for one in found]

    calls = of("activity_task_scheduled")
    told = [one.activity_task_scheduled_event_attributes for one in calls]
    assert [(one.activity_type.name, one.activity_id) for one in told] == [
        ("stock", "look-up/action/stock#1"), ("stock", "send/1/stock#1")
    ]  # fmt: skip
    assert summaries(calls) == ["look-up › stock", "send › stock"]
    timeouts = [f"timeout: {state}" for state in ("look-up", "payment", "pause", "send")]
    assert summaries(of("timer_started")) == [*timeouts[:3], "sleep: pause", timeouts[3]]
    [begun] = of("start_child_workflow_execution_initiated")
    begun = begun.start_child_workflow_execution_initiated_event_attributes
    assert (begun.workflow_type.name, begun.workflow_id) == ("/order-ship", child.id)


async def test_a_subflow_that_is_cancelled_by_itself_can_be_caught(bench: Bench) -> None:
    waiting = load("id: /slow\nstates: [{id: wait, type: consumeEvent, event: {type: never}}]")
    catching = load(
        "id: /patient\nfunctions: [{type: subflow, id: slow, workflow: /slow}]\n"
        "states: [{id: call, type: action, action: {function: slow}, catch: [{error: '*'}]}]"
    )
    async with bench.worker(catching, waiting) as worker:
        handle = await worker.start({})
        child = await bench.child(handle, "call/action/slow#1")
        await listed(bench.client, f"WorkflowId = '{child.id}'", 1)
        await worker.awaiting(child, "never")
        await child.cancel()
        output: Any = await handle.result()
    assert output == {"error": {"code": "direktiv.cancels.api", "msg": "cancelled by api request"}}


TELLING = """
id: metadata-shown
states:
- id: wait
  type: consumeEvent
  metadata: {step: 1, for: jq(.customer)}
  event: {type: paid}
  transition: end
- {id: end, type: noop, metadata: jq(.long), transform: {done: true}}
"""


async def test_metadata_are_shown(bench: Bench) -> None:
    """While the instance waits, and when it has ended; where they are long, the UI shows their beginning."""
    async with bench.worker(load(TELLING)) as running:
        handle = await running.start_awaiting("paid", {"customer": "Ada", "long": "x" * 2 * MAX_METADATA})
        assert (await handle.query("status"))["metadata"] == {"step": 1, "for": "Ada"}
        details = (await handle.query("__temporal_workflow_metadata")).current_details
        assert "waiting for paid" in details
        assert '"for": "Ada"' in details
        await send_event(bench.client, handle.id, {"type": "paid", "source": "bank", "id": "1"})
        assert await result(handle) == {"done": True}
        assert (await handle.query("status"))["metadata"] == "x" * 2 * MAX_METADATA
        details = (await handle.query("__temporal_workflow_metadata")).current_details
        assert 0 < details.count("x") <= MAX_METADATA


PACKAGE = Path(temporal.__file__).parent
UNKNOWN = frozenset({"summary"})
"""Parameters and variables that hold what was made there."""


def _summaries_given(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield what calls give the engine as summaries, and each call that sets a timer without one."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        given = [one.value for one in call.keywords if one.arg in {"summary", "static_summary"}]
        yield from given
        if ast.unparse(call.func) == "workflow.sleep" and not given:
            yield call


def test_every_summary_is_made_in_one_place() -> None:
    """Whatever the engine is asked for; and each of its timers has one."""
    elsewhere = [
        f"{file.name}:{given.lineno} {ast.unparse(given)}"
        for file in PACKAGE.glob("*.py")
        for given in _summaries_given(ast.parse(file.read_text()))
        if not ast.unparse(given).startswith("summaries.") and ast.unparse(given) not in UNKNOWN
    ]
    assert elsewhere == []


@pytest.mark.parametrize("name", ["n" * 1000, "语" * 1000, "\ud800" * 1000])
def test_a_summary_is_no_longer_than_the_server_allows(name: str) -> None:
    """Neither in characters nor in bytes; what a timer is for stands at its beginning."""
    call = SubflowCall(id="c", state=name, action=name, workflow_id="w", version=None, data=None)
    texts = [summaries.of_call(call), summaries.of_timer(Timer("retry", name, name)), summaries.of_event(name)]
    for text in texts:
        assert len(text) <= summaries.MAX_SUMMARY_LENGTH
        assert len(text.encode()) <= summaries.MAX_SUMMARY_BYTES + len("…".encode())
    assert texts[1].startswith("retry: ")
