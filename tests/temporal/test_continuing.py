"""Long runs: continued as new between two steps, by themselves or because the definition says so."""

import asyncio
import json
import re
from contextlib import suppress
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionDescription, WorkflowExecutionStatus
from temporalio.service import RPCError

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import continuing
from swf_temporal.temporal.records import Pin
from tests.temporal.building import awaits, consumed, subflow, switch
from tests.temporal.conftest import PATIENCE, Bench, calling, define, failure_of, outcome, told_in, until

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
    calls = count(1)
    async with bench.worker(define(*LOOP, functions=("f",)), f=lambda _: {"n": next(calls)}) as worker:
        handle = await worker.start(suspend_after=30)
        assert await outcome(handle) == {"n": 12}
        assert (await bench.first(handle).describe()).status == WorkflowExecutionStatus.CONTINUED_AS_NEW
    assert worker.called == ["f"] * 12


async def test_waits_and_events_survive_continuing(bench: Bench) -> None:
    definition = define(calling("a", *["f"] * 8), LATE, functions=("f",), events=consumed("late"))
    async with bench.worker(definition, f={"a": 1}) as worker:
        handle = await worker.start(suspend_after=20, events=[LATE_EVENT, LATE_EVENT])
        assert await outcome(handle) == {"a": 1, "came": 1}


async def test_a_foreach_goes_on_where_it_was(bench: Bench) -> None:
    async with bench.worker(each(batchSize=4), f=lambda item: item * 10) as worker:
        handle = await worker.start({"items": list(range(40))}, suspend_after=40)
        assert await outcome(handle) == {"items": list(range(40)), "out": [i * 10 for i in range(40)]}
    assert sorted(item for _, item, *_ in worker.scripted.calls if isinstance(item, int)) == list(range(40))


async def test_what_is_carried_on_does_not_grow_with_the_iterations(bench: Bench) -> None:
    """Of those that are complete only what they came to is left, and the data stand in the record once."""
    action = {"functionRef": "f", "actionDataFilter": {"toStateData": "${ .sum }"}}
    state = {"name": "each", "type": "foreach", "inputCollection": "${ .items }", "batchSize": 3, "actions": [action]}
    definition = define(state, functions=("f",))
    data: dict[str, JSON] = {"items": list(range(60)), "more": "x" * 1000}
    async with bench.worker(definition, f=[1]) as worker:
        handle = await worker.start(data, suspend_after=50)
        output = await swf.result(handle)
        [started] = await told_in(bench.handle(handle), "workflow_execution_started")
    assert output == {**data, "sum": [1]}
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
        handle = await worker.start_awaiting("go", {}, suspend_after=20)
        latest = await bench.handle(handle).describe()
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
            await (await bench.child(handle, "a/child#1")).signal("go", {})
            await worked.wait()
        return {"n": number}

    async with bench.worker(parent, child, f=f, g=lambda _: worked.set()) as worker:
        handle = await worker.start(suspend_after=30)
        output = await outcome(handle)
    assert output == {"n": 12}


UNDOING: dict[str, Any] = {"metadata": {"compensateOnCancel": True}, "events": consumed("late")}


async def test_a_cancelled_run_does_not_continue_before_it_ends(bench: Bench) -> None:
    undo = calling("undo", *["g"] * 9, usedForCompensation=True)
    a = calling("a", "f", compensatedBy="undo", transition="wait")
    async with bench.worker(
        define(a, {**LATE, "end": True}, undo, functions=("f", "g"), **UNDOING), f={}, g={}
    ) as worker:
        handle = await worker.start_awaiting("late", suspend_after=25)
        await handle.cancel()
        assert (await failure_of(handle)).how == "cancelled"
        assert (await bench.handle(handle).describe()).status == WorkflowExecutionStatus.CANCELED
    assert len(worker.called) == 10


async def test_one_that_is_cancelled_while_it_waits_to_continue_does_not(bench: Bench) -> None:
    """It was to go on in another execution once a call has ended: that one would not know that it was cancelled."""
    definition = define(
        calling("a", "f", compensatedBy="undo", transition="both"),
        calling("both", "f", "slow", actionMode="parallel", end=True),
        calling("undo", "g", usedForCompensation=True),
        functions=("f", "g", "slow"), **UNDOING,
    )  # fmt: skip
    async with bench.worker(definition, f={}, g={}, slow=lambda _: asyncio.Event().wait()) as worker:
        handle = await worker.start(suspend_after=8)
        done = ("action-completed", "both")
        await until(lambda: handle.query("trace"), lambda all_: done in [(one["kind"], one["state"]) for one in all_])
        await handle.cancel()
        assert (await failure_of(handle)).how == "cancelled"
        assert (await bench.handle(handle).describe()).status is WorkflowExecutionStatus.CANCELED
    assert worker.called.count("g") == 1


