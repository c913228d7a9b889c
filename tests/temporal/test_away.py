"""What comes while no worker is there: results and timers that a worker meets all at once."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.worker import Worker

from swf_temporal import RunEnded
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.records import Pin, pinned
from tests.temporal.building import awaits, consumed, inject, sleeps
from tests.temporal.conftest import Bench, Running, define, events_of, until

AWAY = 1.5
"""Seconds for which no worker is there: by then everything has come that these tests wait for."""
ELSEWHERE = f"elsewhere-{os.getpid()}"
TIMER = EventType.EVENT_TYPE_TIMER_STARTED
FIRED = EventType.EVENT_TYPE_TIMER_FIRED
EVENT = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
TASK = EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED
SLOW = {"name": "slow", "type": "custom", "operation": f"temporal:slow@{ELSEWHERE}"}


@activity.defn(name="slow")
async def slow() -> str:
    await asyncio.sleep(0.4)
    return "done"


def pausing(pause: float, limit: float) -> Definition:
    state = sleeps("nap", f"PT{pause}S", timeouts={"stateExecTimeout": f"PT{limit}S"})
    return define(state, id=f"nap-{pause}")


def calling_elsewhere(kind: str) -> Definition:
    """Return a definition whose calls are made within a second, by another worker, in a state of that kind."""
    action = {"functionRef": "slow", "actionDataFilter": {"toStateData": "${ .answer }"}}
    of_kind: dict[str, Any] = {"actions": [action, action], "actionMode": "parallel"}
    if kind == "foreach":
        of_kind = {"actions": [action], "inputCollection": "${ [1, 2, 3] }", "iterationParam": "n"}
    state = {"name": "call", "type": kind, **of_kind, "timeouts": {"stateExecTimeout": "PT1S"}, "end": True}
    return load({"id": kind, "version": "1.0.0", "specVersion": "0.8", "functions": [SLOW], "states": [state]})


@asynccontextmanager
async def away(
    bench: Bench, *definitions: Definition, event: dict[str, Any] | None = None
) -> AsyncIterator[list[swf.Handle]]:
    """Start instances of *definitions*, leave them alone once they wait, send *event* to each, and come back."""
    async with Worker(bench.client, task_queue=ELSEWHERE, activities=[slow]):
        async with bench.worker(*definitions) as worker:
            handles = [await _started(worker, one) for one in definitions]
            for handle in handles:
                await until(partial(_types, handle), lambda types: TIMER in types)
        await asyncio.sleep(AWAY)
        for handle in handles if event is not None else ():
            await swf.send_event(bench.client, handle.id, event or {})
        async with bench.worker(*definitions, queue=worker.queue):
            yield handles


async def _started(worker: Running, definition: Definition) -> swf.Handle:
    pin = Pin(pinned([definition]), definition.version).to_json()
    return await worker.bench.client.start_workflow(
        definition.id, args=[{}, pin], id=f"away-{definition.id}-{os.getpid()}", task_queue=worker.queue
    )


@pytest.mark.parametrize("kind", ["operation", "foreach"])
async def test_results_that_came_in_time_count(bench: Bench, kind: str) -> None:
    """Results of calls are there when the timeout of the state is looked at, though a worker saw both at once."""
    async with away(bench, calling_elsewhere(kind)) as [handle]:
        assert await asyncio.wait_for(swf.result(handle), 60) == {"answer": "done"}


async def test_of_timers_the_shorter_is_first(bench: Bench) -> None:
    """A sleep that is shorter than its state's timeout ends, and one that is longer does not."""
    async with away(bench, pausing(0.5, 0.8), pausing(0.8, 0.5)) as [in_time, late]:
        assert await asyncio.wait_for(swf.result(in_time), 60) == {}
        with pytest.raises(RunEnded, match="took longer than it may"):
            await asyncio.wait_for(swf.result(late), 60)


async def test_an_event_after_its_timeout_counts_if_the_run_did_not_act_yet(bench: Bench) -> None:
    """The history has the timer first, and then the event: a worker that sees both takes the event."""
    waiting = awaits("wait", "paid", timeouts={"eventTimeout": "PT0.5S"})
    paid = {"name": "paid", "type": "com.example.paid", "source": "bank"}
    definition = define(inject("begin"), waiting, id="late-event", events=[paid])
    event = {"id": "1", "type": "com.example.paid", "source": "bank", "data": {"amount": 12}}

    async with away(bench, definition, event=event) as [handle]:
        assert await asyncio.wait_for(swf.result(handle), 60) == {"amount": 12}
    assert [one for one in await _types(handle) if one in (FIRED, EVENT)] == [FIRED, EVENT]


@pytest.mark.parametrize(
    ("of_state", "of_workflow", "decides"),
    [(0.5, 0.8, "the state"), (0.8, 0.5, "the workflow"), (0.5, 0.5, "the workflow")],
)
async def test_of_the_timeouts_of_a_state_and_of_the_workflow_the_first_decides(
    bench: Bench, of_state: float, of_workflow: float, decides: str
) -> None:
    """Both timers have fired when a worker comes back: what was due first decides, and the workflow if none was."""
    late = [{"errorRef": "late", "transition": "caught"}]
    definition = define(
        sleeps("nap", "PT1H", timeouts={"stateExecTimeout": f"PT{of_state}S"}, onErrors=late, end=True),
        inject("caught", {"decided": "the state"}, end=True),
        inject("clean", {"decided": "the workflow"}, end=True),
        id=f"timeouts-{of_state}-{of_workflow}",
        errors=[{"name": "late", "code": "TimedOut"}],
        timeouts={"workflowExecTimeout": {"duration": f"PT{of_workflow}S", "runBefore": "clean"}},
    )

    async with away(bench, definition) as [handle]:
        assert await asyncio.wait_for(swf.result(handle), 60) == {"decided": decides}

    types = [one for one in await _types(handle) if one in (FIRED, TASK)]
    assert types[types.index(FIRED) :][:2] == [FIRED, FIRED]


async def _types(handle: swf.Handle) -> list[int]:
    return [one.event_type for one in await events_of(handle)]


async def test_an_event_is_kept_whose_path_is_given_up_at_once(bench: Bench) -> None:
    """One branch is enough: what the other was about to take within its time is there for the next state."""
    asking = {"triggerEventRef": "asked", "resultEventRef": "a"}
    timed = {"triggerEventRef": "asked", "resultEventRef": "b", "resultEventTimeout": "PT1H"}
    branches = [{"name": name, "actions": [{"eventRef": ref}]} for name, ref in (("a", asking), ("b", timed))]
    one = {"completionType": "atLeast", "numCompleted": 1}
    wait = {"eventRefs": ["b"], "eventDataFilter": {"data": "{got: .}"}}
    definition = define(
        {"name": "ask", "type": "parallel", "branches": branches, **one},
        {"name": "wait", "type": "event", "onEvents": [wait], "stateDataFilter": {"input": "${ {} }"}},
        id="given-up", events=[{"name": "asked", "type": "asked", "kind": "produced"}, *consumed("a", "b", source="s")],
    )  # fmt: skip
    async with bench.worker(definition) as worker:
        handle = await worker.start()
        for name in "ab":
            await worker.awaiting(handle, name)
    for name in "ab":
        await swf.send_event(bench.client, handle.id, {"id": name, "type": name, "source": "s", "data": name})
    async with bench.worker(definition, queue=worker.queue):
        assert await asyncio.wait_for(swf.result(handle), 60) == {"got": "b"}
