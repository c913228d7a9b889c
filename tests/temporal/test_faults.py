"""What becomes of what goes wrong: attempts, failures and what is told of them."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.worker import make_worker
from tests.temporal.building import inject, operation
from tests.temporal.conftest import Bench, Running, Scripted, calling, define, failed_task, failure_of, told_in


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


async def test_retries_are_the_activitys_own(bench: Bench) -> None:
    """A call is tried again by the server: one activity, one key, no trace of the attempts in the history."""
    retry = {"name": "again", "delay": "PT0.01S", "maxAttempts": 5}
    first = operation("a", {"functionRef": "f", "retryRef": "again"})
    async with bench.worker(
        define(first, calling("b", "f"), functions=("f",), retries=[retry]), f=failing(3)
    ) as worker:
        handle = await worker.start()
        assert await handle.result() == {"calls": 5, "arguments": None}
    assert len(await told_in(handle, "activity_task_scheduled")) == 2
    assert [attempt for *_, attempt in worker.scripted.calls] == [1, 2, 3, 4, 1]
    assert [len({*keys}) for keys in ([key for *_, key, _ in worker.scripted.calls[:end]] for end in (4, 5))] == [1, 2]


async def test_a_failed_run_says_where_and_why(bench: Bench) -> None:
    """The failure names workflow, state, action, attempt, the answer, and that nothing caught it."""
    state = operation("Charge card", {"functionRef": "f", "retryRef": "again"})
    retry = {"name": "again", "delay": "PT0.01S", "maxAttempts": 3}
    answer = failing(9, code=502, status=502, body={"why": "busy"}, message="the service answered 502 Bad Gateway")
    failed = await bench.failure(define(state, functions=("f",), retries=[retry], id="orders"), f=answer)
    assert str(failed).splitlines() == [
        "workflow 'orders' failed in state 'Charge card'",
        "  action 'f', attempt 3",
        "  the service answered 502 Bad Gateway",
        "  no onErrors entry of 'Charge card' covers its code '502'",
    ]
    assert failed.fault is not None
    assert (failed.fault.code, failed.fault.status, failed.fault.body) == ("502", 502, {"why": "busy"})
    assert failed.fault.state == "Charge card"


async def test_data_that_is_too_large_fails_the_run_and_does_not_hang_it(bench: Bench) -> None:
    twice = operation("b", {"functionRef": {"refName": "f", "arguments": "${ [., .] }"}})
    failed = await bench.failure(define(inject("a", {"text": "x" * 1_200_000}), twice, functions=("f",)), f=1)
    assert failed.name == "PayloadTooLarge"


async def test_an_unknown_definition_is_named_with_what_is_known(bench: Bench) -> None:
    """A type that no definition has is left to another worker, and what is known here is said."""
    definition = define(inject("a"), id="orders")
    async with bench.worker(definition) as worker:
        handle = await worker.begin("order", {}, workflow_id="unknown-1")
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
    definition = define(inject("a"), dataInputSchema={"schema": {"type": "object"}})
    async with bench.worker(definition) as worker:
        handle = await worker.begin(workflow_type, *arguments, workflow_id=f"unready-{worker.queue}")
        await failure_of(handle)
    lines = [one.getMessage() for one in caplog.records if one.name == "swf.instance"]
    assert [line for line in lines if line.startswith(("failed", "completed", "cancelled"))] == lines[-1:]
    assert lines[-1].startswith(told)


async def test_a_call_that_nobody_waits_for_outlives_its_run(bench: Bench) -> None:
    """A function invoked `async` runs with its secrets after its workflow has ended, and hurts nobody if it fails."""
    action = {"functionRef": {"refName": "f", "arguments": {"key": "${ $SECRETS.token }"}, "invoke": "async"}}
    definition = define(operation("a", action), functions=("f",), secrets=["token"])
    called = asyncio.Event()

    seen: list[JSON] = []

    async def late(arguments: JSON) -> None:
        await asyncio.sleep(0.1)
        seen.append(arguments)
        called.set()
        raise ValueError("nobody minds")

    async with bench.worker(definition, secrets={"token": "s3cr3t"}, f=late) as worker:
        assert await worker.run({"n": 1}) == {"n": 1}
        assert seen == []
        await asyncio.wait_for(called.wait(), 30)
    assert seen == [{"key": "s3cr3t"}]


@asynccontextmanager
async def busy(bench: Bench, definition: Definition) -> AsyncIterator[Running]:
    """Run a worker for *definition* that makes one call at a time, and is making a long one meanwhile."""
    is_held, is_free = asyncio.Event(), asyncio.Event()

    async def hold(_: JSON) -> JSON:
        is_held.set()
        await is_free.wait()
        return None

    holding, scripted = define(calling("a", "hold"), functions=("hold",), id="holding"), Scripted({"hold": hold})
    queue = f"busy-{os.getpid()}-{next(Bench.numbers)}"
    known = Catalogue([definition, holding])
    worker = make_worker(bench.client, known, scripted, scripted, task_queue=queue, max_concurrent_activities=1)
    async with worker:
        running = Running(bench, [definition, holding], scripted, queue, worker)
        held = await running.start(definition=1)
        await is_held.wait()
        try:
            yield running
        finally:
            is_free.set()
            await swf.result(held)


async def test_a_call_that_waits_for_a_worker_times_out(bench: Bench) -> None:
    """ActionExecTimeout includes the time until a worker takes the call."""
    definition = define(
        calling("a", "f", timeouts={"actionExecTimeout": "PT0.5S"}, onErrors=[{"errorRef": "slow", "transition": "b"}]),
        inject("b", {"was": "late"}), functions=("f",), errors=[{"name": "slow", "code": "TimedOut"}],
    )  # fmt: skip
    async with busy(bench, definition) as running:
        assert await running.run() == {"was": "late"}