async def test_what_cannot_be_carried_over_goes_on_where_it_is(bench: Bench) -> None:
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


async def overtaken(bench: Bench) -> tuple[int, WorkflowExecutionDescription]:
    """Run a foreach whose first call ends a second after any other; return how many passed it, and its execution."""
    latest, ended, passed = [0.0], list[int](), list[int]()

    async def f(number: int) -> int:
        now = asyncio.get_running_loop().time
        if number == 0:
            await until(lambda: ended and now() - latest[0] >= 1)
            passed.append(len(ended))
        latest[0] = now()
        ended.append(number)
        return number

    async with bench.worker(each("${ [range(200)] }", batchSize=5), f=f) as worker:
        handle = await worker.start({}, suspend_after=60)
        assert await outcome(handle) == {"out": list(range(200))}
        first = await bench.first(handle).describe()
    assert sorted(ended) == list(range(200))
    return passed[0], first


async def test_others_go_on_beside_a_slow_call(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is to continue as new does not wait for a call that later ones have passed."""
    monkeypatch.setattr(continuing, "MIN_LATER_CALLS", 5)
    monkeypatch.setattr(continuing, "SLOW_CALL_MAX_EVENTS", 180)
    monkeypatch.setattr(continuing, "SLOW_CALL", timedelta(milliseconds=1))
    passed, longest = await overtaken(bench)
    assert passed > 30
    assert longest.history_length < 250


async def test_a_call_is_not_slow_because_others_overtake_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Busy workers take calls in any order: a run waits for one that is not slow by the clock, and continues as new."""
    monkeypatch.setattr(continuing, "MIN_LATER_CALLS", 5)
    passed, first = await overtaken(bench)
    assert first.status == WorkflowExecutionStatus.CONTINUED_AS_NEW
    assert passed < 30


MORE: dict[str, Any] = {"functions": ("f",), "events": consumed("more", source="test")}
WAIT = awaits("more", "more")
API = {"name": "f", "operation": "api.json#f"}
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
        (define(calling("slow", "f"), WAIT, **MORE), "it a timeout (actionExecTimeout), or mark it as long-running"),
        (
            define(calling("slow", "f"), WAIT, **MORE | {"functions": (API,)}, specVersion="0.7"),
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

    def f(_: JSON) -> Any:
        begun.set()
        return never.wait()

    async with bench.worker(definition, f=f) as worker:
        handle = await worker.start({}, suspend_after=20)
        # Events that come before the call are carried on to another execution: those after it have to be enough.
        await asyncio.wait_for(begun.wait(), PATIENCE)
        with suppress(RPCError, UsageError):  # it ends while it is sent more
            for number in range(60):  # the server breaks off a task during which a hundred come
                await worker.send(handle, CloudEvent(str(number), "test", "more", {}))
        failed = await failure_of(handle)
        never.set()
    assert failed.name == "HistoryTooLong"
    assert re.search(
        rf"'slow/.*f#1' has been under way for .* seconds: give {re.escape(told)}", failed.message, re.DOTALL
    )


@pytest.mark.parametrize("timeout", ["PT300H", '${ "PT" + ([range(.n)] | length | tostring) + "H" }'])
async def test_a_run_that_is_cancelled_where_it_goes_on_undoes_what_it_did(bench: Bench, timeout: str) -> None:
    """Also while its parameters are evaluated once more: it is cancelled before the first task of the execution."""
    definition = define(
        calling("a", "f", "f", compensatedBy="undo", transition="wait"), {**LATE, "end": True},
        calling("undo", "g", usedForCompensation=True),
        functions=("f", "g"), timeouts={"workflowExecTimeout": {"duration": timeout}}, **UNDOING,
    )  # fmt: skip
    async with bench.worker(definition, f={}) as worker:
        handle = await worker.start_awaiting("late", {"n": 300}, suspend_after=12)
        [started] = await told_in(bench.handle(handle), "workflow_execution_started")
    assert started.continued_execution_run_id
    record = await bench.client.data_converter.decode(started.input.payloads)
    again = await worker.begin("sample", *record, workflow_id=f"{handle.id}-again")
    await again.cancel()
    async with bench.worker(definition, queue=worker.queue, g={}) as worker:
        assert (await failure_of(again)).how == "cancelled"
    assert worker.called == ["g"]
