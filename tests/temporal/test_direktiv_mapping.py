"""A public client, and the engine's own command, see nothing unusual in an instance of a Direktiv workflow."""

import asyncio
import json
import time
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError

from swf_temporal.languages.direktiv.execution.frames import DelayBody, InstanceFrame, StateFrame
from swf_temporal.languages.loading import load
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.records import Pin, pinned
from swf_temporal.temporal.server import find_program
from tests.temporal.conftest import Bench, child_of, consumed, events_of, until


def ordering(path: str) -> Any:
    """Return a workflow that calls, waits for an event and a time, and runs a subflow; it is known by *path*."""
    return load(
        {
            "id": path,
            "functions": [
                {"type": "knative-workflow", "id": "stock", "image": "shop/stock"},
                {"type": "subflow", "id": "ship", "workflow": f"{path}-ship"},
            ],
            "states": [
                {
                    "id": "look-up",
                    "type": "action",
                    "action": {"function": "stock", "input": "jq(.item)"},
                    "transition": "payment",
                },
                {"id": "payment", "type": "consumeEvent", "event": {"type": "paid"}, "transition": "pause"},
                {"id": "pause", "type": "delay", "duration": "PT1S", "transition": "send"},
                {
                    "id": "send",
                    "type": "parallel",
                    "actions": [{"function": "ship"}, {"function": "stock", "input": "jq(.item)"}],
                    "transform": {"paid": "jq(.paid.data)", "shipped": "jq(.return[0].shipped)"},
                },
            ],
        }
    )


def shipping(path: str) -> Any:
    return load({"id": f"{path}-ship", "states": [{"id": "go", "type": "noop", "transform": {"shipped": True}}]})


async def test_a_plain_client_starts_signals_and_asks(bench: Bench) -> None:
    """The SDK with nothing of ours: the type is the path, the input the data, the event a signal of its type."""
    address = bench.client.service_client.config.target_host
    client = await Client.connect(address)
    async with bench.worker(ordering("/order"), shipping("/order"), stock={"left": 3}) as worker:
        handle = await client.start_workflow("/order", {"item": "lamp"}, id="direktiv-plain", task_queue=worker.queue)
        await worker.awaiting(handle, "paid")
        described = await handle.describe()
        status: Any = await handle.query("status")
        data: Any = await handle.query("data")
        await handle.signal("paid", {"amount": 5})
        output = await handle.result()

    assert described.workflow_type == "/order"
    assert (status["workflow"], status["state"]) == ("/order", "payment")
    events = consumed("paid", source="None")
    assert status["awaiting"] == [{"state": "payment", "events": events, "kind": "consumeEvent"}]
    assert data == {"item": "lamp", "return": {"left": 3}}
    assert output == {"paid": {"amount": 5}, "shipped": True}


async def test_the_history_has_the_words_of_the_workflow(bench: Bench) -> None:
    """Activities, timers and children are called by the ids of states and functions, and say them in summaries."""
    async with bench.worker(ordering("/told"), shipping("/told"), stock={"left": 3}) as worker:
        handle = await bench.client.start_workflow(
            "/told", {"item": "lamp"}, id="direktiv-told", task_queue=worker.queue
        )
        await worker.awaiting(handle, "paid")
        await handle.signal("event", {"specversion": "1.0", "id": "1", "type": "paid", "source": "bank", "data": 5})
        await handle.result()
        events = await events_of(handle)
        child = await child_of(bench.client, handle.id, "send/0/ship#1")

    assert [(one.activity_type.name, one.activity_id) for one in _calls(events)] == [
        ("stock", "look-up/action/stock#1"),
        ("stock", "send/1/stock#1"),
    ]
    assert _summaries(events, EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED) == ["look-up › stock", "send › stock"]
    timers = _summaries(events, EventType.EVENT_TYPE_TIMER_STARTED)
    assert timers == ["timeout: look-up", "timeout: payment", "timeout: pause", "sleep: pause", "timeout: send"]
    assert [(one.workflow_type.name, one.workflow_id) for one in _children(events)] == [("/told-ship", child)]


