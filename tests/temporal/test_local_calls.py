"""Calls that are made within the workflow task."""

import asyncio
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.variables import NotLocal
from swf_temporal.temporal import activities
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.outgoing import MAX_BYTES_AT_ONCE
from tests.temporal.building import inject, operation, sleeps
from tests.temporal.conftest import (
    PATIENCE,
    Bench,
    Running,
    calling,
    define,
    events_of,
    failure_of,
    gives_way,
    killed,
    outcome,
    replays,
    start_worker,
    was_continued,
)
from tests.temporal.suspending import SUSPEND_AFTER

LOCAL = {"local": True}


def local(*states: dict[str, Any], **rest: Any) -> Definition:
    """Return a workflow of *states* whose function `work` has local calls, and `other` has none."""
    work = {"name": "work", "type": "custom", "operation": "work", "metadata": LOCAL}
    return define(*states, functions=(work, "other"), **rest)


async def counted(handle: swf.Handle) -> Counter[str]:
    kinds = (str(event.WhichOneof("attributes")) for event in await events_of(handle))
    return Counter(kind.removesuffix("_event_attributes") for kind in kinds)


def keys_of(worker: Running) -> list[str]:
    return [key for *_, key, _ in worker.scripted.calls]


async def test_local_calls_cost_a_marker_each(bench: Bench) -> None:
    """Ten in sequence are made in one workflow task; each has a key of its own, as that of any call."""
    async with bench.worker(local(calling("Ten", *["work"] * 10)), work=lambda _: {"done": True}) as worker:
        handle = await worker.start({})
        assert await swf.result(handle) == {"done": True}

    events = await counted(handle)
    assert events["marker_recorded"] == 10
    assert events["workflow_task_completed"] == 1
    assert events.total() <= 18
    begun = f"{handle.id}/{(await handle.describe()).run_id}"
    assert keys_of(worker) == [f"{begun}/Ten/work#{number}" for number in range(1, 11)]


async def test_keys_name_the_execution_in_which_the_run_began(bench: Bench) -> None:
    """A task that was lost may be made up for in the next execution: its calls have the same keys there."""
    async with bench.worker(local(calling("Two", "work", "work")), work=lambda _: {"done": True}) as worker:
        handle = await worker.start({}, **{SUSPEND_AFTER: 2})
        await swf.result(handle)
    assert await was_continued(bench.handle(handle))
    assert keys_of(worker) == [f"{handle.id}/{handle.first_execution_run_id}/Two/work#{n}" for n in (1, 2)]


