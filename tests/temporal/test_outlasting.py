"""Calls and sub-workflows that outlast the executions of the run that waits for them."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import WorkflowExecutionStatus, WorkflowHistory
from temporalio.exceptions import ApplicationError
from temporalio.worker import (
    Interceptor,
    StartChildWorkflowInput,
    Worker,
    WorkflowInboundInterceptor,
    WorkflowOutboundInterceptor,
)

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.operations.instances import facts_of, with_sub_workflows
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import next_execution
from swf_temporal.temporal.endings import AwaitedRecord
from swf_temporal.temporal.records import Pin, pinned
from tests.sampling import sample
from tests.temporal.building import awaits, consumed, inject
from tests.temporal.conftest import Bench, Running, calling, define, failure_of, outcome, replays, until

STEPS = 20
"""How many calls a run makes beside the one that takes long: enough to continue as new."""
EVERY = 45
"""After how many events it does."""

LONG = {"name": "g", "type": "custom", "operation": "g", "metadata": {"longRunning": "true"}}
CALL = {"name": "long", "functionRef": {"refName": "g", "arguments": {"a": 1}}}
SUBFLOW = {"name": "long", "subFlowRef": {"workflowId": "child", "onParentComplete": "continue"}}
OTHER_QUEUE = f"other-{os.getpid()}"
"""The task queue of a worker that knows nothing of us."""
ACTIVITY = {"name": "long", "functionRef": {"refName": "other", "arguments": {"a": 1}}}
OTHER = {**LONG, "name": "other", "operation": f"temporal:g@{OTHER_QUEUE}"}
KINDS = {"a call": CALL, "a sub-workflow": SUBFLOW, "an activity of another worker": ACTIVITY}
OURS = ("a call", "a sub-workflow")
LONG_ID = "both/long/long#1"


def of_kinds(claim: str, kinds: Collection[str] = KINDS.keys()) -> pytest.MarkDecorator:
    """Give a test actions of one of the *kinds*, or of all in a run that tries everything."""
    drawn = sample(list(kinds), f"outlasting: {claim}", 1)
    return pytest.mark.parametrize("action", [KINDS[kind] for kind in drawn], ids=drawn)


CHILD = define(calling("work", "g"), functions=("g",), id="child")


def beside(action: dict[str, Any], limit: str | None = None, steps: int = STEPS, **rest: Any) -> Definition:
    """Return a definition with one action that takes long, no longer than *limit*, beside *steps* calls of `f`."""
    timeouts = {"timeouts": {"actionExecTimeout": limit}} if limit else {}
    count = [{"functionRef": {"refName": "f", "arguments": {"i": steps - i}}} for i in range(1, steps + 1)]
    both = {
        "name": "both", "type": "parallel",
        "branches": [{"name": "long", "actions": [action], **timeouts}, {"name": "busy", "actions": count}],
    }  # fmt: skip
    return define({**both, **rest.pop("state", {})}, functions=("f", LONG, OTHER), **rest)


@dataclass
class Functions:
    """The functions: `g` waits until `f` was called for the last time, and gives what the test says then."""

    ending: Callable[[], Awaitable[JSON]]
    over: asyncio.Event = field(default_factory=asyncio.Event)
    calls: int = 0
    workflows: set[str] = field(default_factory=set)
    """The ids of the workflows that called `g`."""

    async def g(self, _: JSON) -> JSON:
        self.calls += 1
        self.workflows.add(str(activity.info().workflow_id))
        await self.over.wait()
        return await self.ending()

    @activity.defn(name="g")
    async def as_activity(self, given: JSON) -> JSON:
        """Take long, as an activity of another worker, whose errors are the SDK's."""
        try:
            return await self.g(given)
        except CallFailed as fault:
            raise ApplicationError(fault.message, fault.body, type=fault.code) from None

    def f(self, given: Any) -> JSON:
        if not given["i"]:
            self.over.set()
        return {"left": given["i"]}

    @property
    def all(self) -> dict[str, Any]:
        return {"f": self.f, "g": self.g}


@asynccontextmanager
async def serving(
    bench: Bench, functions: Functions, *definitions: Definition, **options: Any
) -> AsyncIterator[Running]:
    other = Worker(bench.client, task_queue=OTHER_QUEUE, activities=[functions.as_activity])
    async with other, bench.worker(*definitions, **functions.all, **options) as worker:
        yield worker


async def never() -> JSON:
    await asyncio.Event().wait()
    return None


async def well() -> JSON:
    return {"long": True}