async def test_a_delay_that_ended_while_no_worker_was_there(bench: Bench) -> None:
    """A run that continued as new in a delay is taken up long after: the delay was over before the state's timeout."""
    napping = load({"id": "/nap", "states": [{"id": "nap", "type": "delay", "duration": "PT1S", "transform": "jq(.)"}]})
    begun = time.time() - 60
    frame = InstanceFrame({"a": 1}, "nap", run=StateFrame(begun, DelayBody(begun + 1)))
    pin = Pin(pinned([napping]))
    pin.progress = {"frame": frame.to_json(), "input": {"a": 1}, "started": begun}
    async with bench.worker(napping) as worker:
        handle = await bench.client.start_workflow(
            "/nap", args=[None, pin.to_json()], id="nap", task_queue=worker.queue
        )
        assert await swf.result(handle) == {"a": 1}


async def test_the_engines_command_starts_signals_and_asks(bench: Bench) -> None:
    """`temporal workflow` starts an instance, asks it where it is, sends it an event, and prints its result."""
    if find_program() is None:
        pytest.skip("the program `temporal` is not installed")
    async with bench.worker(ordering("/cli"), shipping("/cli"), stock={"left": 3}) as worker:
        started = ["start", "--type", "/cli", "--task-queue", worker.queue, "--input", '{"item": "lamp"}']
        await _workflow(bench, *started)
        await worker.awaiting(bench.client.get_workflow_handle("direktiv-cli"), "paid")
        asked = await _workflow(bench, "query", "--type", "status", "--output", "json")
        await _workflow(bench, "signal", "--name", "paid", "--input", '{"amount": 5}')
        result = await _workflow(bench, "result", "--output", "json")

    assert json.loads(asked)["queryResult"][0]["state"] == "payment"
    assert json.loads(result)["result"] == {"paid": {"amount": 5}, "shipped": True}


async def _workflow(bench: Bench, command: str, *arguments: str) -> str:
    """Return what `temporal workflow COMMAND` prints about the instance `direktiv-cli`."""
    program = find_program()
    assert program is not None
    address = bench.client.service_client.config.target_host
    given = ["workflow", command, "--workflow-id", "direktiv-cli", "--address", address, *arguments]
    process = await asyncio.create_subprocess_exec(
        program, *given, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    printed, complaints = await process.communicate()
    assert process.returncode == 0, complaints.decode()
    return printed.decode()


def _calls(events: list[Any]) -> list[Any]:
    kind = EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    return [one.activity_task_scheduled_event_attributes for one in events if one.event_type == kind]


def _children(events: list[Any]) -> list[Any]:
    kind = EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED
    return [one.start_child_workflow_execution_initiated_event_attributes for one in events if one.event_type == kind]


def _summaries(events: list[Any], kind: Any) -> list[str]:
    return [json.loads(one.user_metadata.summary.data) for one in events if one.event_type == kind]


async def test_a_subflow_that_is_cancelled_by_itself_can_be_caught(bench: Bench) -> None:
    """Its parent meets the error that the language has for it."""
    waiting = {"id": "/slow", "states": [{"id": "wait", "type": "consumeEvent", "event": {"type": "never"}}]}
    catching = {
        "id": "/patient",
        "functions": [{"type": "subflow", "id": "slow", "workflow": "/slow"}],
        "states": [{"id": "call", "type": "action", "action": {"function": "slow"}, "catch": [{"error": "*"}]}],
    }
    async with bench.worker(load(catching), load(waiting)) as worker:
        handle = await worker.start({})
        child = bench.client.get_workflow_handle(await child_of(bench.client, handle.id, "call/action/slow#1"))
        await until(lambda: _is_there(child))
        await worker.awaiting(child, "never")
        await child.cancel()
        output: Any = await handle.result()

    assert output == {"error": {"code": "direktiv.cancels.api", "msg": "cancelled by api request"}}


async def _is_there(handle: WorkflowHandle[Any, Any]) -> bool:
    try:
        await handle.describe()
    except RPCError:
        return False
    return True
