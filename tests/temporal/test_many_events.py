"""Instances that get more events than one execution, or one payload, has room for: none lost, none twice, in order."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio.client import WorkflowHistory

from swf_temporal.base.client_errors import InboxFullError
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.languages.port import Definition
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import continuing
from swf_temporal.temporal.server import local_server
from tests.temporal.building import awaits, consumed, switch
from tests.temporal.conftest import (
    Bench,
    Running,
    calling,
    define,
    failure_of,
    killed,
    outcome,
    replays,
    start_worker,
    until,
    was_continued,
)

EVENTS = consumed("number", "go", source="test")
LAST = 58


def number(n: int, **more: JSON) -> dict[str, JSON]:
    return {"specversion": "1.0", "id": str(n), "source": "test", "type": "number", "data": {"n": n, **more}}


def go(n: int = 0) -> dict[str, JSON]:
    return {"specversion": "1.0", "id": f"go-{n}", "source": "test", "type": "go", "data": {}}


def taking(first: dict[str, Any], last: int = LAST) -> Definition:
    """Return a workflow that begins with the state *first*, and then takes numbers one by one up to *last*."""
    taken = {"eventRefs": ["number"], "eventDataFilter": {"data": "${ .n }", "toStateData": "${ .n }"}}
    output = {"output": "${ {numbers: (.numbers + [.n])} }"}
    return define(
        {**first, "transition": "take"},
        {"name": "take", "type": "event", "onEvents": [taken], "stateDataFilter": output, "transition": "more"},
        switch("more", f"${{ .numbers | length < {last} }}", {"transition": "take"}, {"end": True}),
        functions=("f",), events=EVENTS,
    )  # fmt: skip


def waiting(last: int = LAST) -> Definition:
    """Return a workflow that asks for numbers only when it has been told to go on."""
    return taking(awaits("wait", "go"), last)


@asynccontextmanager
async def executions(bench: Bench, handle: swf.Handle) -> AsyncIterator[list[WorkflowHistory]]:
    """Yield a list that has the histories of all executions of an instance when the context has ended, latest first."""
    found: list[WorkflowHistory] = []
    yield found
    run_id: str | None = (await bench.handle(handle).describe()).run_id
    while run_id:
        history = await bench.handle(handle, run_id).fetch_history()
        found.append(history)
        run_id = history.events[0].workflow_execution_started_event_attributes.continued_execution_run_id


async def send(worker: Running, handle: swf.Handle, first: int, last: int, **more: JSON) -> None:
    """Send the numbers from *first* to *last*, and one in ten of them twice."""
    for n in range(first, last + 1):
        for _ in range(2 if n % 10 == 0 else 1):
            await worker.send(handle, number(n, **more))


async def keeps(handle: swf.Handle, number: int) -> None:
    """Wait until an instance keeps so many events."""
    await until(lambda: handle.query("status"), lambda status: len(status["kept"]) >= number)


@pytest.mark.parametrize("limit", [{"suspend_after": 40}, {}], ids=["a long history", "many signals"])
async def test_an_instance_that_only_keeps_events_continues_as_new(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, limit: dict[str, Any]
) -> None:
    """It takes no step, at which it would be seen how long its history is; the events that come are enough."""
    if not limit:
        monkeypatch.setattr(continuing, "MAX_SIGNALS", 20)
    async with bench.worker(waiting()) as worker:
        handle = await worker.start({"numbers": []}, **limit)
        async with executions(bench, handle) as histories:
            await worker.awaiting(handle, "go")
            await send(worker, handle, 1, LAST)
            await keeps(bench.handle(handle), LAST)
            has_continued = await was_continued(bench.handle(handle))
            await worker.send(handle, go())
            output = await outcome(bench.handle(handle))
    assert output == {"numbers": list(range(1, LAST + 1))}
    assert has_continued
    assert [await replays(one) for one in histories] == [None] * len(histories)


async def test_events_that_come_during_a_long_call_are_taken_after_it(bench: Bench) -> None:
    """An instance that is to continue as new, and waits for a call, keeps what comes meanwhile, in its order."""
    is_over = asyncio.Event()
    definition = taking(calling("call", "f", "f"))

    async def f(_: JSON) -> JSON:
        await is_over.wait()
        return {}

    async with bench.worker(definition, f=f) as worker:
        handle = await worker.start({"numbers": []}, suspend_after=40)
        async with executions(bench, handle) as histories:
            await send(worker, handle, 1, LAST - 10)
            await keeps(handle, LAST - 10)
            is_over.set()
            await send(worker, handle, LAST - 9, LAST)
            output = await outcome(bench.handle(handle))
    assert output == {"numbers": list(range(1, LAST + 1))}
    assert len(worker.scripted.calls) == 2
    assert len(histories) > 1
    assert [await replays(one) for one in histories] == [None] * len(histories)


OUTPUT = {"output": "${ {round: (.round + 1), numbers: (.numbers + [.n])} }"}
ALL = awaits("all", "number", "go", exclusive=False, stateDataFilter=OUTPUT, transition="again")
CALLBACK = {
    "name": "all", "type": "callback", "action": {"functionRef": "f", "actionDataFilter": {"useResults": False}},
    "eventRef": "number", "stateDataFilter": OUTPUT, "transition": "again",
}  # fmt: skip


@pytest.mark.parametrize("state", [ALL, CALLBACK], ids=["not exclusive", "callback"])
async def test_states_that_wait_for_more_take_each_event_once(bench: Bench, state: dict[str, Any]) -> None:
    """An event state that needs several events, and one that calls first, go through a stream in its order."""
    rounds = 12
    again = switch("again", f"${{ .round < {rounds} }}", {"transition": "all"}, {"end": True})
    definition = define(state, again, functions=("f",), events=EVENTS)
    async with bench.worker(definition, f={}) as worker:
        handle = await worker.start({"round": 0, "numbers": []}, suspend_after=30)
        async with executions(bench, handle) as histories:
            await asyncio.gather(send(worker, handle, 1, rounds), *(worker.send(handle, go(n)) for n in range(rounds)))
            output = await outcome(bench.handle(handle))
    assert output == {"round": rounds, "numbers": list(range(1, rounds + 1))}
    assert len(histories) > 1


LARGE, MANY = "x" * 150_000, 16
"""Events that together are more than one payload holds."""


async def test_what_cannot_be_carried_over_stays(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """An instance that keeps too much goes on where it is, says so, and continues as new once it has taken some."""
    monkeypatch.setattr(continuing, "TRY_AGAIN", 5)
    async with bench.worker(waiting(MANY + 12)) as worker:
        handle = await worker.start({"numbers": []}, suspend_after=10)
        async with executions(bench, handle) as histories:
            await send(worker, handle, 1, MANY, text=LARGE)
            await keeps(bench.handle(handle), MANY)
            with pytest.raises(InboxFullError, match="keeps 16 events that no state has taken yet"):
                await swf.deliver(bench.client, handle.id, number(MANY + 1))
            await swf.deliver(bench.client, handle.id, go())
            for n in range(MANY + 1, MANY + 13):
                await swf.deliver(bench.client, handle.id, number(n))
            output = await outcome(bench.handle(handle))
    assert output == {"numbers": list(range(1, MANY + 13))}
    assert len(histories) > 1
    assert [await replays(one) for one in histories] == [None] * len(histories)


async def test_a_run_that_can_neither_stay_nor_go_fails(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the server ends an execution, a run fails that has more to carry over than a payload holds."""
    monkeypatch.setattr(continuing, "TRY_AGAIN", 5)
    monkeypatch.setattr(continuing, "LAST_EVENTS", 40)
    async with bench.worker(waiting()) as worker:
        handle = await worker.start({"numbers": []}, suspend_after=10)
        with suppress(UsageError):  # it ends while it is sent more
            await send(worker, handle, 1, LAST, text=LARGE)
            # A busy worker may have taken many of them in one workflow task; it looks how long it is once in each.
            for n in range(LAST + 1, 5 * LAST):
                await asyncio.sleep(0.1)
                await send(worker, handle, n, n)
        failed = await failure_of(bench.handle(handle))
    assert failed.name == "PayloadTooLarge"
    assert "events that no state has taken" in failed.message


