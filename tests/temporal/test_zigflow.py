"""zigflow documents on a real server: their clients are those of Temporal's SDKs, and know nothing of us."""

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import (
    WithStartWorkflowOperation,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.worker import Worker as Plain

from swf_temporal import Client, Worker
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.settings.worker import WorkerSettings
from tests.temporal.conftest import Bench, events_of, outcome, replays, until, was_continued


def zigflow(kind: str, *tasks: dict[str, Any], queue: str = "zigflow", **rest: Any) -> Definition:
    document = {"dsl": "1.0.0", "taskQueue": queue, "workflowType": kind, "version": "1.0.0"}
    return load({"document": document, "do": list(tasks), **rest})


def listening(id_: str, kind: str, **rest: Any) -> dict[str, Any]:
    return {"listen": {"to": {"one": {"with": {"id": id_, "type": kind, **rest}}}}}


DOCTOR = zigflow(
    "doctor",
    {"state": listening("get_state", "query", data={"hot": "${ $data.temperature }", "who": "${ $data.patient }"})},
    {"patient": listening("admit", "signal")},
    {
        "measured": listening(
            "temperature", "update", acceptIf="${ $data.temperature > 38 }", data={"got": "${ $data.temperature }"}
        )
    },
    {"report": {"set": {"who": "${ $data.patient.name }", "hot": "${ $data.temperature }"}}},
)


async def test_clients_signal_query_and_update(bench: Bench) -> None:
    async with bench.worker(DOCTOR) as worker:
        handle = await worker.begin("doctor", {"ward": 7}, workflow_id="doctor-of-a-client")
        await until(lambda: handle.query("status"), lambda status: status["awaiting"])
        assert await handle.query("get_state") == {"hot": None, "who": None}
        await handle.signal("admit", {"name": "Ziggy"})
        await worker.awaiting(handle, "temperature")
        assert await handle.query("get_state") == {"hot": None, "who": {"name": "Ziggy"}}
        assert await handle.execute_update("temperature", 37) == {"got": 37}
        assert await handle.execute_update("temperature", 39) == {"got": 39}
        assert await outcome(handle) == {"who": "Ziggy", "hot": 39}
        assert await handle.query("get_state") == {"hot": 39, "who": {"name": "Ziggy"}}
        assert await replays(await handle.fetch_history()) is None


async def test_other_messages_are_refused(bench: Bench) -> None:
    """Each says what there is instead, and nothing of them is in the history."""
    async with bench.worker(DOCTOR) as worker:
        handle = await worker.begin("doctor", workflow_id="doctor-refusing")
        await worker.awaiting(handle, "admit")
        before = len(await events_of(handle))
        with pytest.raises(WorkflowQueryFailedError, match="answers data, get_state, status and trace"):
            await handle.query("getstate")
        with pytest.raises(WorkflowUpdateFailedError) as unknown:
            await handle.execute_update("temprature", 39)
        assert "has no update called 'temprature'" in str(unknown.value.cause)
        with pytest.raises(WorkflowUpdateFailedError) as early:
            await handle.execute_update("temperature", 39)
        assert "does not wait for the update 'temperature' now" in str(early.value.cause)
        assert len(await events_of(handle)) == before
        await handle.terminate()


async def test_an_update_may_come_with_the_start(bench: Bench) -> None:
    definition = zigflow(
        "started",
        {"asked": listening("ask", "update", data="${ $data.ask + 1 }")},
        {"end": {"set": {"n": "${ $data.ask }"}}},
    )
    async with bench.worker(definition) as worker:
        start: WithStartWorkflowOperation[Any, Any] = WithStartWorkflowOperation(
            "started", id="asked-at-once", task_queue=worker.queue, id_conflict_policy=WorkflowIDConflictPolicy.FAIL
        )
        assert await bench.client.execute_update_with_start_workflow("ask", 41, start_workflow_operation=start) == 42
        assert await outcome(bench.handle("asked-at-once")) == {"n": 41}


async def test_an_update_that_cannot_be_judged_fails_alone(bench: Bench) -> None:
    definition = zigflow("judging", {"asked": listening("ask", "update", acceptIf="${ $data.ask + 1 > 2 }")})
    async with bench.worker(definition) as worker:
        handle = await worker.start_awaiting("ask")
        with pytest.raises(WorkflowUpdateFailedError):
            await handle.execute_update("ask", {"no": "number"})
        assert await handle.execute_update("ask", 7) is None
        assert await outcome(handle) is None


async def test_continues_as_new_anywhere(bench: Bench) -> None:
    """With the state, the queries that were registered, and the messages that a task has heard."""
    tasks: list[dict[str, Any]] = [
        {"state": listening("get_state", "query", data="${ $data.n }")},
        {"count": {"for": {"in": "${ 20 }"}, "do": [{"work": {"call": "http", "with": {"method": "get", "endpoint": "http://a"}}}]}},
        {"sum": {"set": {"n": "${ [$output[].done] | add }"}}},
        {"pair": {"listen": {"to": {"all": [
            {"with": {"id": "one", "type": "signal"}}, {"with": {"id": "two", "type": "update"}},
        ]}}}},
        {"end": {"set": {"n": "${ $data.n }", "pair": "${ $data.pair }", "two": "${ $data.two }"}}},
    ]  # fmt: skip
    async with bench.worker(zigflow("long", *tasks), work={"done": 2}) as worker:
        handle = await worker.start(suspend_after=7)
        await worker.awaiting(handle, "one")
        latest = bench.handle(handle)
        await latest.signal("one", "heard")
        await until(lambda: bench.handle(handle).query("status"), lambda status: "one" not in str(status["awaiting"]))
        assert await bench.handle(handle).query("get_state") == 40
        await bench.handle(handle).execute_update("two", 2)
        assert await outcome(handle) == {"n": 40, "pair": "heard", "two": 2}
        assert await was_continued(handle)
    assert len(worker.called) == 20


@dataclass
class Profiles:
    fails: int
    given: list[tuple[Any, ...]] = field(default_factory=list)

    @activity.defn(name="profiles.Fetch")
    async def fetch(self, user: int, label: str) -> dict[str, Any]:
        self.given.append((user, label))
        if len(self.given) <= self.fails:
            raise RuntimeError("busy")
        return {"name": f"{label}-{user}"}


async def test_an_activity_of_another_task_queue(bench: Bench) -> None:
    """It is called with the options that zigflow has, by its own name."""
    options = {
        "activityOptions": {
            "retryPolicy": {"initialInterval": {"milliseconds": 10}},
            "heartbeatTimeout": {"seconds": 9},
        }
    }
    queue, profiles = "profiles-of-others", Profiles(fails=2)
    call = {
        "call": "activity",
        "with": {"name": "profiles.Fetch", "arguments": ["${ $input.user }", "me"], "taskQueue": queue},
    }
    definition = zigflow(
        "profile", {"fetch": {**call, "metadata": options}}, {"end": {"set": {"is": "${ $data.fetch.name }"}}}
    )
    # The scripted workers of other tests answer for all activities; this one leaves them to their own worker.
    async with (
        Plain(bench.client, task_queue=queue, activities=[profiles.fetch]),
        Worker(Client(bench.client), definitions=[definition], task_queue="zigflow-profiles"),
    ):
        handle = await bench.client.start_workflow(
            "profile", {"user": 7}, id="profile-of-others", task_queue="zigflow-profiles"
        )
        assert await outcome(handle) == {"is": "me-7"}
    assert profiles.given == [(7, "me")] * 3
    scheduled = [one for one in await events_of(handle) if one.HasField("activity_task_scheduled_event_attributes")]
    (made,) = [one.activity_task_scheduled_event_attributes for one in scheduled]
    assert (made.activity_type.name, made.task_queue.name) == ("profiles.Fetch", queue)
    assert made.start_to_close_timeout.ToTimedelta() == timedelta(seconds=15)
    assert made.heartbeat_timeout.ToTimedelta() == timedelta(seconds=9)
    assert (made.retry_policy.maximum_attempts, made.retry_policy.backoff_coefficient) == (5, 2.0)
    assert made.retry_policy.maximum_interval.ToTimedelta() == timedelta(minutes=1)


async def test_sees_only_the_variables_that_the_operator_names(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Their values are those of the start, and a worker tells if it serves another queue than the document names."""
    monkeypatch.setenv("ZIGGY_URL", "http://api")
    monkeypatch.setenv("ZIGGY_SECRET", "hidden")
    definition = zigflow("env", {"end": {"set": {"env": "${ $env }"}}}, queue="theirs")
    settings = WorkerSettings(task_queue="ours", environment=("ZIGGY_URL", "ZIGGY_UNSET"))
    with caplog.at_level(logging.WARNING):
        async with Worker(Client(bench.client), definitions=[definition], settings=settings):
            handle = await bench.client.start_workflow("env", id="env-of-ours", task_queue="ours")
            assert await outcome(handle) == {"env": {"URL": "http://api"}}
    assert "env names the task queue theirs, and this worker serves ours" in caplog.text


async def test_a_file_may_have_several_workflows(bench: Bench) -> None:
    tasks: list[dict[str, Any]] = [
        {
            "first": {
                "do": [
                    {"child": {"run": {"workflow": {"type": "second"}}}},
                    {"end": {"set": {"child": "${ $data.child }"}}},
                ]
            }
        },
        {"second": {"do": [{"end": {"set": {"type": "${ $data.workflow.workflow_type_name }"}}}]}},
    ]
    async with Worker(Client(bench.client), definitions=[zigflow("ignored", *tasks)], task_queue="several"):
        first = await bench.client.start_workflow("first", id="several-first", task_queue="several")
        second = await bench.client.start_workflow("second", id="several-second", task_queue="several")
        assert await outcome(first) == {"child": {"type": "second"}}
        assert await outcome(second) == {"type": "second"}


async def test_a_switch_leads_to_another_workflow_of_the_file(bench: Bench) -> None:
    leads = {"choose": {"switch": [{"all": {"then": "target"}}]}}
    tasks: list[dict[str, Any]] = [
        {"source": {"do": [{"one": {"set": {"a": 1}}}, leads, {"end": {"set": {"of": "${ $output }"}}}]}},
        {"target": {"do": [{"two": {"set": {"a": "${ $data.a + $input.b }"}}}]}},
    ]
    async with Worker(Client(bench.client), definitions=[zigflow("ignored", *tasks)], task_queue="leading"):
        handle = await bench.client.start_workflow("source", {"b": 2}, id="leading", task_queue="leading")
        assert await outcome(handle) == {"of": {"a": 3}}
        history = await handle.fetch_history()
    children = [event.start_child_workflow_execution_initiated_event_attributes for event in history.events]
    assert [one.workflow_type.name for one in children if one.workflow_type.name] == ["target"]
