"""Long runs: continued as new between two steps, by themselves or because the definition says so."""

import asyncio
import json
import re
from contextlib import suppress
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError

from swf_temporal import RunEnded
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import continuing
from swf_temporal.temporal.records import Pin, pinned
from tests import sampling
from tests.temporal.building import awaits, consumed, inject, sleeps, subflow, switch
from tests.temporal.conftest import PATIENCE, Bench, calling, child_of, define, events_of, until
from tests.temporal.suspending import SUSPEND_AFTER

LOOP = (calling("work", "f", transition="more"), switch("more", "${ .n < 12 }", {"transition": "work"}, {"end": True}))
LATE = awaits("wait", "late")
LATE_EVENT = {"specversion": "1.0", "id": "1", "source": "x", "type": "late", "data": {"came": 1}}


def each(items: str = "${ .items }", arguments: Any = "${ .item }", **rest: Any) -> Definition:
    """Return a definition that calls `f` for each of *items*."""
    state = {
        "name": "each", "type": "foreach", "inputCollection": items, "outputCollection": "${ .out }",
        "actions": [{"functionRef": {"refName": "f", "arguments": arguments}}], **rest,
    }  # fmt: skip
    return define(state, functions=("f",))


async def test_a_long_run_continues_as_new_and_does_nothing_twice(bench: Bench) -> None:
    """A run that grows long goes on in a new execution with its data, and calls every function once."""
    definition = define(*LOOP, functions=("f",))
    calls = count(1)
    async with bench.worker(definition, f=lambda _: {"n": next(calls)}) as worker:
        handle = await worker.start(suspend_after=30)
        output = await swf.result(handle)
        first = await bench.client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id).describe()
    assert output == {"n": 12}
    assert first.status == WorkflowExecutionStatus.CONTINUED_AS_NEW
    assert len(worker.scripted.calls) == 12


async def test_waits_and_events_survive_continuing(bench: Bench) -> None:
    """An instance that continues as new still has the events it kept and does not take one twice."""
    definition = define(calling("a", *["f"] * 8), LATE, functions=("f",), events=consumed("late"))
    async with bench.worker(definition, f={"a": 1}) as worker:
        handle = await worker.start(suspend_after=20, events=[LATE_EVENT, LATE_EVENT])

        assert await swf.result(handle) == {"a": 1, "came": 1}


async def test_a_foreach_goes_on_where_it_was(bench: Bench) -> None:
    """Iterations that are complete are not repeated after continuing, and results keep their order."""
    definition = each(arguments={"i": "${ .item }"}, batchSize=4)
    seen: list[int] = []

    def tenfold(given: dict[str, int]) -> int:
        seen.append(given["i"])
        return given["i"] * 10

    async with bench.worker(definition, f=tenfold) as worker:
        handle = await worker.start({"items": list(range(40))}, suspend_after=40)
        output = await swf.result(handle)
    assert isinstance(output, dict)
    assert output["out"] == [i * 10 for i in range(40)]
    assert sorted(seen) == list(range(40))


async def test_what_is_carried_on_does_not_grow_with_the_iterations(bench: Bench) -> None:
    """Of those that are complete only what they came to is left, and the data stand in the record once."""
    action = {"functionRef": "f", "actionDataFilter": {"toStateData": "${ .sum }"}}
    state = {"name": "each", "type": "foreach", "inputCollection": "${ .items }", "batchSize": 3, "actions": [action]}
    definition = define(state, functions=("f",))
    data: dict[str, JSON] = {"items": list(range(60)), "more": "x" * 1000}
    async with bench.worker(definition, f=[1]) as worker:
        handle = await worker.start(data, suspend_after=50)
        output = await swf.result(handle)
        history = await bench.client.get_workflow_handle(handle.id).fetch_history()
    assert output == {**data, "sum": [1]}
    started = history.events[0].workflow_execution_started_event_attributes
    record = json.loads(started.input.payloads[1].data)
    pin = Pin.from_json(record)
    assert pin.progress is not None
    body = pin.progress["frame"]["walk"]["run"]["body"]
    front, iterations = body.pop("front"), body.get("iterations", {})
    assert front["count"] >= 10
    assert front["data"]["value"]["sum"] == [1]
    assert len(iterations) <= 3
    assert pin.progress["numbers"].keys() <= {"each[*]/f", *(f"each[{name}]/f" for name in iterations)}
    assert json.dumps(record).count(json.dumps(data["items"])) == 1


