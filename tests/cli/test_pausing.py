"""Instances that are paused, and others that Temporal has ended or begun again, on every command and the gateway."""

import asyncio
import json
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import PauseActivityRequest, ResetWorkflowExecutionRequest
from temporalio.client import Client

from tests.cli.conftest import Dev, On, Swf
from tests.cli.test_gateway import asked
from tests.definitions import definition

pytestmark = pytest.mark.temporal

STANDING = definition("""\
id: standing
start: Wait
events:
  - {name: Go, type: go, source: shop}
  - {name: Keyed, type: keyed, source: shop, correlation: [{contextAttributeName: order}]}
states:
  - name: Wait
    type: switch
    eventConditions: [{eventRef: Go, transition: Again}, {eventRef: Keyed, end: true}]
    defaultCondition: {end: true}
  - {name: Again, type: switch, dataConditions: [{condition: .again, end: {continueAs: standing}}],
     defaultCondition: {end: true}}
""")
CALLING = definition("""\
id: calling-on
functions: [{name: ask, type: http, operation: "rest:GET:http://127.0.0.1:1/"}]
retries: [{name: tomorrow, delay: P1D, maxAttempts: 5}]
states: [{name: Call, type: operation, actions: [{functionRef: ask, retryRef: tomorrow}], end: true}]
""")
ODD = {"paused": "paused", "reset": "running", "continued": "running", "late": "timed-out", "ended": "terminated"}
"""By the ids of instances, their statuses."""


@pytest.fixture(scope="module")
def serving(dev: Dev) -> Dev:
    for name, text in (("standing", STANDING), ("calling-on", CALLING)):
        (dev.folder / f"{name}.yaml").write_text(text)
        dev.until(f"serving {name}")
    return dev


@pytest.fixture
def on(swf: Swf, serving: Dev) -> Iterator[On]:
    command = On(swf, serving)
    yield command
    for instance in (*ODD, "calling", "once", "away"):
        command("terminate", instance)


def _until(on: On, status: str, instance: str, text: str = "") -> str:
    return on.until(lambda said: f", {status}\n" in said[1] and text in said[1], "status", instance)[1]


def _begin(on: On, dev: Dev) -> None:
    for instance in ("paused", "reset", "continued", "ended"):
        on("start", "standing", "--id", instance, "--input", '{"again": true}')
        _until(on, "running", instance, "Go")
    on("event", "continued", "--name", "Go")
    on("terminate", "ended")
    asyncio.run(_reset_and_start_late(dev))
    _until(on, "timed-out", "late")
    assert on("pause", "paused", "--reason", "stocktaking")[0] == 0


async def _reset_and_start_late(dev: Dev) -> None:
    client = await Client.connect(dev.address)
    queue = (await client.get_workflow_handle("paused").describe()).task_queue
    reset = ResetWorkflowExecutionRequest(
        namespace="default", workflow_execution=WorkflowExecution(workflow_id="reset"), workflow_task_finish_event_id=4,
        request_id="1",
    )  # fmt: skip
    await client.workflow_service.reset_workflow_execution(reset)
    second = timedelta(seconds=1)
    await client.start_workflow("standing", {}, id="late", task_queue=queue, execution_timeout=second)


def _listed(on: On, *arguments: str) -> set[str]:
    rows: list[dict[str, str]] = json.loads(on("list", "--definition", "standing", "-o", "json", *arguments)[1])
    return {row["id"] for row in rows}