async def histories(bench: Bench, handle: swf.Handle) -> list[WorkflowHistory]:
    found, run_id = [], handle.first_execution_run_id
    while run_id:
        history = await bench.handle(handle, run_id).fetch_history()
        found.append(history)
        run_id = history.events[-1].workflow_execution_continued_as_new_event_attributes.new_execution_run_id
    return found


async def crossed(bench: Bench, handle: swf.Handle) -> None:
    """Wait until the run has continued as new, and its second execution has begun to wait."""
    first = handle.first_execution_run_id
    await until(
        bench.handle(handle).describe, lambda one: one.run_id != first and one.raw_description.pending_activities
    )


async def ended_as(handle: swf.Handle) -> WorkflowExecutionStatus | None:
    """Return how a workflow ended, once it has."""
    ended = await until(handle.describe, lambda one: one.status is not WorkflowExecutionStatus.RUNNING)
    return ended.status  # type: ignore[no-any-return]  # what was asked


@of_kinds("it goes on while its run continues as new")
async def test_it_goes_on_while_its_run_continues_as_new(bench: Bench, action: dict[str, Any]) -> None:
    """It is made once, the run waits for it in no execution but the last, and all executions replay."""
    functions = Functions(well)
    async with serving(bench, functions, beside(action, steps=50), CHILD) as worker:
        handle = await worker.start({}, suspend_after=EVERY)
        output = await outcome(handle)
    assert output == {"left": 0, "long": True}
    assert functions.calls == 1
    assert len(worker.scripted.calls) == (50 if action is ACTIVITY else 51)
    all_ = await histories(bench, handle)
    assert len(all_) >= 4
    assert max(len(history.events) for history in all_) < EVERY + 40
    assert [await replays(history) for history in all_] == [None] * len(all_)


async def fails() -> JSON:
    raise CallFailed("no such year", name="HTTPError", code="404", status=404, body={"year": 1})


class LimitedChildren(Interceptor):
    """Gives every child workflow a time limit of the server, as an operator may do for all workflows of a worker."""

    def __init__(self, seconds: float) -> None:
        limit = timedelta(seconds=seconds)

        class Outbound(WorkflowOutboundInterceptor):
            async def start_child_workflow(self, input: StartChildWorkflowInput) -> Any:  # noqa: A002 - the SDK's name
                input.execution_timeout = limit
                return await super().start_child_workflow(input)

        class Inbound(WorkflowInboundInterceptor):
            def init(self, outbound: WorkflowOutboundInterceptor) -> None:
                super().init(Outbound(outbound))

        self._inbound = Inbound

    def workflow_interceptor_class(self, _: Any) -> type[WorkflowInboundInterceptor]:
        return self._inbound


async def told(bench: Bench, action: dict[str, Any], how: str, suspend_after: int) -> tuple[Any, ...]:
    """Return what is told of a run whose child ends so, after so many events of the run for each execution."""
    ids: list[str] = []
    # Time enough for the run to continue as new before.
    limits = [LimitedChildren(6 if suspend_after == EVERY else 1)] if how == "timed out" else []

    async def ending() -> JSON:
        if how == "fails":
            return await fails()
        if how == "timed out":
            return await never()
        child = await bench.child(ids[0], LONG_ID)
        await (child.cancel() if how == "cancelled" else child.terminate("it is no use"))
        return await never()

    functions = Functions(ending)
    async with serving(bench, functions, beside(action), CHILD, interceptors=limits) as worker:
        handle = await worker.start({}, suspend_after=suspend_after)
        ids.append(handle.id)
        failed = await failure_of(handle)
        number = len(await histories(bench, handle))
    assert (number > 1) == (suspend_after == EVERY)
    assert failed.fault is not None
    facts = failed.fault.to_json()
    return failed.name, failed.message, {key: value for key, value in facts.items() if key != "attempt"}


@pytest.mark.parametrize(
    ("kind", "how"),
    sample(list(product(KINDS, ("fails", "cancelled", "terminated", "timed out"))), "outlasting: how it fails", 2),
)
async def test_its_failure_is_told_as_if_the_run_had_not_continued(bench: Bench, kind: str, how: str) -> None:
    """Failed, cancelled or terminated by another, or timed out: the fault has the same name, code, message and body."""
    name, message, facts = await told(bench, KINDS[kind], how, EVERY)

    assert (name, message, facts) == await told(bench, KINDS[kind], how, 10_000)
    assert facts["action"] == "long"
    assert (facts.get("code") == "404") == (how == "fails")


