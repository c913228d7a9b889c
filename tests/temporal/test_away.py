"""What comes while no worker is there: results, timers and events that a worker meets all at once."""

import asyncio
import os
from functools import partial
from typing import Any

from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.worker import Worker

from swf_temporal import RunEnded
from swf_temporal.base.data import JSON
from swf_temporal.languages.port import Definition
from swf_temporal.temporal import client as swf
from tests.temporal.building import awaits, consumed, inject, sleeps
from tests.temporal.conftest import Bench, define, events_of, outcome, told_in, until

SHORT, LONG, AWAY = 2, 3, 3.5
"""Seconds that timers take, and for which no worker is there: by then everything has come that is waited for."""
ELSEWHERE = f"elsewhere-{os.getpid()}"
FIRED = EventType.EVENT_TYPE_TIMER_FIRED
EVENT = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
TASK = EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED
SLOW = {"name": "slow", "type": "custom", "operation": f"temporal:slow@{ELSEWHERE}"}
ACTION = {"functionRef": "slow", "actionDataFilter": {"toStateData": "${ .answer }"}}


@activity.defn(name="slow")
async def slow() -> str:
    await asyncio.sleep(1)
    return "done"


def pausing(pause: int, limit: int) -> Definition:
    return define(sleeps("nap", f"PT{pause}S", timeouts={"stateExecTimeout": f"PT{limit}S"}), id=f"nap-{pause}")


def calling_elsewhere(kind: str, **of_kind: Any) -> Definition:
    """Return a definition whose calls are made in time, by another worker, in a state of that kind."""
    state = {"name": "call", "type": kind, **of_kind, "timeouts": {"stateExecTimeout": f"PT{SHORT}S"}, "end": True}
    return define(state, id=kind, functions=(SLOW,))


def timed(of_state: int, of_workflow: int) -> Definition:
    late = [{"errorRef": "late", "transition": "caught"}]
    return define(
        sleeps("nap", "PT1H", timeouts={"stateExecTimeout": f"PT{of_state}S"}, onErrors=late, end=True),
        inject("caught", {"decided": "the state"}, end=True),
        inject("clean", {"decided": "the workflow"}, end=True),
        id=f"timeouts-{of_state}-{of_workflow}", errors=[{"name": "late", "code": "TimedOut"}],
        timeouts={"workflowExecTimeout": {"duration": f"PT{of_workflow}S", "runBefore": "clean"}},
    )  # fmt: skip


WAITING = define(
    inject("begin"), awaits("wait", "paid", timeouts={"eventTimeout": f"PT{SHORT}S"}), id="late-event",
    events=consumed("paid"),
)  # fmt: skip
CASES: dict[str, tuple[Definition, JSON]] = {
    "a result counts though the timeout of its state is over, too": (
        calling_elsewhere("operation", actions=[ACTION, ACTION], actionMode="parallel"), {"answer": "done"}
    ),
    "so do those of iterations": (
        calling_elsewhere("foreach", actions=[ACTION], inputCollection="${ [1, 2, 3] }", iterationParam="n"),
        {"answer": "done"},
    ),
    "a sleep ends that is shorter than the timeout of its state": (pausing(SHORT, LONG), {}),
    "one does not that is longer": (pausing(LONG, SHORT), "TimedOut"),
    "an event counts that came after its timeout, if the run did not act yet": (WAITING, {"amount": 12}),
    "of two timeouts the first decides, here that of the state": (timed(SHORT, LONG), {"decided": "the state"}),
    "and here that of the workflow": (timed(LONG, SHORT), {"decided": "the workflow"}),
    "where none is first it is that of the workflow": (timed(SHORT, SHORT), {"decided": "the workflow"}),
}  # fmt: skip


async def ended(handle: swf.Handle) -> JSON:
    try:
        return await outcome(handle)
    except RunEnded as failed:
        return failed.name


async def test_what_a_worker_meets_all_at_once(bench: Bench) -> None:
    definitions = [definition for definition, _ in CASES.values()]
    async with Worker(bench.client, task_queue=ELSEWHERE, activities=[slow]):
        async with bench.worker(*definitions) as worker:
            handles = [await worker.start({}, definition=number) for number in range(len(definitions))]
            for handle in handles:
                await until(partial(told_in, handle, "timer_started"))
        await asyncio.sleep(AWAY)
        of_event = handles[definitions.index(WAITING)]
        await worker.send(of_event, {"id": "1", "type": "paid", "source": "x", "data": {"amount": 12}})
        async with bench.worker(*definitions, queue=worker.queue):
            found = [await ended(handle) for handle in handles]
    assert dict(zip(CASES, found, strict=True)) == {name: expected for name, (_, expected) in CASES.items()}
    assert await _types(of_event, FIRED, EVENT) == [FIRED, EVENT]
    for handle in handles[-3:]:
        types = await _types(handle, FIRED, TASK)
        assert types[types.index(FIRED) :][:2] == [FIRED, FIRED]


async def _types(handle: swf.Handle, *wanted: int) -> list[int]:
    return [one.event_type for one in await events_of(handle) if one.event_type in wanted]


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
        await worker.send(handle, {"id": name, "type": name, "source": "s", "data": name})
    async with bench.worker(definition, queue=worker.queue):
        assert await outcome(handle) == {"got": "b"}