def test_every_command_works(on: On, serving: Dev) -> None:
    """A namespace has one that is paused, reset, continued, timed out and terminated: none disturbs a command."""
    _begin(on, serving)
    for instance, status in ODD.items():
        assert f"{instance}: standing, {status}\n" in on("status", instance, "--trace")[1]
        assert on("logs", instance)[0] == 0
        assert 'data-path="Wait"' in on("graph", "--instance", instance)[1]
    while _listed(on) != set(ODD) or _listed(on, "--status", "paused") != {"paused"}:  # lists lag behind
        pass
    assert [on("result", instance)[0] for instance in ("late", "ended")] == [1, 1]

    shown = on("status", "paused")[1]
    assert "paused at 20" in shown
    assert ": stocktaking\n" in shown
    assert "Wait" in on("logs", "paused")[1]
    code, out, err = on("tasks", "list", "--definition", "standing", "-o", "json")
    assert (code, {task["instance"] for task in json.loads(out)}) == (0, {"reset", "continued"})
    assert "nothing is known of paused: " in err
    assert on("tasks", "show", "paused")[0] == 2
    on.swf.write("defs/standing.yaml", STANDING)
    on.swf.write("keyed.json", '{"id": "1", "source": "shop", "type": "keyed", "order": 7}')
    on.swf.write("go.json", '{"id": "2", "source": "shop", "type": "go"}')
    explained = on("events", "explain", "defs", "go.json", "--address", serving.address)[1]
    assert "paused" in explained
    assert on("events", "explain", "defs", "keyed.json", "--address", serving.address)[0] == 0
    assert on("compat", "--query", "CloseTime IS NULL AND WorkflowType = 'standing'")[0] == 0

    with on.swf.running("gateway", "defs", "--port", "0", "--address", serving.address, stream="stdout") as gateway:
        url = gateway.until("http://").strip()
        rows = asked(f"{url}/instances?definition=standing")[1]["instances"]
        assert ODD.items() <= {(row["id"], row["status"]) for row in rows}
        for instance, status in ODD.items():
            code, facts = asked(f"{url}/instances/{instance}")
            assert (code, facts["status"]) == (200, status)
            for wait in (0, 1):
                code, _ = asked(f"{url}/instances/{instance}/result?wait={wait}")
                assert code == (202 if status in ("running", "paused") else 200)
        assert asked(f"{url}/tasks?definition=standing")[1]["silent"] == ["paused"]
        assert asked(f"{url}/tasks/paused?event=Go")[0] == 409
        gateway.stop(signal.SIGTERM)

    # An event without correlation goes to all, and one that is sent to the instance is kept for it.
    broadcast = on("events", "send", "defs", "go.json", "--address", serving.address)
    assert "paused" in broadcast[1] + broadcast[2]
    assert on("resume", "paused")[0] == 0
    _until(on, "running", "paused", "Go")  # it took the event, and continued as new
    assert on("pause", "paused")[0] == 0
    code, _, err = on("event", "paused", "--name", "Keyed")
    assert (code, err) == (0, "sent event 'Keyed' to paused; no worker has answered for it\n")
    assert on("resume", "paused")[::2] == (0, "resumed paused\n")
    assert on("result", "paused")[0] == 0


async def test_whose_worker_is_away(on: On, serving: Dev) -> None:
    client = await Client.connect(serving.address)
    await client.start_workflow("standing", {}, id="away", task_queue="nobody")
    questions = [["status", "away"], ["logs", "away"], ["graph", "--instance", "away"]]
    questions += [["tasks", "list", "--definition", "standing"]]
    with ThreadPoolExecutor() as pool:  # each waits for an answer
        status, logs, drawn, tasks = pool.map(lambda words: on(*words), questions)
    assert status.out == "away: standing, running\n  no worker is currently responding\n"
    assert (logs.code, logs.out) == (2, "")
    assert "no worker answers for 'away'" in logs.err
    assert "task queue 'nobody'" in logs.err
    assert "no worker has begun with it yet" in drawn.err
    assert "nothing is known of away: " in tasks.err
    assert on("terminate", "away")[0] == 0
    assert on("result", "away")[0] == 1


def test_cancelling_what_is_paused(on: On) -> None:
    on("start", "standing", "--id", "once")
    assert "the instance 'once' is not paused" in on("resume", "once")[2]
    on("pause", "once")
    assert "the instance 'once' is paused already" in on("pause", "once")[2]
    assert on("cancel", "once")[2].endswith("once; it is paused, and is cancelled once it is resumed\n")
    on("resume", "once")
    assert "cancelled" in on("result", "once")[2]
    assert "has ended already" in on("pause", "once")[2]


def test_the_result_of_what_is_paused(on: On, serving: Dev) -> None:
    on("start", "standing", "--id", "once")
    on("pause", "once")
    with on.swf.running("result", "once", "--address", serving.address) as waiting:
        assert "'once' is paused: `swf resume once` lets it continue" in waiting.until("is paused")


async def test_a_paused_call_is_told_of(on: On, serving: Dev) -> None:
    on("start", "calling-on", "--id", "calling")
    _until(on, "running", "calling", "attempt 2")
    client = await Client.connect(serving.address)
    [call] = json.loads(on("status", "calling", "-o", "json")[1])["calls"]
    pause = PauseActivityRequest(
        namespace="default", execution=WorkflowExecution(workflow_id="calling"), id=call["id"], identity="an operator",
        reason="the service is down",
    )  # fmt: skip
    await client.workflow_service.pause_activity(pause)
    _until(on, "running", "calling", "by an operator: the service is down, after GET")