async def test_values_that_look_like_progress_are_carried_on_as_they_are(bench: Bench) -> None:
    """Metadata of a Direktiv workflow have the keys of a foreach's progress, and are not taken for some."""
    metadata = {"front": {"count": 1, "of": 2, "parts": [1]}}
    calling_f = {"type": "action", "action": {"function": "f"}}
    states = [
        {"id": "told", "type": "noop", "metadata": metadata, "transition": "f0"},
        *({"id": f"f{i}", **calling_f, "transition": f"f{i + 1}"} for i in range(6)),
        {"id": "f6", "type": "consumeEvent", "event": {"type": "go"}, "transform": "jq(.return)"},
    ]
    functions = [{"type": "knative-workflow", "id": "f", "image": "f"}]
    async with bench.worker(load({"id": "/told", "functions": functions, "states": states}), f={"a": 1}) as worker:
        handle = await worker.start({}, suspend_after=20)
        await worker.awaiting(handle, "go")
        latest = await bench.client.get_workflow_handle(handle.id).describe()
        status: Any = await swf.query(bench.client, handle.id, "status")
        await handle.signal("go")

        assert await swf.result(handle) == {"a": 1}
    assert latest.run_id != handle.first_execution_run_id
    assert status["metadata"] == metadata


async def test_children_that_nobody_waits_for_are_not_ended_by_the_way(bench: Bench) -> None:
    """A run does not continue as new while that would end sub-workflows that are to live as long as it does."""
    parent = define(subflow("a", {"workflowId": "child", "invoke": "async"}), *LOOP, functions=("f",), id="parent")
    child = define(awaits("wait", "go"), calling("work", "g"), functions=("g",), events=consumed("go"), id="child")
    calls = count(1)
    worked = asyncio.Event()

    async def f(_: JSON) -> JSON:
        number = next(calls)
        if number == 10:
            child_id = await child_of(bench.client, handle.id, "a/child#1")
            await bench.client.get_workflow_handle(child_id).signal("go", {})
            await worked.wait()
        return {"n": number}

    async with bench.worker(parent, child, f=f, g=lambda _: worked.set()) as worker:
        handle = await worker.start(suspend_after=30)
        output = await asyncio.wait_for(swf.result(handle), 30)
    assert output == {"n": 12}


async def test_a_cancelled_run_does_not_continue_before_it_ends(bench: Bench) -> None:
    """However much there is to undo, the execution that was cancelled is the one that ends Canceled."""
    definition = define(
        calling("a", "f", compensatedBy="undo", transition="wait"),
        {**LATE, "end": True},
        calling("undo", *["g"] * 9, usedForCompensation=True),
        functions=("f", "g"),
        metadata={"compensateOnCancel": True},
        events=consumed("late"),
    )
    async with bench.worker(definition, f={}, g={}) as worker:
        handle = await worker.start(suspend_after=25)
        await worker.awaiting(handle, "late")
        await handle.cancel()
        with pytest.raises(RunEnded, match="cancelled"):
            await asyncio.wait_for(swf.result(handle), 30)
        status = (await bench.client.get_workflow_handle(handle.id).describe()).status
    assert status == WorkflowExecutionStatus.CANCELED
    assert len(worker.scripted.calls) == 10


async def test_one_that_is_cancelled_while_it_waits_to_continue_does_not(bench: Bench) -> None:
    """It was to go on in another execution once a call has ended: that one would not know that it was cancelled."""
    definition = define(
        calling("a", "f", compensatedBy="undo", transition="both"),
        calling("both", "f", "slow", actionMode="parallel", end=True),
        calling("undo", "g", usedForCompensation=True),
        functions=("f", "g", "slow"),
        metadata={"compensateOnCancel": True},
    )
    async with bench.worker(definition, f={}, g={}, slow=lambda _: asyncio.Event().wait()) as worker:
        handle = await worker.start(suspend_after=8)
        done = ("action-completed", "both")
        await until(
            lambda: handle.query("trace"), lambda all_: any((one["kind"], one["state"]) == done for one in all_)
        )
        await handle.cancel()
        with pytest.raises(RunEnded, match="cancelled"):
            await asyncio.wait_for(swf.result(handle), PATIENCE)
        found = await bench.client.get_workflow_handle(handle.id).describe()
    assert found.status is WorkflowExecutionStatus.CANCELED
    assert [name for name, *_ in worker.scripted.calls].count("g") == 1