@of_kinds("the status names it")
async def test_the_status_names_it(bench: Bench, action: dict[str, Any]) -> None:
    """It is a sub-workflow that runs, in each execution that waits for it; looking for its end is no call."""
    functions, client = Functions(never), Client(bench.client)
    async with serving(bench, functions, beside(action), CHILD) as worker:
        handle = await worker.start({}, suspend_after=EVERY)
        await crossed(bench, handle)
        child = await bench.child(handle, LONG_ID)
        family: list[str] = []
        async with asyncio.timeout(30):
            # An execution that has just begun names it once it has looked for its end for the first time.
            while (facts := await facts_of(client, handle.id)).get("subflows") != [child.id] or len(family) < 2:
                family = [one async for one in with_sub_workflows(client, handle.id)]
                await asyncio.sleep(0.05)
        await handle.terminate()
        await child.terminate()
    assert "ending of workflow" not in [call["function"] for call in facts.get("calls", ())]
    assert family == [handle.id, child.id]


@of_kinds("a run that is cancelled cancels it")
async def test_a_run_that_is_cancelled_cancels_it(bench: Bench, action: dict[str, Any]) -> None:
    """After the run has continued as new, too; and the call that it makes is broken off."""
    functions = Functions(never)
    async with serving(bench, functions, beside(action), CHILD) as worker:
        handle = await worker.start({}, suspend_after=EVERY)
        await crossed(bench, handle)
        await bench.handle(handle).cancel()
        assert (await failure_of(handle)).how == "cancelled"
        status = await ended_as(await bench.child(handle, LONG_ID))
    assert status is WorkflowExecutionStatus.CANCELED


@of_kinds("its time goes on while its run continues as new")
async def test_its_time_goes_on_while_its_run_continues_as_new(bench: Bench, action: dict[str, Any]) -> None:
    functions = Functions(never)
    async with serving(bench, functions, beside(action, limit="PT4S"), CHILD) as worker:
        handle = await worker.start({}, suspend_after=EVERY)
        await crossed(bench, handle)
        failed = await failure_of(handle)
        status = await ended_as(await bench.child(handle, LONG_ID))
    assert "TimedOut: action 'long' took longer than it may" in str(failed)
    assert status is (WorkflowExecutionStatus.CANCELED if action is SUBFLOW else WorkflowExecutionStatus.FAILED)


async def test_it_is_given_up_when_another_branch_completes_the_state(bench: Bench) -> None:
    """The call that no path waits for any more ends, whichever execution of the run began it."""
    functions = Functions(never)
    first = {"completionType": "atLeast", "numCompleted": 1}
    async with bench.worker(beside(CALL, state=first), **functions.all) as worker:
        handle = await worker.start({}, suspend_after=EVERY)
        output = await outcome(handle)
        status = await ended_as(await bench.child(handle, LONG_ID))
    assert output == {"left": 0}
    assert status is WorkflowExecutionStatus.CANCELED


@of_kinds("what fails after its run continued is tried again")
async def test_what_fails_after_its_run_continued_is_tried_again(bench: Bench, action: dict[str, Any]) -> None:
    """By the rule of the action; a sub-workflow is another child each time, and a call makes attempts in its own."""
    endings = iter([fails, well])

    async def ending() -> JSON:
        return await next(endings)()

    functions = Functions(ending)
    rest: dict[str, Any] = {"retries": [{"name": "twice", "maxAttempts": 2}], "errors": [{"name": "any", "code": "*"}]}
    definition = beside({**action, "retryRef": "twice", "retryableErrors": ["any"]}, **rest)
    async with serving(bench, functions, definition, CHILD) as worker:
        handle = await worker.start({}, suspend_after=EVERY)
        output = await outcome(handle)
    assert output == {"left": 0, "long": True}
    assert functions.calls == 2
    assert len(functions.workflows) == (2 if action is SUBFLOW else 1)


