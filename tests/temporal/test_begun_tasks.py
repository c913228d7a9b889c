"""What comes while no worker is there, or before a task: no step is taken that no workflow task has begun."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

import pytest
from temporalio import activity, workflow
from temporalio.api.enums.v1 import EventType
from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.client import WorkflowHandle, WorkflowHistory, WorkflowQueryFailedError
from temporalio.service import RPCError
from temporalio.worker import (
    UnsandboxedWorkflowRunner,
    Worker,
    WorkflowInstance,
    WorkflowInstanceDetails,
    WorkflowRunner,
)

from swf_temporal import RunEnded
from swf_temporal.base.data import JSON
from swf_temporal.languages.port import Definition
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.statuses import answer_of
from swf_temporal.temporal.worker import BegunTasksRunner
from swf_temporal.temporal.wrapping import WrappingInstance, WrappingRunner
from tests.temporal.building import awaits, consumed, inject, sleeps
from tests.temporal.conftest import Bench, define, events_of, outcome, told_in, until

_LIMIT = timedelta(seconds=30)
_PATIENCE = 20
"""Seconds for what takes a moment, on a machine that is busy."""

_THINGS = (
    "workflow_execution_signaled_event_attributes",
    "timer_fired_event_attributes",
    "activity_task_completed_event_attributes",
)


@activity.defn
async def answer() -> None:
    """Answer at once."""


@workflow.defn
class Telling:
    """Tells the time at which each of the things happened that it waits for."""

    def __init__(self) -> None:
        self._signals = 0
        self._updates = 0

    @workflow.run
    async def run(self, waits: list[str]) -> list[str]:
        times = []
        for count, wait in enumerate(waits, 1):
            if wait == "timer":
                await asyncio.sleep(3)
            elif wait == "activity":
                await workflow.execute_activity(answer, schedule_to_close_timeout=_LIMIT, task_queue="elsewhere")
            else:
                await workflow.execute_local_activity(answer, schedule_to_close_timeout=_LIMIT)
                await workflow.wait_condition(partial(self._has_come, count))
            times.append(workflow.now().isoformat())
        return times

    def _has_come(self, count: int) -> bool:
        return self._signals + self._updates >= count

    @workflow.signal
    def come(self) -> None:
        self._signals += 1

    @workflow.update
    def count(self) -> int:
        self._updates += 1
        return self._updates

    @workflow.query
    def signals(self) -> int:
        return self._signals


@dataclass
class Early:
    """An instance of `Telling` whose worker is away again and again, and which is queried just then."""

    bench: Bench
    handle: WorkflowHandle[Any, list[str]]
    queue: str

    def worker(self) -> Worker:
        client = self.bench.client
        return Worker(
            client, task_queue=self.queue, workflows=[Telling], activities=[answer],
            workflow_runner=BegunTasksRunner(UnsandboxedWorkflowRunner(), client.data_converter),
            max_concurrent_workflow_task_polls=2,
        )  # fmt: skip

    async def query_before(self, happen: Callable[[], Awaitable[Any]]) -> str | int:
        """Ask a query, which waits for a worker, let something *happen*, and begin a worker. Return the answer."""
        asked = asyncio.create_task(self.handle.query(Telling.signals, rpc_timeout=_LIMIT))
        await asyncio.sleep(0.5)  # the server takes it before what happens then
        await happen()
        before = await self._tasks()
        async with self.worker():
            try:
                told: str | int = await asked
            except (WorkflowQueryFailedError, RPCError) as error:
                told = str(error)
            await until(self._tasks, lambda one: one != before)
        return told

    async def _tasks(self) -> int:
        return len(await told_in(self.handle, "workflow_task_completed"))


async def _begin(bench: Bench, *waits: str) -> Early:
    early = Early(bench, None, f"early-{'-'.join(waits)}")  # type: ignore[arg-type]  # it is started below
    early.handle = await bench.client.start_workflow(
        Telling.run, list(waits), id=early.queue, task_queue=early.queue, execution_timeout=timedelta(minutes=2)
    )
    async with early.worker():
        assert await answer_of(partial(early.handle.query, Telling.signals)) == 0
    return early


def _when(history: WorkflowHistory) -> list[float]:
    return [one.event_time.ToMicroseconds() / 1e6 for one in history.events if one.WhichOneof("attributes") in _THINGS]


async def test_what_happens_waits_for_its_task(bench: Bench) -> None:
    """It is given by the task that the server has for it, with the time of that, though a query came before."""
    early = await _begin(bench, "signal", "signal", "timer", "activity")

    async def made() -> None:
        async with Worker(bench.client, task_queue="elsewhere", activities=[answer]), asyncio.timeout(_PATIENCE):
            await until(lambda: told_in(early.handle, "activity_task_completed"))

    for _ in range(2):
        await early.query_before(lambda: early.handle.signal(Telling.come))
    await early.query_before(lambda: until(lambda: told_in(early.handle, "timer_fired")))
    await early.query_before(made)
    times = await asyncio.wait_for(early.handle.result(), _PATIENCE)
    happened = _when(await early.handle.fetch_history())
    assert len(happened) >= len(times)
    told = [datetime.fromisoformat(time).timestamp() for time in times]
    assert [time for time, least in zip(told, happened, strict=False) if time < least] == []


async def test_an_update_is_answered(bench: Bench) -> None:
    """The server gives it to a workflow task alone, so the query before it is answered."""
    early = await _begin(bench, "signal")
    updates: list[asyncio.Task[int]] = []

    async def updated() -> None:
        updates.append(asyncio.create_task(early.handle.execute_update(Telling.count, rpc_timeout=_LIMIT)))
        await asyncio.sleep(0.5)

    assert await early.query_before(updated) == 0
    assert await updates[0] == 1
    assert len(await asyncio.wait_for(early.handle.result(), _PATIENCE)) == 1


@pytest.mark.parametrize("runner", [UnsandboxedWorkflowRunner(), None], ids=["as usual", "in debugging mode"])
async def test_our_client_asks_again(bench: Bench, runner: WorkflowRunner | None) -> None:
    """A query that came too early gets its answer a moment later; the instance's history replays."""
    telling = inject("Tell", stateDataFilter={"output": "${ {at: now} }"})
    definition = define(awaits("Wait", "go"), telling, events=consumed("go"))
    async with bench.worker(definition) as worker:
        handle = await worker.start_awaiting("go", {})
        queue = worker.queue
    asked = asyncio.create_task(swf.query(bench.client, handle.id, "status", _LIMIT))
    await asyncio.sleep(0.5)
    await handle.signal("go", {})
    async with bench.worker(definition, queue=queue, runner=runner):
        output: Any = await outcome(handle)
        await asked
    [happened] = _when(await handle.fetch_history())
    assert output["at"] >= happened