async def test_continue_as_can_set_a_timeout(bench: Bench) -> None:
    to = {"workflowId": "second", "workflowExecTimeout": {"duration": "PT0.2S"}}
    definitions = define(inject("a", end={"continueAs": to})), define(sleeps("nap", "PT1H"), id="second")
    async with bench.worker(*definitions) as worker:
        assert (await worker.failure({})).name == "TimedOut"


async def test_what_cannot_be_carried_over_goes_on_where_it_is(bench: Bench) -> None:
    """A run that should continue as new, but holds too much for one payload, goes on and completes."""
    definition = each(batchSize=5, stateDataFilter={"output": "${ .out | length }"})
    async with bench.worker(definition, f={"text": "x" * 150_000}) as worker:
        handle = await worker.start({"items": list(range(20))}, suspend_after=70)

        assert await swf.result(handle) == 20
        assert (await handle.describe()).run_id == handle.first_execution_run_id


async def test_results_that_no_execution_can_carry_on_fail_the_run(bench: Bench) -> None:
    """As soon as that is so, where the iterations that are left are too many for the history; it says what to do."""
    definition = each("${ [range(16000)] }", {}, batchSize=5)
    async with bench.worker(definition, f={"text": "x" * 150_000}) as worker:
        failed = await worker.failure({}, suspend_after=70)
    assert failed.name == "PayloadTooLarge"
    found = re.fullmatch(
        r".*?(\d+) of 16,000 iterations are done, and the run cannot continue with the others: their results take "
        r"([\d,]+) bytes, and all that it has to carry over ([\d,]+) of the 2,031,616 that it can; "
        r"keep less of what .*",
        failed.message,
        re.DOTALL,
    )
    assert found is not None, failed.message
    done, results, all_ = (int(text.replace(",", "")) for text in found.groups())
    assert done >= 14
    assert results >= done * 150_000
    assert all_ >= results
    assert len(worker.scripted.calls) < 100


async def test_others_go_on_beside_a_slow_call(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is to continue as new does not wait for a call that later ones have passed."""
    monkeypatch.setattr(continuing, "MIN_LATER_CALLS", 5)
    monkeypatch.setattr(continuing, "SLOW_CALL_MAX_EVENTS", 180)
    monkeypatch.setattr(continuing, "SLOW_CALL", timedelta(milliseconds=1))
    ended: list[int] = []

    async def f(given: dict[str, int]) -> int:
        if given["number"] == 0:
            await until(lambda: ended and asyncio.get_running_loop().time() - latest[0] >= 1)
            passed.append(len(ended))
        latest[0] = asyncio.get_running_loop().time()
        ended.append(given["number"])
        return given["number"]

    latest, passed = [0.0], list[int]()
    definition = each("${ [range(200)] }", {"number": "${ .item }"}, batchSize=5)
    async with bench.worker(definition, f=f) as worker:
        pin = Pin(pinned([definition]), definition.version, others={SUSPEND_AFTER: 60})
        handle = await worker.start_pinned(pin, "beside")
        output: Any = await asyncio.wait_for(swf.result(handle), PATIENCE)
        longest = await bench.client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id).describe()
    assert output == {"out": list(range(200))}
    assert sorted(ended) == list(range(200))
    assert passed[0] > 30, f"{passed} calls went past it"
    assert longest.history_length < 250


async def test_a_call_is_not_slow_because_others_overtake_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Busy workers take calls in any order: a run waits for one that is not slow by the clock, and continues as new."""
    monkeypatch.setattr(continuing, "MIN_LATER_CALLS", 5)
    passed: list[int] = []
    latest = [0.0]
    ended = 0

    async def f(given: dict[str, int]) -> int:
        nonlocal ended
        now = asyncio.get_running_loop().time
        if given["number"] == 0:
            await until(lambda: ended and now() - latest[0] >= 1)
            passed.append(ended)
        latest[0], ended = now(), ended + 1
        return given["number"]

    definition = each("${ [range(200)] }", {"number": "${ .item }"}, batchSize=5)
    async with bench.worker(definition, f=f) as worker:
        handle = await worker.start({}, suspend_after=60)
        assert await asyncio.wait_for(swf.result(handle), PATIENCE) == {"out": list(range(200))}
        first = await bench.client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id).describe()
    assert len(worker.scripted.calls) == 200
    assert first.status == WorkflowExecutionStatus.CONTINUED_AS_NEW
    assert passed[0] < 30, f"{passed} calls went past it"