COUNTING = """
id: counting
specVersion: "0.8"
keepActive: true
events: [{name: number, type: number, source: test}]
states:
- name: Count
  type: event
  onEvents: [{eventRefs: [number]}]
  stateDataFilter:
    output: "${ {count: (.count + 1), sum: (.sum + .n), rising: (.rising and .n > .last), last: .n} }"
  end: true
"""
STREAM = 390


async def test_workers_killed_during_a_stream_lose_nothing(bench: Bench, tmp_path: Path) -> None:
    """Killed with -9 again and again while events come, workers take each event once, and in order."""
    (tmp_path / "counting.sw.yaml").write_text(COUNTING)
    queue, workflow_id = f"stream-{uuid4()}", f"counting-{uuid4()}"
    worker = start_worker(bench, tmp_path, queue)
    try:
        data = {"count": 0, "sum": 0, "rising": True, "last": 0}
        handle = await bench.client.start_workflow("counting", data, id=workflow_id, task_queue=queue)
        for n in range(1, STREAM + 1):
            await swf.send_event(bench.client, workflow_id, number(n))
            if n % (STREAM // 3) == 0:
                killed(worker)
                worker = start_worker(bench, tmp_path, queue)
        found = await until(lambda: handle.query("data"), lambda one: one["count"] >= STREAM)
    finally:
        killed(worker)
    assert found == {"count": STREAM, "sum": STREAM * (STREAM + 1) // 2, "rising": True, "last": STREAM}
    await handle.terminate()


async def test_senders_are_told_that_an_execution_takes_no_more() -> None:
    """The server refuses what is more than an execution may get, until the instance goes on in another."""
    most, is_over = 30, asyncio.Event()
    limit = ("--dynamic-config-value", f"history.maximumSignalsPerExecution={most}")

    async def f(_: JSON) -> JSON:
        await is_over.wait()
        return {}

    async with local_server(extra=limit) as server, Bench(server).worker(taking(calling("call", "f")), f=f) as worker:
        handle = await worker.start({"numbers": []}, suspend_after=20)
        async with executions(worker.bench, handle) as histories:
            for n in range(1, most + 1):
                await swf.send_event(server.client, handle.id, number(n))
            with pytest.raises(InboxFullError, match="was sent more events than one execution accepts"):
                await swf.send_event(server.client, handle.id, number(most + 1))
            is_over.set()
            for n in range(most + 1, LAST + 1):
                await until(partial(_is_sent, worker, handle, n))
            output = await outcome(server.client.get_workflow_handle(handle.id))
    assert output == {"numbers": list(range(1, LAST + 1))}
    assert len(histories) > 1


async def _is_sent(worker: Running, handle: swf.Handle, n: int) -> bool:
    try:
        await worker.send(handle, number(n))
    except InboxFullError:
        return False
    return True