class _Recording(WrappingInstance, WrappingRunner):
    def __init__(self) -> None:
        self.told: list[str | None] = []

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:  # noqa: ARG002 - there is one
        return self

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        self.told.append(act.jobs[0].WhichOneof("variant"))
        return WorkflowActivationCompletion()


def _activation(job: str, time: int, length: int, *, is_replaying: bool = False) -> WorkflowActivation:
    made = WorkflowActivation(history_length=length, is_replaying=is_replaying)
    made.timestamp.FromNanoseconds(time)
    getattr(made.jobs.add(), job).SetInParent()
    return made


@pytest.mark.parametrize(
    ("activations", "refused"),
    [
        # As the SDK has told them of an instance in memory that was queried in the moment in which a call ended.
        ([("initialize_workflow", 1, 3), ("resolve_activity", 1, 11)], ["resolve_activity"]),
        ([("initialize_workflow", 1, 3), ("query_workflow", 1, 11), ("signal_workflow", 1, 11)], ["signal_workflow"]),
        ([("initialize_workflow", 1, 3), ("resolve_activity", 2, 11), ("fire_timer", 2, 15)], ["fire_timer"]),
        # A call that is given up before the server knows of it ends within the task.
        ([("initialize_workflow", 1, 3), ("resolve_activity", 1, 3), ("resolve_activity", 2, 11)], []),
        ([("initialize_workflow", 1, 3), ("do_update", 1, 11)], []),
    ],
)
def test_a_step_has_the_time_of_its_task(activations: list[tuple[str, int, int]], refused: list[str]) -> None:
    """An event that a query has brought has the time of the task before, and is not told."""
    recording = _Recording()
    instance = BegunTasksRunner(recording, CONVERTER).create_instance(cast("WorkflowInstanceDetails", None))
    failed = [one for one, *of in activations if instance.activate(_activation(one, *of)).failed.failure.message]
    assert failed == refused
    assert recording.told + refused == [one for one, *_ in activations]


def test_what_is_replayed_is_told() -> None:
    recording = _Recording()
    instance = BegunTasksRunner(recording, CONVERTER).create_instance(cast("WorkflowInstanceDetails", None))
    for length in (3, 11):
        instance.activate(_activation("resolve_activity", 1, length, is_replaying=True))
    assert len(recording.told) == 2


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
