"""A public client sees nothing unusual in an instance of a Direktiv workflow."""

import json
import time
from typing import Any

from temporalio.client import Client

from swf_temporal.languages.direktiv.execution.frames import DelayBody, InstanceFrame, StateFrame
from swf_temporal.languages.loading import load
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.records import Pin, pinned
from tests.temporal.conftest import Bench, events_of, listed

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
    assert status["awaiting"] == [{"state": "payment", "events": events, "kind": "consumeEvent"}]
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