MORE = {"events": consumed("more", source="test")}
WAIT = awaits("more", "more")
OF_DIREKTIV = """
id: sample
functions: [{id: f, type: knative-global, service: f}]
states:
- {id: slow, type: action, action: {function: f}, transition: more}
- {id: more, type: consumeEvent, event: {type: more}}
"""


@pytest.mark.parametrize(
    ("definition", "told"),
    [
        (
            define(calling("slow", "f"), WAIT, functions=("f",), **MORE),
            "it a timeout (actionExecTimeout), or mark it as long-running",
        ),
        (
            define(
                calling("slow", "f"),
                WAIT,
                functions=({"name": "f", "operation": "api.json#f"},),
                specVersion="0.7",
                **MORE,
            ),
            "it a timeout, or mark it as long-running",
        ),
        (load(OF_DIREKTIV), "its state a timeout, or call it with async: true"),
    ],
    ids=["0.8", "0.7", "Direktiv"],
)
async def test_a_run_that_waits_for_a_call_while_events_come_says_so(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, definition: Definition, told: str
) -> None:
    """Before the server ends the execution, the run fails, names the call, and says what its author can do."""
    monkeypatch.setattr(continuing, "LAST_EVENTS", 60)
    begun, never = asyncio.Event(), asyncio.Event()

    async def f(_: JSON) -> JSON:
        begun.set()
        await never.wait()
        return None

    async with bench.worker(definition, f=f) as worker:
        handle = await worker.start({}, suspend_after=20)
        # Events that come before the call are carried on to another execution: those after it have to be enough.
        await asyncio.wait_for(begun.wait(), PATIENCE)
        with suppress(RPCError, UsageError):  # it ends while it is sent more
            for number in range(60):  # the server breaks off a task during which a hundred come
                await swf.send_event(bench.client, handle.id, more(number))
        with pytest.raises(RunEnded, match=r"'slow/.*f#1' has been under way for") as failed:
            await asyncio.wait_for(swf.result(handle), PATIENCE)
        never.set()
    assert failed.value.name == "HistoryTooLong"
    assert f"seconds: give {told}" in failed.value.message


def more(number: int) -> dict[str, JSON]:
    return {"specversion": "1.0", "id": str(number), "source": "test", "type": "more", "data": {}}


async def test_many_at_once(bench: Bench) -> None:
    number = sampling.count(200, 1000)
    async with bench.worker(each(), f=lambda i: i + 1) as worker:
        output = await worker.run({"items": list(range(number))})
    assert isinstance(output, dict)
    assert output["out"] == list(range(1, number + 1))


@pytest.mark.parametrize("timeout", ["PT300H", '${ "PT" + ([range(.n)] | length | tostring) + "H" }'])
async def test_a_run_that_is_cancelled_where_it_goes_on_undoes_what_it_did(bench: Bench, timeout: str) -> None:
    """Also while its parameters are evaluated once more: it is cancelled before the first task of the execution."""
    definition = define(
        calling("a", "f", "f", compensatedBy="undo", transition="wait"),
        {**LATE, "end": True},
        calling("undo", "g", usedForCompensation=True),
        functions=("f", "g"),
        metadata={"compensateOnCancel": True},
        events=consumed("late"),
        timeouts={"workflowExecTimeout": {"duration": timeout}},
    )
    async with bench.worker(definition, f={}) as worker:
        handle = await worker.start({"n": 300}, suspend_after=12)
        await worker.awaiting(handle, "late")
        first, *_ = await events_of(bench.client.get_workflow_handle(handle.id))
    started = first.workflow_execution_started_event_attributes
    assert started.continued_execution_run_id
    record = await bench.client.data_converter.decode(started.input.payloads)
    again = await worker.begin("sample", *record, workflow_id=f"{handle.id}-again")
    await again.cancel()
    async with bench.worker(definition, queue=worker.queue, g={}) as worker:
        with pytest.raises(RunEnded, match="cancelled"):
            await asyncio.wait_for(swf.result(again), PATIENCE)
    assert [name for name, *_ in worker.scripted.calls] == ["g"]
