"""What runs add to the metrics of the SDK."""

from collections.abc import Mapping
from typing import Any

import pytest

from swf_temporal import CallFailed, RunEnded
from swf_temporal.base.data import JSON
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.operations.client import Client
from swf_temporal.operations.rerunning import plan_retry
from swf_temporal.sdk.metrics import gauged
from swf_temporal.temporal import client as swf
from tests.temporal.building import consumed, inject, operation
from tests.temporal.conftest import Measured, calling, define, until

FAILING: Mapping[str, Any] = operation(
    "Book", {"name": "seat", "functionRef": "work", "retryRef": "Once"},
    onErrors=[{"errorRef": "*", "transition": "Wait"}], end=True,
)  # fmt: skip
WAITING: Mapping[str, Any] = {"name": "Wait", "type": "event", "onEvents": [{"eventRefs": ["go"], "actions": []}]}


async def test_each_step_is_counted_once(measured: Measured) -> None:
    """By result, whatever the number of attempts, and not again where a worker that takes over replays the run."""

    def work(_: JSON) -> JSON:
        raise CallFailed(code=409, message="no seat")

    retries: Any = [{"name": "Once", "delay": "PT0S", "maxAttempts": 2}]
    events: Any = [{"name": name, "type": name, "source": "shop"} for name in ("go", "later")]
    definition = define(
        dict(FAILING), {**WAITING, "transition": "Later"},
        {**WAITING, "name": "Later", "onEvents": [{"eventRefs": ["later"], "actions": []}]}, retries=retries,
        events=events, functions=({"name": "work", "type": "custom"},),
    )  # fmt: skip
    async with measured.worker(definition, work=work) as worker:
        handle = await worker.start_awaiting("go", {})
        answers = [
            await swf.deliver(measured.client, handle.id, {"id": id_, "source": "shop", "type": "later"})
            for id_ in ("1", "1")
        ]
    assert answers == ["kept", "duplicate"]
    async with measured.worker(definition, work=work, queue=worker.queue):
        await swf.deliver(measured.client, handle.id, {"name": "go", "data": {}})
        await swf.result(handle)

    count = measured.counted
    assert count("swf_instances_started", "workflow_type", "version") == [("sample", "1.0.0")]
    assert count("swf_instances_ended", "version", "result", "error") == [("1.0.0", "completed", "")]
    assert count("swf_state_duration", "state", "result") == [
        ("Book", "failed"),
        ("Wait", "completed"),
        ("Later", "completed"),
    ]
    assert count("swf_wait_duration", "state", "result") == [("Wait", "taken")]  # the other was kept
    assert count("swf_action_duration", "state", "function", "result") == [("Book", "work", "failed")]
    failed = ("state", "action", "function", "error")
    assert count("swf_failed_actions", *failed) == [("Book", "seat", "work", "CallFailed")]
    attempts = count("swf_failed_attempts", "workflow_type", "activity_type", "again")
    assert attempts == [("sample", "work", "true"), ("sample", "work", "false")]
    assert count("swf_events", "result") == [("awaited",), ("kept",), ("duplicate",), ("taken",), ("taken",)]


async def test_one_that_goes_on_from_its_first_state_has_been_started_once(measured: Measured) -> None:
    """Its first step is done again, and is no start; how it ends is counted once more."""
    answers: Any = iter([ValueError("broken"), {}])

    def work(_: JSON) -> JSON:
        if isinstance(answer := next(answers), Exception):
            raise answer
        return answer  # type: ignore[no-any-return]  # JSON

    definition = define(calling("Book", "work"), functions=("work",))
    async with measured.worker(definition, work=work) as worker:
        handle = await worker.start({})
        with pytest.raises(RunEnded):
            await swf.result(handle)
        plan = await plan_retry(Client(measured.client), handle.id)
        run = await plan.begin(Client(measured.client))
        await swf.result(measured.handle(handle, run))
    assert measured.counted("swf_instances_started", "workflow_type") == [("sample",)]
    assert measured.counted("swf_instances_ended", "result") == [("failed",), ("completed",)]


async def test_how_instances_end_is_counted(measured: Measured) -> None:
    """Those that fail by their error; those that are cancelled, and those that continue as another definition."""

    async def work(_: JSON) -> JSON:
        raise CallFailed(code=409, message="no seat")

    failing = define(calling("Book", "work"), id="failing", functions=("work",))
    events: Any = consumed("go", source="shop")
    begin = inject("Begin")  # where an instance begins it waits without limit
    waiting = define(begin, {**WAITING, "timeouts": {"eventTimeout": "PT0.01S"}}, id="waiting", events=events)
    going_on = define(inject("On", end={"continueAs": "waiting"}), id="going-on")
    async with measured.worker(failing, waiting, going_on, work=work) as worker:
        await worker.failure({})
        await worker.run({}, definition=1)
        await worker.run({}, definition=2)
    assert sorted(measured.counted("swf_instances_ended", "workflow_type", "result", "error")) == [
        ("failing", "failed", "CallFailed"),
        ("going-on", "continued", ""),
        ("waiting", "completed", ""),
        ("waiting", "completed", ""),
    ]
    assert ("failing", "Book", "failed") in measured.counted("swf_state_duration", "workflow_type", "state", "result")
    assert len(measured.counted("swf_instances_started", "workflow_type")) == 4
    assert ("timed-out",) in measured.counted("swf_events", "result")


async def test_running_instances_are_counted_wherever_they_are(measured: Measured) -> None:
    """Those of each definition that is served, though no worker has them; others of the task queue are not."""
    client, queue = measured.client, "counting-what-runs"
    for number, name in enumerate(("here", "here", "elsewhere")):
        await client.start_workflow(name, args=[{}], id=f"counted-{number}", task_queue=queue)
    served = Catalogue([define(inject("Only"), id=name) for name in ("here", "nowhere")])
    async with gauged(client, queue, served):
        found = await until(
            lambda: measured.measured("swf_instances_running", "workflow_type"),
            lambda known: known.get("here") == 2 and "nowhere" in known,
        )
    assert found == {"here": 2, "nowhere": 0}
