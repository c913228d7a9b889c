"""Data of instances that are changed from outside: of the running state at once, and where a rerun enters one."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus

from swf_temporal.base.data import JSON, merge_patch
from swf_temporal.base.errors import UsageError
from swf_temporal.languages.loading import load
from swf_temporal.operations.client import Client
from swf_temporal.operations.rerunning import plan_rerun
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.client import change_data
from tests.temporal.building import awaits, consumed, inject, operation, sleeps
from tests.temporal.conftest import PATIENCE, Bench, calling, define, outcome, replays, told_in, until

EVENTS = consumed("go", "stop")
WAIT = awaits("Wait", "go")


@pytest.mark.parametrize(
    ("target", "patch", "expected"),
    [
        ({"a": 1, "b": {"c": 2, "d": [1]}}, {"b": {"c": None, "d": [2]}, "e": 3}, {"a": 1, "b": {"d": [2]}, "e": 3}),
        ({"a": 1}, {}, {"a": 1}),
        ([1, 2], {"a": 1}, {"a": 1}),
        ({"a": [{"b": 1}]}, {"a": {"b": {"c": None}}}, {"a": {"b": {}}}),
    ],
)
def test_a_merge_patch(target: JSON, patch: JSON, expected: JSON) -> None:
    """Objects are merged, null removes a member, and all else is replaced (RFC 7396)."""
    before = repr(target)
    assert merge_patch(target, patch) == expected
    assert repr(target) == before


async def output_of(handle: swf.Handle) -> Any:
    output = await outcome(handle)
    assert await replays(await handle.fetch_history()) is None
    return output


async def gone_on(bench: Bench, handle: swf.Handle, state: str, patch: JSON = None) -> Any:
    """Return what a rerun comes to that changes the data."""
    plan = await plan_rerun(Client(bench.client), handle.id, state, patch=patch)
    return await output_of(bench.handle(handle, await plan.begin(Client(bench.client))))


async def changed(bench: Bench, handle: swf.Handle) -> list[Any]:
    """Return what the trace of an instance tells of changes: of each, the state and the patch."""
    trace = await swf.query(bench.client, handle.id, "trace")
    return [(one["name"], one["detail"]["patch"]) for one in trace if one["kind"] == "data-changed"]


async def test_while_an_event_is_waited_for(bench: Bench) -> None:
    """What comes is merged into the changed data, and the instance is in the same execution."""
    waiting = define({**WAIT, "stateDataFilter": {"input": "${ .order }"}}, events=EVENTS, id="changed-waiting")
    async with bench.worker(waiting) as worker:
        handle = await worker.start_awaiting("go", {"order": {"item": "mouse", "size": 1}})
        await change_data(bench.client, handle.id, {"item": "rat", "size": None})
        await change_data(bench.client, handle.id, {"note": {"by": "ada"}})
        await worker.awaiting(handle, "go")
        told = await changed(bench, handle)
        await worker.deliver(handle, "go", {"n": 1})
        assert await output_of(handle) == {"item": "rat", "note": {"by": "ada"}, "n": 1}
    assert told == [("Wait", {"item": "rat", "size": None}), ("Wait", {"note": {"by": "ada"}})]


async def test_a_time_that_is_waited_for_stays(bench: Bench) -> None:
    napping = define(sleeps("Nap", "PT2S"), id="changed-napping")
    async with bench.worker(napping) as worker:
        handle = await worker.start({"n": 1})
        await until(lambda: swf.query(bench.client, handle.id, "status"), lambda one: one["state"] == "Nap")
        await change_data(bench.client, handle.id, {"n": 2})
        assert await output_of(handle) == {"n": 2}
        first, second = (one.start_to_fire_timeout.ToTimedelta() for one in await told_in(handle, "timer_started"))
    assert second < first == timedelta(seconds=2)


async def test_a_call_in_progress_is_waited_for(bench: Bench) -> None:
    """Its result is merged first, and the next action has the changed data; no call is made twice."""
    going, made = asyncio.Event(), list[JSON]()

    async def first(arguments: JSON) -> JSON:
        made.append(arguments)
        await going.wait()
        return {"n": 2, "m": 2}

    def second(arguments: JSON) -> JSON:
        made.append(arguments)
        return {}

    action = {"functionRef": {"refName": "second", "arguments": {"n": "${ .n }", "m": "${ .m }"}}}
    calling_two = define(
        operation("Call", {"functionRef": "first"}, action), functions=("first", "second"), id="changed-calling"
    )
    async with bench.worker(calling_two, first=first, second=second) as worker:
        handle = await worker.start({"n": 1})
        await until(lambda: made)
        changing = asyncio.create_task(change_data(bench.client, handle.id, {"n": 3}))
        await asyncio.sleep(0.2)
        assert not changing.done()
        going.set()
        await changing
        assert await output_of(handle) == {"n": 3, "m": 2}
    assert made == [None, {"n": 3, "m": 2}]


async def test_beside_branches(bench: Bench) -> None:
    asked = {"eventRef": {"produceEventRef": "stop", "consumeEventRef": "go"}}
    branches = [{"name": "One", "actions": [asked]}, {"name": "Two", "actions": [{"functionRef": "slow"}]}]
    parallel = define(
        {"name": "Both", "type": "parallel", "branches": branches},
        functions=("slow",), events=EVENTS, id="changed-parallel",
    )  # fmt: skip
    async with bench.worker(parallel, slow={"slow": 1}) as worker:
        handle = await worker.start_awaiting("go", {"n": 1})
        await until(lambda: worker.called)
        await change_data(bench.client, handle.id, {"n": 2})
        await worker.deliver(handle, "go", {"came": 1})
        assert await output_of(handle) == {"n": 2, "came": 1, "slow": 1}
    assert worker.called == ["slow"]


async def test_an_instance_of_direktiv(bench: Bench) -> None:
    listening = load(
        "direktiv_api: workflow/v1\nstates:\n"
        "- {id: listen, type: consumeEvent, event: {type: com.go}, transform: {n: 'jq(.n)'}}\n",
        name="changed-direktiv.yaml",
    )
    async with bench.worker(listening) as worker:
        handle = await worker.start({"n": 1})
        await worker.awaiting(handle, "com.go")
        await change_data(bench.client, handle.id, {"n": 2})
        await swf.deliver(bench.client, handle.id, {"id": "1", "type": "com.go", "source": "x", "specversion": "1.0"})
        assert await output_of(handle) == {"n": 2}


async def test_what_is_no_change(bench: Bench) -> None:
    waiting = define(WAIT, events=EVENTS, id="changed-refused")
    async with bench.worker(waiting) as worker:
        handle = await worker.start_awaiting("go", {})
        with pytest.raises(UsageError, match="takes a JSON merge patch, which is an object"):
            await change_data(bench.client, handle.id, [1])  # type: ignore[arg-type]  # what the test is about
        with pytest.raises(UsageError, match="no instance 'nowhere'"):
            await change_data(bench.client, "nowhere", {})
        await worker.deliver(handle, "go")
        await output_of(handle)
        with pytest.raises(UsageError, match="has ended"):
            await change_data(bench.client, handle.id, {})


@pytest.mark.parametrize("state", ["Begin", "Note", "Go"])
async def test_a_rerun_with_other_data(bench: Bench, state: str) -> None:
    """It enters the state with changed data, before anything is done there; a second rerun has those of the first."""
    expected = {"first": 1, "n": 5, "noted": True, "second": 1}
    sequence = define(
        calling("Begin", "first"),
        inject("Note", {"noted": True}),
        operation("Go", {"functionRef": {"refName": "second", "arguments": {"n": "${ .n }"}}}),
        functions=("first", "second"), id="changed-rerun",
    )  # fmt: skip
    async with bench.worker(sequence, first={"first": 1}, second={"second": 1}) as worker:
        handle = await worker.start({"n": 1})
        await output_of(handle)
        plan = await plan_rerun(Client(bench.client), handle.id, state, patch={"n": 5})
        again = bench.handle(handle, await plan.begin(Client(bench.client)))
        assert await output_of(again) == expected
        started = (await again.fetch_history()).events[0].workflow_execution_started_event_attributes
        record = json.loads(started.input.payloads[1].data)
        assert record.keys() == {"definitions", "version", "progress", "lineage", "again"}
        assert await gone_on(bench, handle, "Go") == expected
    given = [arguments for name, arguments, *_ in worker.scripted.calls if name == "second"]
    assert given == [{"n": 1}, {"n": 5}, {"n": 5}]


async def test_what_is_no_rerun(bench: Bench) -> None:
    """The data of an action are those of its state, and a patch is an object."""
    client = Client(bench.client)
    with pytest.raises(UsageError, match="the data of the action 'second' cannot be changed"):
        await plan_rerun(client, "any", "Go", "second", patch={})
    with pytest.raises(UsageError, match="a JSON merge patch, which is an object"):
        await plan_rerun(client, "any", "Go", patch=[1])


async def test_a_rerun_with_other_data_of_one_that_runs(bench: Bench) -> None:
    """Its run ends, events that came before are known still, later ones are given again, and its options are kept."""
    again = awaits("Again", "stop")
    waiting = define(
        WAIT, calling("Between", "first"), again, functions=("first",), events=EVENTS, id="changed-running"
    )
    async with bench.worker(waiting, first=lambda _: {"first": 1}) as worker:
        handle = await worker.start({"n": 1}, options={"memo": {"note": "kept"}})
        await worker.deliver(handle, "stop", {"early": 1})
        await worker.deliver(handle, "go", {"went": 1})
        assert await output_of(handle) == {"n": 1, "went": 1, "first": 1, "early": 1}
        second = await worker.start({"n": 1}, options={"memo": {"note": "kept"}})
        await worker.deliver(second, "go", {"went": 1})
        await worker.awaiting(second, "stop")
        plan = await plan_rerun(Client(bench.client), second.id, "Between", patch={"n": None, "m": 2})
        assert plan.is_running
        run = await plan.begin(Client(bench.client))
        rerun = bench.handle(second, run)
        await worker.awaiting(rerun, "stop")
        await worker.deliver(second, "stop", {"late": 1})
        assert await output_of(rerun) == {"went": 1, "m": 2, "first": 1, "late": 1}
        ended = await bench.handle(second, plan.run_id).describe()
        assert ended.status is WorkflowExecutionStatus.TERMINATED
        assert await (await rerun.describe()).memo_value("note") == "kept"
        assert await gone_on(bench, handle, "Again", {"n": 7}) == {"n": 7, "went": 1, "first": 1, "early": 1}


async def test_a_rerun_with_other_data_has_the_events_of_its_first_task(bench: Bench) -> None:
    """What an update brings before the run has begun is taken after the first state was entered, and is given again."""
    early = define(inject("Begin", {"noted": True}), WAIT, events=EVENTS, id="changed-early")
    queue = "changed-early"
    handle = await swf.start(bench.client, [early], {"n": 1}, workflow_id="changed-early", task_queue=queue)
    sending = asyncio.create_task(
        swf.deliver(bench.client, handle.id, {"name": "go", "data": {"went": 1}}, timedelta(seconds=PATIENCE))
    )
    await asyncio.sleep(0.5)  # until the server has it
    async with bench.worker(early, queue=queue):
        assert await output_of(handle) == {"n": 1, "noted": True, "went": 1}
        await sending
        plan = await plan_rerun(Client(bench.client), handle.id, "Begin", patch={"n": 5})
        assert len(plan.leading) == 1
        run = await plan.begin(Client(bench.client))
        assert await output_of(bench.handle(handle, run)) == {"n": 5, "noted": True, "went": 1}
        assert await gone_on(bench, handle, "Wait", {"n": 7}) == {"n": 7, "noted": True, "went": 1}


async def test_what_does_not_fit_is_not_begun(bench: Bench) -> None:
    one = define(calling("Go", "first"), functions=("first",), id="changed-large")
    async with bench.worker(one, first={}) as worker:
        handle = await worker.start({})
        await output_of(handle)
        plan = await plan_rerun(Client(bench.client), handle.id, "Go", patch={"text": "x" * (3 << 20)})
        with pytest.raises(UsageError, match="cannot continue from there: it would carry"):
            await plan.begin(Client(bench.client))
        assert (await handle.describe()).run_id == plan.run_id
