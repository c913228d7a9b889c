"""How many instances of a definition run at once, on a real server."""

import asyncio
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import ResetReapplyExcludeType
from temporalio.client import WorkflowExecutionStatus

from swf_temporal.base.strict_json import write_json
from swf_temporal.cli.instance_display import InstanceDisplay
from swf_temporal.cli.output import OutputFormat
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.operations.instances import facts_of
from swf_temporal.operations.rerunning import plan_rerun
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import own_place, places
from swf_temporal.temporal.constants import PLACE
from swf_temporal.temporal.place_records import PLACES, TAKE, places_id
from tests.temporal.building import awaits, inject, subflow, switch
from tests.temporal.conftest import (
    PATIENCE,
    Bench,
    Running,
    calling,
    define,
    failed_tasks,
    failure_of,
    outcome,
    replays,
    reset,
    told_in,
    until,
    was_continued,
)
from tests.temporal.test_event_starts import event

GO = event("go", "go", "test")
EXCEPT_UPDATES: Any = {"reset_reapply_exclude_types": [ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE]}
"""Signals that have come since a reset come again."""


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "LOOK_PAUSE", timedelta(milliseconds=100))
    monkeypatch.setattr(places, "LOOK_INTERVAL", timedelta(milliseconds=400))


def bounded(concurrency: Any, *, functions: tuple[str, ...] = (), **rest: Any) -> Definition:
    """Return a definition whose instances run until they are sent an event, and only so many at once."""
    return define(
        awaits("Wait", "Go"), *([calling("Work", *functions)] if functions else []), functions=functions,
        events=[{"name": "Go", "type": "go", "source": "test"}], metadata={"concurrency": concurrency},
        id=rest.pop("id", f"bounded-{next(Bench.numbers)}"), **rest,
    )  # fmt: skip


async def go(running: Running, handle: swf.Handle) -> None:
    await running.awaiting(handle, "Go")
    await running.send(handle, GO)
    await outcome(handle)


async def waiting(handle: swf.Handle) -> Any:
    """Wait until an instance, which has not begun, waits for a place; return what it says of that."""
    status = await until(lambda: handle.query("status"), lambda one: one["state"] or one.get("awaitedPlace"))
    assert status["state"] is None
    return status["awaitedPlace"]


def giver_of(running: Running, *key: Any, definition: int = 0) -> swf.Handle:
    """Return what gives places to the instances of a definition, or of a key."""
    of = places_id(running.definitions[definition].id, *(key or (None,)), has_key=bool(key))
    return running.bench.handle(of)


async def queued(giver: swf.Handle, held: int, waiting: int) -> None:
    """Wait until so many have a place, and so many wait."""
    of = ("held", "waiting")
    so_many = [held, waiting]
    await until(lambda: giver.query("status"), lambda one: [len(one["places"][key]) for key in of] == so_many)


async def in_order(running: Running, number: int, data: Any = None) -> list[swf.Handle]:
    """Start so many instances of which the first has a place, in this order."""
    handles = []
    for one in range(number):
        handles.append(await running.start(data or {}))
        await (waiting(handles[-1]) if one else running.awaiting(handles[-1], "Go"))
    return handles


async def test_one_runs_after_the_other(bench: Bench) -> None:
    """Those that wait have not begun, say so, and run in the order in which they came; histories replay."""
    async with bench.worker(bounded(1)) as running:
        handles = await in_order(running, 3)
        giver = giver_of(running)
        assert await waiting(handles[1]) == {"limit": 1, "givenBy": giver.id}
        await queued(giver, 1, 2)
        facts = await facts_of(Client(bench.client), giver.id)
        assert facts["places"]["held"] == [handles[0].id]
        assert facts["places"]["waiting"] == [handles[1].id, handles[2].id]
        assert "calls" not in facts
        [entry] = [one for one in await handles[1].query("trace") if one["kind"] == "place-awaited"]
        assert entry["detail"] == {"limit": 1}
        for handle in handles:
            await go(running, handle)
        await queued(giver, 0, 0)
        for one in (*handles, giver):
            assert await replays(await one.fetch_history()) is None


async def test_as_many_run_as_the_definition_says(bench: Bench) -> None:
    """A limit that is written as a text counts, and events that come to one that waits are kept for it."""
    async with bench.worker(bounded("2")) as running:
        first, second = await running.start({}), await running.start({})
        await running.awaiting(first, "Go")
        await running.awaiting(second, "Go")
        third = await running.start({})
        await waiting(third)
        await running.send(third, GO)
        await go(running, second)
        assert await outcome(third) == {}
        await go(running, first)