async def test_a_call_ends_with_a_run_that_was_terminated(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server does not end it: its workflow sees that the run has ended."""
    monkeypatch.setattr(next_execution, "WATCH_AFTER", timedelta(milliseconds=100))
    functions = Functions(never)
    async with bench.worker(beside(CALL), **functions.all) as worker:
        handle = await worker.start({}, suspend_after=EVERY)
        await crossed(bench, handle)
        child = await bench.child(handle, LONG_ID)
        assert (await child.describe()).status is WorkflowExecutionStatus.RUNNING
        await bench.handle(handle).terminate("it is no use")
        status = await ended_as(child)
    assert status is WorkflowExecutionStatus.FAILED


async def test_a_run_of_events_goes_on_beside_it(bench: Bench) -> None:
    """An instance that is kept active takes events in several executions, while a sub-workflow of it goes on."""
    functions = Functions(well)
    asked = {"eventRef": {"produceEventRef": "ask", "consumeEventRef": "more"}}
    branches = [
        {"name": "long", "actions": [SUBFLOW]},
        {"name": "busy", "actions": [{**asked, "name": f"e{number}"} for number in range(30)]},
    ]
    ask = {"name": "ask", "type": "ask", "source": "test", "kind": "produced"}
    both = {"name": "both", "type": "parallel", "branches": branches}
    taken = define(both, functions=("f", LONG), events=[*consumed("more", source="test"), ask])
    async with serving(bench, functions, taken, CHILD) as worker:
        handle = await worker.start({}, suspend_after=EVERY)
        for number in range(30):
            await worker.send(handle, CloudEvent(str(number), "test", "more", {"n": number}))
            await asyncio.sleep(0.02)
        await crossed(bench, handle)
        functions.over.set()
        output = await outcome(handle)
    assert output == {"n": 29, "long": True}
    assert functions.calls == 1
    assert len(await histories(bench, handle)) >= 3


async def test_a_sub_workflow_that_continues_as_new_itself(bench: Bench) -> None:
    """Whatever it has continued as, and as which definition, its last execution is what the run waits for."""
    end = {"continueAs": {"workflowId": "last", "data": "${ . }"}}
    first = define(calling("work", "g", end=end), functions=("g",), id="child")
    last = define(inject("end", {"child": "its last"}), id="last")
    functions = Functions(well)
    async with bench.worker(beside(SUBFLOW), first, last, **functions.all) as worker:
        handle = await worker.start({}, suspend_after=EVERY)
        output = await outcome(handle)
    assert output == {"left": 0, "child": "its last", "long": True}


@of_kinds("another worker goes on with both", OURS)
async def test_another_worker_goes_on_with_both(bench: Bench, action: dict[str, Any]) -> None:
    """The worker that made the call ends, after the run has continued as new; the next makes the same call again."""
    functions = Functions(never)
    keys: set[str] = set()
    queue = f"outlasting-{action is CALL}"
    async with bench.worker(beside(action), CHILD, **functions.all, queue=queue) as worker:
        handle = await worker.start({}, suspend_after=EVERY)
        await crossed(bench, handle)
        await asyncio.wait_for(functions.over.wait(), 30)
        keys |= {key for name, _, key, _ in worker.scripted.calls if name == "g"}
    functions.ending = well
    async with bench.worker(beside(action), CHILD, **functions.all, queue=queue) as worker:
        output = await outcome(handle)
        keys |= {key for name, _, key, _ in worker.scripted.calls if name == "g"}
    assert output == {"left": 0, "long": True}
    assert functions.calls == 2
    assert len(keys) == 1


async def test_it_goes_on_where_its_run_cannot_be_carried_over(bench: Bench) -> None:
    """A run that holds too much for one payload stays in its execution, and waits on for the same child."""
    functions = Functions(well)

    def f(given: Any) -> JSON:
        functions.f(given)
        return {f"of {given['i'] % 16}": "x" * 150_000 if given["i"] >= 16 else 0}

    async with bench.worker(beside(CALL, steps=32), f=f, g=functions.g) as worker:
        handle = await worker.start({}, suspend_after=100)
        output = await outcome(handle)
    assert isinstance(output, dict)
    assert (output["long"], functions.calls) == (True, 1)


@pytest.mark.parametrize("end", [True, {"continueAs": {"workflowId": "last"}}], ids=["ends", "continues as another"])
async def test_a_run_that_ends_leaves_nothing_that_an_earlier_execution_began(bench: Bench, end: JSON) -> None:
    """Also where no path waits for it any more, since the run was given up as the execution began."""
    waits = define(awaits("wait", "never"), events=consumed("never"), id="child")
    definition = define(inject("end", end=end))
    last = define(inject("last"), id="last")
    async with bench.worker(definition, waits, last) as worker:
        child = await worker.start_awaiting("never", {}, definition=1)
        left = AwaitedRecord(child.id, str(child.first_execution_run_id), 0.0)
        gone = AwaitedRecord("gone", "another", 0.0)
        pin = Pin(pinned([definition, last]), definition.version, outlasting={"both/long#1": left, "both/long#2": gone})
        handle = await worker.start_pinned(pin, f"left-{end is True}")
        assert await outcome(handle) == {}
        status = await ended_as(child)
    assert status is WorkflowExecutionStatus.CANCELED