async def test_an_attempt_that_comes_late_goes_on_as_an_activity(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts are counted on, under the same key; the pause is a timer."""

    def work(_: JSON) -> JSON:
        if len(worker.scripted.calls) < 3:
            raise CallFailed("not yet", code="503")
        return {"done": True}

    monkeypatch.setattr(activities, "MAX_RETRYING", timedelta(seconds=1))
    action = {"functionRef": "work", "retryRef": "Later"}
    rule = {"name": "Later", "delay": "PT0.01S", "multiplier": 600, "maxDelay": "PT1.5S", "maxAttempts": 3}
    definition = local(operation("Work", action), retries=[rule])
    async with bench.worker(definition, work=work) as worker:
        handle = await worker.start({})
        await swf.result(handle)
    assert [attempt for *_, attempt in worker.scripted.calls] == [1, 2, 3]
    assert len(set(keys_of(worker))) == 1
    events = await counted(handle)
    assert (events["marker_recorded"], events["timer_fired"], events["activity_task_completed"]) == (1, 1, 1)
    assert await replays(await handle.fetch_history()) is None


async def test_what_a_worker_refuses_is_an_ordinary_activity(bench: Bench) -> None:
    def work(_: JSON) -> JSON:
        if len(worker.scripted.calls) == 1:
            raise NotLocal("not here")
        return {"done": True}

    async with bench.worker(local(calling("Work", "work", "work")), work=work) as worker:
        handle = await worker.start({})
        assert await swf.result(handle) == {"done": True}

    events = await counted(handle)
    assert (events["marker_recorded"], events["activity_task_completed"]) == (1, 2)


async def test_a_local_call_delays_no_timer(bench: Bench) -> None:
    """While a timer is due soon, calls are ordinary activities; one that is due later does not matter."""
    soon = local(calling("Work", "work", timeouts={"stateExecTimeout": "PT20S"}))
    late = local(calling("Work", "work", timeouts={"stateExecTimeout": "PT2H"}), id="late")
    async with bench.worker(soon, late, work={"done": True}) as worker:
        found = []
        for number in range(2):
            handle = await worker.start({}, definition=number)
            await swf.result(handle)
            found.append((await counted(handle))["activity_task_completed"])
    assert found == [1, 0]


async def test_the_timeout_of_an_action_ends_a_local_call(bench: Bench) -> None:
    """A call that does not end in time fails as any other does, and so it does on replay."""
    caught = [{"errorRef": "Late", "transition": "Nap"}]
    state = calling("Work", "work", timeouts={"actionExecTimeout": "PT0.2S"}, onErrors=caught, transition="Nap")
    nap = sleeps("Nap", "PT0.01S")
    seen = inject("Seen", {"error": "${ $WORKFLOW.error.message }"})
    definition = local(state, nap, seen, errors=[{"name": "Late", "code": "TimedOut"}])
    async with bench.worker(definition, work=lambda _: asyncio.sleep(60)) as worker:
        handle = await worker.start({})
        output: Any = await swf.result(handle)
    assert output["error"] == "action 'work' took longer than it may"
    assert await replays(await handle.fetch_history()) is None


@pytest.mark.parametrize("side_by_side", [1, 20])
async def test_results_that_do_not_fit_into_one_task(bench: Bench, side_by_side: int) -> None:
    """Results of local calls that the server would not take at once are those of activities."""
    size = 100_000 if side_by_side > 1 else MAX_BYTES_AT_ONCE // 2
    branches = [{"name": f"B{number}", "actions": [{"functionRef": "work"}]} for number in range(side_by_side)]
    states = {"name": "Work", "type": "parallel", "branches": branches}
    async with bench.worker(local(states), work=lambda _: {"text": "x" * size}) as worker:
        handle = await worker.start({})
        output: Any = await swf.result(handle)
    assert len(output["text"]) == size
    events = await counted(handle)
    assert events["workflow_task_failed"] == 0
    yields = sum(map(gives_way, await events_of(handle)))
    assert (events["activity_task_completed"] > yields) == (side_by_side == 1)


async def test_a_local_call_is_seen_and_cancelled_while_it_is_made(bench: Bench) -> None:
    """Queries and cancellations get through whenever the workflow task is renewed, which its timeout decides."""
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def work(_: JSON) -> JSON:
        begun.set()
        try:
            return await asyncio.sleep(60, None)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    definition = local(calling("Work", "work"))
    async with bench.worker(definition, work=work) as worker:
        handle = await worker.begin(definition.id, {}, workflow_id="seen", task_timeout=timedelta(seconds=1))
        await begun.wait()
        status = await handle.query("status")
        await handle.cancel()
        await asyncio.wait_for(cancelled.wait(), PATIENCE)
        await failure_of(handle)
    assert status["localCalls"] == [{"id": "Work/work#1", "function": "work", "local": True}]
    assert (await handle.describe()).status is WorkflowExecutionStatus.CANCELED
    assert await replays(await handle.fetch_history()) is None


class Service:
    """A service that keeps the idempotency keys of its requests, and does not answer the second one."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.is_asked_twice = asyncio.Event()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r")[0] or 0))
                self.keys.append(head.partition("idempotency-key: ")[2].partition("\r")[0])
                if len(self.keys) == 2:
                    self.is_asked_twice.set()
                    await reader.read()  # until the worker has gone
                    break
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}")
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def test_a_worker_that_is_lost_in_the_middle(bench: Bench, tmp_path: Path) -> None:
    """Another makes the calls of its workflow task again, with the same keys, and those that follow once."""
    service = Service()
    server = await asyncio.start_server(service.answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    function = {"name": "pay", "type": "rest", "operation": f"rest:POST:{url}/pay", "metadata": LOCAL}
    (tmp_path / "lost.json").write_text(define(calling("Pay", *["pay"] * 3), functions=(function,)).source.text)
    handle = await bench.client.start_workflow(
        "sample", {}, id="lost", task_queue="lost", task_timeout=timedelta(seconds=2)
    )
    worker = start_worker(bench, tmp_path, "lost", SWF_ALLOW_HOSTS="127.0.0.1")
    try:
        await asyncio.wait_for(service.is_asked_twice.wait(), PATIENCE)
        killed(worker)
        worker = start_worker(bench, tmp_path, "lost", SWF_ALLOW_HOSTS="127.0.0.1")
        await asyncio.wait_for(handle.result(), PATIENCE)
    finally:
        killed(worker)
        server.close()

    run = (await handle.describe()).run_id
    keys = [f"lost/{run}/pay/pay#{number}" for number in (1, 2, 3)]
    made = Counter(service.keys)
    assert sorted(made) == keys
    assert (made[keys[0]] <= 2, made[keys[1]], made[keys[2]]) == (True, 2, 1)


async def test_failures_count_as_what_is_sent(bench: Bench) -> None:
    """A service that refuses a call may answer at length: several such answers are more than a server takes at once."""
    names = [f"S{number}" for number in range(6)]
    states = [
        calling(name, "work", onErrors=[{"errorRef": "Refused", "transition": after}], transition=after)
        for name, after in zip(names, [*names[1:], "Last"], strict=True)
    ]
    last = inject("Last", {"x": 1})

    def work(_: JSON) -> JSON:
        raise CallFailed("no", code="400", body="x" * 1_000_000)

    definition = local(*states, last, errors=[{"name": "Refused", "code": "400"}])
    async with bench.worker(definition, work=work) as worker:
        handle = await worker.start({})
        assert await outcome(handle) == {"x": 1}
    assert len(set(keys_of(worker))) == len(names)
    assert await replays(await handle.fetch_history()) is None


FILLING = [1_500_000, 780_000, 380_000, 170_000]
"""The sizes of results that fill the room of a workflow task."""


def filling(**rest: Any) -> Definition:
    """Return a workflow whose local calls fill the room of a task, and which goes on with two of their results."""
    return local(calling("Fill", *["work"] * len(FILLING), stateDataFilter={"output": "${ {r0, r2} }"}, **rest))


@pytest.mark.parametrize(
    "end", [True, {"continueAs": {"workflowId": "next", "data": "${ . }"}}], ids=["output", "data"]
)
async def test_an_output_is_sent_with_what_local_calls_have_sent(bench: Bench, end: Any) -> None:
    """With results that fill the room of a task it is more than a server takes at once, so it has a task of its own.

    So are the data of the workflow that it continues as.
    """
    results = iter([{f"r{number}": "x" * size} for number, size in enumerate(FILLING)])
    last = define(inject("Last", stateDataFilter={"output": "${ keys }"}), id="next")
    async with bench.worker(filling(end=end), last, work=lambda _: next(results)) as worker:
        handle = await worker.start({})
        output: Any = await outcome(handle)
    assert sorted(output) == ["r0", "r2"]
    assert sum(map(gives_way, await events_of(bench.first(handle)))) == 1
    assert await replays(await bench.first(handle).fetch_history()) is None


async def test_an_output_that_fits_is_sent_at_once(bench: Bench) -> None:
    """What local calls have sent leaves room for the output that there is, though not for the largest."""
    results = iter([{f"r{number}": "x" * 200_000} for number in range(6)])
    async with bench.worker(local(calling("Six", *["work"] * 6)), work=lambda _: next(results)) as worker:
        handle = await worker.start({})
        output: Any = await outcome(handle)
    events = await counted(handle)
    assert len(output) == 6
    assert events["marker_recorded"] == 6
    assert events["workflow_task_completed"] == 1