async def test_each_key_has_places_of_its_own(bench: Bench) -> None:
    """The key is an expression over the input, and people see which it is."""
    definition = bounded({"limit": 1, "key": "${ .customer }"})
    async with bench.worker(definition) as running:
        first = await running.start_awaiting("Go", {"customer": {"id": 7}})
        second = await running.start({"customer": {"id": 7}})
        giver = giver_of(running, {"id": 7})
        assert await waiting(second) == {"limit": 1, "key": {"id": 7}, "givenBy": giver.id}
        other = await running.start({"customer": {"id": 8}})
        await go(running, other)
        await queued(giver_of(running, {"id": 7}), 1, 1)
        await go(running, first)
        await go(running, second)


async def test_people_see_who_waits(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`swf status` tells it of an instance that waits, and of what gives the places; so do the details in the UI."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    display = InstanceDisplay(OutputFormat.TEXT, None, None)
    definition = bounded({"limit": 1, "key": "${ .customer }"})
    async with bench.worker(definition) as running:
        first, second = await in_order(running, 2, data={"customer": "c7"})
        told = f'at most 1 at once (instances of {definition.id} with key "c7")'
        await display.at_one(Client(bench.client), second.id, with_trace=True)
        out = capsys.readouterr().out
        giver = giver_of(running, "c7")
        assert f"\n  waits for a place: {told}\n  places are given by: {giver.id}\n" in out
        assert "\nwaits for a place: at most 1 at once\n" in out
        details = await second.query("__temporal_workflow_metadata")
        assert f"waits for a place: {told}" in details.current_details
        await queued(giver, 1, 1)
        await display.at_one(Client(bench.client), giver.id, with_trace=False)
        lines = capsys.readouterr().out.splitlines()
        assert lines[1:] == [f"  {told}", f"  has a place: {first.id}", f"  waits: {second.id}"]
        await go(running, first)
        await go(running, second)


async def test_a_key_that_cannot_be_evaluated_fails_the_instance(bench: Bench) -> None:
    failure = await bench.failure(bounded({"limit": 1, "key": "${ .a + 1 }"}), {"a": "text"})
    assert "the key of metadata.concurrency" in str(failure)


async def test_one_that_waits_can_be_cancelled(bench: Bench) -> None:
    """It leaves the queue, and so does one that is terminated once its turn has come."""
    async with bench.worker(bounded(1)) as running:
        handles = await in_order(running, 4)
        await handles[1].cancel()
        assert (await failure_of(handles[1])).how == "cancelled"
        await handles[2].terminate()
        await queued(giver_of(running), 1, 2)
        await go(running, handles[0])
        await go(running, handles[3])
        await queued(giver_of(running), 0, 0)


@pytest.mark.parametrize("end", ["fails", "is terminated", "is cancelled"])
async def test_a_place_is_given_back_whatever_the_end(bench: Bench, end: str) -> None:
    """Whether its holder says so, or is found to have ended."""

    def work(_: Any) -> Any:
        raise ValueError("broken")

    definition = bounded(1, functions=("work",))
    async with bench.worker(definition, work=work if end == "fails" else 1) as running:
        first = await running.start_awaiting("Go", {})
        second = await running.start({})
        await waiting(second)
        if end == "is terminated":
            await first.terminate()
        elif end == "is cancelled":
            await first.cancel()
        else:
            await running.send(first, GO)
        await running.awaiting(second, "Go")
        await queued(giver_of(running), 1, 0)


async def test_places_end_when_nobody_asks(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if their holder was terminated, and nobody has ever waited there: it is found to have ended."""
    monkeypatch.setattr(places, "REST_INTERVAL", timedelta(milliseconds=400))
    monkeypatch.setattr(places, "IDLE", timedelta(milliseconds=200))
    async with bench.worker(bounded(1)) as running:
        for _ in range(2):
            await go(running, await running.start({}))
            await until(giver_of(running).describe, lambda one: one.status is WorkflowExecutionStatus.COMPLETED)
        first = await running.start_awaiting("Go", {})
        await first.terminate()
        await until(giver_of(running).describe, lambda one: one.status is WorkflowExecutionStatus.COMPLETED)


async def test_a_look_that_is_lost_is_made_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that was killed with it does not hold up the others."""
    monkeypatch.setattr(places, "LOOK_HEARTBEAT", timedelta(seconds=1))
    looks, is_running = count(1), places.PlaceActivities._is_running

    async def lost(self: places.PlaceActivities, *given: str) -> bool:
        if next(looks) == 1:
            await asyncio.sleep(2 * PATIENCE)
        return await is_running(self, *given)

    monkeypatch.setattr(places.PlaceActivities, "_is_running", lost)
    async with bench.worker(bounded(1)) as running:
        first, second = await in_order(running, 2)
        await first.terminate()
        await running.awaiting(second, "Go")


async def test_one_that_continues_as_new_keeps_its_place(bench: Bench) -> None:
    """It does not ask again, and gives it back at its end."""
    async with bench.worker(bounded(1)) as running:
        first = await running.start({}, suspend_after=12)
        handle = bench.handle(first)
        await running.awaiting(handle, "Go")  # it has the place, and is not long yet
        second = await running.start({})
        await waiting(second)
        await running.send(first, event("other", "kept", "test"))
        await until(lambda: was_continued(handle))
        await running.awaiting(handle, "Go")
        await queued(giver_of(running), 1, 1)
        await go(running, handle)
        await go(running, second)
        assert len(await told_in(giver_of(running), "workflow_execution_signaled")) == 4


@pytest.mark.parametrize("to", ["the same", "another"])
async def test_one_that_continues_as_another_waits_there(bench: Bench, to: str) -> None:
    """It gives the place back that it had; as an instance of the same definition it keeps that."""
    of, other = f"chain-{next(Bench.numbers)}", bounded(1)
    again = switch("Again", ".go", {"transition": "Done"}, {"transition": "On"})
    on = inject("On", {"go": True}, end={"continueAs": of if to == "the same" else other.id})
    chain = define(again, on, inject("Done", {"done": True}), id=of, metadata={"concurrency": 1})
    async with bench.worker(chain, other) as running:
        if to == "the same":
            assert await running.run({}) == {"go": True, "done": True}
            assert len(await told_in(giver_of(running), "workflow_execution_signaled")) == 2
            return
        ahead = await running.start_awaiting("Go", {}, definition=1)
        first = await running.start({})
        handle = bench.handle(first)
        await queued(giver_of(running, definition=1), 1, 1)
        await queued(giver_of(running), 0, 0)
        await go(running, ahead)
        await go(running, handle)
        await queued(giver_of(running, definition=1), 0, 0)


async def test_a_worker_that_is_away_changes_nothing(bench: Bench) -> None:
    definition = bounded(1)
    async with bench.worker(definition) as running:
        handles = await in_order(running, 3)
    async with bench.worker(definition, queue=running.queue) as running:
        for handle in handles:
            await go(running, handle)


async def test_it_continues_as_new_with_those_that_wait(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MAX_EVENTS", 12)
    async with bench.worker(bounded(1)) as running:
        handles = await in_order(running, 4)
        giver = giver_of(running)

        await until(lambda: was_continued(giver))
        for handle in handles:
            await go(running, handle)
        await queued(giver, 0, 0)


async def test_a_full_queue_takes_no_more(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MAX_WAITING", 1)
    async with bench.worker(bounded(1)) as running:
        handles = await in_order(running, 2)
        failure = await running.failure({})
        assert failure.name == "TooManyWaiting"
        assert "1 instances wait for a place already, and no more may: at most 1 of 'bounded-" in str(failure)
        for handle in handles:
            await go(running, handle)


async def test_a_sub_workflow_runs_in_the_place_above_it(bench: Bench) -> None:
    """Nobody waits for itself: one that calls itself needs one place, and another definition has its own."""
    of = f"nested-{next(Bench.numbers)}"
    down = switch("Down", "${ .n > 0 }", {"transition": "Call"}, {"transition": "Done"})
    call = subflow("Call", of, stateDataFilter={"input": "${ {n: (.n - 1)} }"}, end=True)
    nested = define(down, call, inject("Done", {"done": True}), id=of, metadata={"concurrency": 1})
    async with bench.worker(nested) as running:
        assert await running.run({"n": 2}) == {"n": 0, "done": True}
        await queued(giver_of(running), 0, 0)
        assert [one.signal_name for one in await told_in(giver_of(running), "workflow_execution_signaled")] == [
            TAKE,
            TAKE,
        ]


async def test_one_that_is_reset_has_one_place(bench: Bench) -> None:
    """It asks again, and has the place that it had; what told it so before the reset counts for nothing."""
    async with bench.worker(bounded(1)) as running:
        first, second = await in_order(running, 2)
        again = await reset(first, bench.client, **EXCEPT_UPDATES)
        await running.awaiting(again, "Go")
        await queued(giver_of(running), 1, 1)
        looked = "activity_task_completed"
        await until(lambda: told_in(giver_of(running), looked), lambda found: len(found) >= 3)
        await queued(giver_of(running), 1, 1)
        await go(running, again)
        await running.awaiting(second, "Go")
        ended = await reset(again, bench.client, **EXCEPT_UPDATES)
        await waiting(ended)
        await queued(giver_of(running), 1, 1)
        await go(running, second)
        await outcome(ended)


async def test_one_that_failed_and_goes_on_counts_again(bench: Bench) -> None:
    """A rerun does not wait, since its state has begun; those that come then wait for it, too."""
    broken = [True]

    def work(_: Any) -> Any:
        if broken:
            raise ValueError("broken")
        return {}

    async with bench.worker(bounded(1, functions=("work",)), work=work) as running:
        first = await running.start_awaiting("Go", {})
        await running.send(first, GO)
        await failure_of(first)
        await queued(giver_of(running), 0, 0)
        plan = await plan_rerun(Client(bench.client), first.id, "Wait")
        run = await plan.begin(Client(bench.client), drop_events=True)
        again = bench.handle(first, run)
        await queued(giver_of(running), 1, 0)
        second = await running.start({})
        await waiting(second)
        broken.clear()
        await go(running, again)
        await running.awaiting(second, "Go")


async def test_one_that_goes_on_before_it_continued_as_another_has_no_place_there(bench: Bench) -> None:
    """It runs still, and has the same first run, but as an instance of the definition before."""
    other = bounded(1)
    begin = awaits("Begin", "Start", end={"continueAs": other.id})
    start = {"name": "Start", "type": "start", "source": "test"}
    chain = define(begin, events=[start], id=f"chain-{next(Bench.numbers)}")
    async with bench.worker(other, chain) as running:
        first = await running.start({}, definition=1)
        handle = bench.handle(first)
        await running.awaiting(handle, "Start")
        await running.send(first, event("start", "start", "test"))
        await running.awaiting(handle, "Go")
        second = await running.start({})
        await waiting(second)
        plan = await plan_rerun(Client(bench.client), first.id, "Begin")
        await plan.begin(Client(bench.client), drop_events=True)
        await running.awaiting(handle, "Start")
        await go(running, second)
        await running.send(first, event("again", "start", "test"))
        await go(running, handle)


async def test_without_a_limit_nothing_is_asked(bench: Bench) -> None:
    async with bench.worker(define(inject("A"))) as running:
        handle = await running.start({})
        await outcome(handle)
    for kind in ("marker_recorded", "signal_external_workflow_execution_initiated", "timer_started"):
        assert await told_in(handle, kind) == []


async def test_one_that_is_not_answered_asks_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What gives the places may have been terminated."""
    monkeypatch.setattr(own_place, "ANSWER_LIMIT", timedelta(seconds=1))
    async with bench.worker(bounded(1)) as running:
        _, second = await in_order(running, 2)
        await giver_of(running).terminate()
        await running.awaiting(second, "Go")


NO_RECORDS: list[Any] = [{"limit": 1}, {"instance": "", "run": "a"}, {"instance": "a", "run": "b", "limit": "x"}]
MESSAGES: list[Any] = [{}, 7, None, *NO_RECORDS]


async def test_what_is_no_message_is_dropped(bench: Bench) -> None:
    async with bench.worker(bounded(1)) as running:
        handle = await running.start_awaiting("Go", {})
        for message in MESSAGES:
            await giver_of(running).signal(TAKE, message)
            await handle.signal(PLACE, message)
        await go(running, handle)
        await queued(giver_of(running), 0, 0)
        assert [await failed_tasks(one) for one in (giver_of(running), handle)] == [[], []]


def test_ids_of_places() -> None:
    assert places_id("order", None, has_key=False) == "swf-places/order"
    assert places_id("order", "a", has_key=True) != places_id("order", None, has_key=True)
    assert len(places_id("x" * 900, write_json({"a": 1}), has_key=True)) <= 255
    assert PLACES.startswith("swf ")
