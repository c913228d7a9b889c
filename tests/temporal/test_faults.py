"""What becomes of what goes wrong: retries, errors, timeouts, cancellation."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowExecutionStatus

from swf_temporal import RunEnded
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.temporal import client as swf
from tests.temporal.conftest import Bench, calling, child_of, define, events_of, failed_task, until


def failing(times: int, **facts: Any) -> Any:
    """Return a function that fails *times* times and then answers with how often it was called."""
    calls = 0

    def function(arguments: JSON) -> JSON:
        nonlocal calls
        calls += 1
        if calls <= times:
            raise CallFailed(**{"message": "no", "code": 503, **facts})
        return {"calls": calls, "arguments": arguments}

    return function


def retrying(name: str, **retry: Any) -> dict[str, Any]:
    """Return parts of a definition: one operation that calls `f` with a retry definition."""
    return {
        "states": {"name": name, "type": "operation", "actions": [{"functionRef": "f", "retryRef": "again"}]},
        "retries": [{"name": "again", **retry}],
    }


async def test_retries_are_the_activitys_own(bench: Bench) -> None:
    """A call is tried again by the server: one activity, no trace of the attempts in the history."""
    parts = retrying("a", delay="PT0.01S", maxAttempts=5)
    definition = define(parts["states"], functions=("f",), retries=parts["retries"])
    async with bench.worker(definition, f=failing(3)) as worker:
        handle = await worker.start()
        assert await handle.result() == {"calls": 4, "arguments": None}
        events = await events_of(handle)

    scheduled = [e for e in events if e.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED]
    assert len(scheduled) == 1
    assert [attempt for *_, attempt in worker.scripted.calls] == [1, 2, 3, 4]


async def test_every_attempt_has_the_same_key(bench: Bench) -> None:
    """All attempts of a call carry one idempotency key, and another call has another."""
    parts = retrying("a", delay="PT0.01S", maxAttempts=5)
    definition = define(parts["states"], calling("b", "f"), functions=("f",), retries=parts["retries"])
    async with bench.worker(definition, f=failing(1)) as worker:
        await worker.run()

    keys = [key for _, _, key, _ in worker.scripted.calls]
    assert keys[0] == keys[1] != keys[2]


async def test_delays_are_exact_to_the_rule(bench: Bench) -> None:
    """The server waits between attempts no less than delay, increment and multiplier say."""
    parts = retrying("a", delay="PT0.1S", increment="PT0.02S", multiplier=2, maxAttempts=4)
    definition = define(parts["states"], functions=("f",), retries=parts["retries"])
    times: list[float] = []
    answer = failing(3)

    def timed(arguments: JSON) -> JSON:
        times.append(asyncio.get_running_loop().time())
        result: JSON = answer(arguments)
        return result

    async with bench.worker(definition, f=timed) as worker:
        await worker.run()

    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert all(gap >= least for gap, least in zip(gaps, [0.1, 0.24, 0.52], strict=True))


async def test_no_retry_definition_means_no_retry(bench: Bench) -> None:
    """Without autoRetries and without a retryRef the first failure is final."""
    definition = define(calling("a", "f"), functions=("f",))
    async with bench.worker(definition, f=failing(1)) as worker:
        await worker.failure()

    assert len(worker.scripted.calls) == 1


async def test_a_failed_run_says_where_and_why(bench: Bench) -> None:
    """The failure names workflow, state, action, attempt, the answer, and that nothing caught it."""
    parts = retrying("Charge card", delay="PT0.01S", maxAttempts=3)
    definition = define(parts["states"], functions=("f",), retries=parts["retries"], id="orders")
    answer = failing(9, code=502, status=502, message="the service answered 502 Bad Gateway")
    async with bench.worker(definition, f=answer) as worker:
        failed = await worker.failure()

    assert str(failed).splitlines() == [
        "workflow 'orders' failed in state 'Charge card'",
        "  action 'f', attempt 3",
        "  the service answered 502 Bad Gateway",
        "  no onErrors entry of 'Charge card' covers its code '502'",
    ]
    assert failed.fault is not None
    assert (failed.fault.code, failed.fault.status, failed.fault.state) == ("502", 502, "Charge card")


async def test_on_errors_catches_by_status(bench: Bench) -> None:
    """An onErrors entry that names a status leads on, and the error is there to be read."""
    definition = define(
        calling("a", "f", onErrors=[{"errorRef": "missing", "transition": "b"}]),
        {"name": "b", "type": "inject", "data": {"was": "${ $WORKFLOW.error }"}},
        functions=("f",),
        errors=[{"name": "missing", "code": "404"}],
    )
    answer = failing(1, code=404, status=404, body={"why": "gone"}, message="not here")
    async with bench.worker(definition, f=answer) as worker:
        output = await worker.run()

    assert output == {
        "was": {
            "name": "CallFailed", "code": "404", "message": "not here", "state": "a", "action": "f",
            "status": 404, "body": {"why": "gone"},
        }
    }  # fmt: skip


async def test_an_action_that_takes_too_long_times_out(bench: Bench) -> None:
    """ActionExecTimeout holds for an action with all its retries, and is an error called TimedOut."""
    parts = retrying("a", delay="PT0.05S")
    definition = define(
        {
            **parts["states"],
            "timeouts": {"actionExecTimeout": "PT0.3S"},
            "onErrors": [{"errorRef": "slow", "end": True}],
        },
        functions=("f",),
        retries=parts["retries"],
        errors=[{"name": "slow", "code": "TimedOut"}],
    )
    async with bench.worker(definition, f=failing(1000)) as worker:
        assert await worker.run() == {}


async def test_a_cancelled_run_ends_cancelled(bench: Bench) -> None:
    """Cancelling reaches the call under way, and the run ends Canceled, not completed and not failed."""
    cancelled: list[str] = []
    started = asyncio.Event()

    async def wait(arguments: JSON) -> JSON:
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append("call")
            raise
        return arguments

    definition = define(calling("a", "f", onErrors=[{"errorRef": "*", "end": True}]), functions=("f",))
    async with bench.worker(definition, f=wait) as worker:
        handle = await worker.start()
        await started.wait()
        await handle.cancel()
        await until(handle.describe, lambda one: one.status != WorkflowExecutionStatus.RUNNING)
        status = (await handle.describe()).status

    assert status == WorkflowExecutionStatus.CANCELED


async def test_a_compensation_that_is_cancelled_goes_on(bench: Bench) -> None:
    """Cancelled while it undoes what it did, a run undoes the rest: what is undone already is not undone again."""
    started = asyncio.Event()

    async def last(_: JSON) -> JSON:
        if not started.is_set():
            started.set()
            await asyncio.sleep(60)
        return {}

    undoing: dict[str, Any] = {"usedForCompensation": True}
    definition = define(
        calling("a", "do", compensatedBy="u", end={"compensate": True}),
        calling("u", "undo", transition="v", **undoing),
        calling("v", "last", **undoing),
        functions=("do", "undo", "last"),
        metadata={"compensateOnCancel": True},
    )
    async with bench.worker(definition, do={"done": 1}, undo={"undone": 1}, last=last) as worker:
        handle = await worker.start()
        await started.wait()
        await handle.cancel()
        with pytest.raises(RunEnded, match="cancelled"):
            await asyncio.wait_for(swf.result(handle), 30)
        calls = [name for name, *_ in worker.scripted.calls]

    assert calls == ["do", "undo", "last", "last"]


async def test_a_sub_workflows_error_reaches_the_parents_handler(bench: Bench) -> None:
    """A sub-workflow's error keeps its name and code, and the parent's onErrors catches it by them."""
    parent = define(
        {
            "name": "Ship", "type": "operation", "actions": [{"subFlowRef": "shipping"}],
            "onErrors": [{"errorRef": "teapot", "transition": "b"}],
        },
        {"name": "b", "type": "inject", "data": {"code": "${ $WORKFLOW.error.code }"}},
        errors=[{"name": "teapot", "code": "418"}],
    )  # fmt: skip
    child = define(calling("Brew", "f"), functions=("f",), id="shipping")
    async with bench.worker(parent, child, f=failing(1, code=418, status=418)) as worker:
        assert await worker.run() == {"code": "418"}


async def test_data_that_is_too_large_fails_the_run_and_does_not_hang_it(bench: Bench) -> None:
    """More data than one step can carry ends the run with a fault that says so."""
    definition = define(
        {"name": "a", "type": "inject", "data": {"text": "x" * 1_200_000}},
        {"name": "b", "type": "operation", "actions": [{"functionRef": {"refName": "f", "arguments": "${ [., .] }"}}]},
        functions=("f",),
    )
    async with bench.worker(definition, f=1) as worker:
        failed = await worker.failure()

    assert failed.fault is not None
    assert failed.fault.name == "PayloadTooLarge"


async def test_states_in_a_cycle_do_not_hang_a_worker(bench: Bench) -> None:
    """A thousand states without a wait run to their end: the workflow task is ended now and then."""
    definition = define(
        {"name": "count", "type": "inject", "data": {"n": "${ (.n // 0) + 1 }"}, "transition": "again"},
        {
            "name": "again", "type": "switch",
            "dataConditions": [{"condition": "${ .n < 500 }", "transition": "count"}],
            "defaultCondition": {"end": True},
        },
    )  # fmt: skip
    async with bench.worker(definition) as worker:
        assert await worker.run() == {"n": 500}


async def test_an_unknown_definition_is_named_with_what_is_known(bench: Bench) -> None:
    """A type that no definition has is left to another worker, and what is known here is said."""
    definition = define({"name": "a", "type": "inject", "data": {}}, id="orders")
    async with bench.worker(definition) as worker:
        handle = await bench.client.start_workflow("order", {}, id="unknown-1", task_queue=worker.queue)
        assert "did you mean 'orders'" in await failed_task(handle)
        await handle.terminate()


BEFORE_ANY_STATE: dict[str, tuple[str, list[Any], str]] = {
    "an input that does not fit": ("sample", ["text"], "failed sample 1.0.0: SchemaMismatch"),
    "a record that is none": ("sample", [{}, 7], "failed sample: WrongInput: "),
    "a definition that is none": (
        "sample", [{}, {"definitions": [{"text": "id: sample", "name": "x"}]}], "failed sample: InvalidDefinition: "
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BEFORE_ANY_STATE)
async def test_a_failure_before_the_first_state_is_logged(
    bench: Bench, caplog: pytest.LogCaptureFixture, case: str
) -> None:
    workflow_type, arguments, told = BEFORE_ANY_STATE[case]
    definition = define({"name": "a", "type": "inject", "data": {}}, dataInputSchema={"schema": {"type": "object"}})
    async with bench.worker(definition) as worker:
        handle = await bench.client.start_workflow(
            workflow_type, args=arguments, id=f"unready-{worker.queue}", task_queue=worker.queue
        )
        with pytest.raises(RunEnded):
            await swf.result(handle)
    lines = [one.getMessage() for one in caplog.records if one.name == "swf.instance"]
    assert [line for line in lines if line.startswith(("failed", "completed", "cancelled"))] == lines[-1:]
    assert lines[-1].startswith(told)


async def test_a_call_that_nobody_waits_for_outlives_its_run(bench: Bench) -> None:
    """A function invoked `async` runs with its secrets after its workflow has ended, and hurts nobody if it fails."""
    action = {"functionRef": {"refName": "f", "arguments": {"key": "${ $SECRETS.token }"}, "invoke": "async"}}
    definition = define({"name": "a", "type": "operation", "actions": [action]}, functions=("f",), secrets=["token"])
    called = asyncio.Event()

    async def late(arguments: JSON) -> None:
        await asyncio.sleep(0.1)
        seen.append(arguments)
        called.set()
        raise ValueError("nobody minds")

    seen: list[JSON] = []
    async with bench.worker(definition, secrets={"token": "s3cr3t"}, f=late) as worker:
        assert await worker.run({"n": 1}) == {"n": 1}
        assert seen == []
        await asyncio.wait_for(called.wait(), 30)

    assert seen == [{"key": "s3cr3t"}]


async def test_an_async_sub_workflow_ends_with_its_parent(bench: Bench) -> None:
    """An async sub-workflow that may not continue is ended when its parent completes; one that may goes on."""
    sleeping = {"name": "nap", "type": "sleep", "duration": "PT1H"}
    children = [define(sleeping, id="ends"), define(sleeping, id="goes-on")]
    parent = define(
        {
            "name": "a", "type": "operation",
            "actions": [
                {"subFlowRef": {"workflowId": "ends", "invoke": "async"}},
                {"subFlowRef": {"workflowId": "goes-on", "invoke": "async", "onParentComplete": "continue"}},
            ],
        },
    )  # fmt: skip
    async with bench.worker(parent, *children) as worker:
        handle = await worker.start()
        await handle.result()
        ids = [await child_of(bench.client, handle.id, f"a/{name}#1") for name in ("ends", "goes-on")]
        ends, goes_on = (bench.client.get_workflow_handle(child) for child in ids)
        await until(ends.describe, lambda one: one.status != WorkflowExecutionStatus.RUNNING)

        assert (await ends.describe()).status == WorkflowExecutionStatus.TERMINATED
        assert (await goes_on.describe()).status == WorkflowExecutionStatus.RUNNING
        await goes_on.terminate()
