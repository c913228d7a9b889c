"""Sub-workflows, and workflows written by hand: cancelled or failed beside a run, and the ids that they have."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import WorkflowExecutionStatus
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError
from temporalio.worker import (
    Interceptor,
    StartChildWorkflowInput,
    UnsandboxedWorkflowRunner,
    Worker,
    WorkflowInboundInterceptor,
    WorkflowOutboundInterceptor,
)
from temporalio.worker._workflow_instance import _WorkflowInstanceImpl

from swf_temporal.base.data import JSON
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.temporal import client as swf
from tests.temporal.building import awaits, consumed, inject, operation, sleeps
from tests.temporal.conftest import PATIENCE, Bench, calling, define, failure_of, listed, outcome, reset, told_in, until

BEGIN = inject("Begin")
CHILD = {"id": "child", "specVersion": "0.8", "states": [sleeps("Wait", "P1D", end=True)]}


def undone_by(function: str | None, *, catches: bool) -> Definition:
    """Return a workflow that undoes two states when it is cancelled: the second by *function*, or a sub-workflow."""
    action = {"subFlowRef": "child"} if function is None else {"functionRef": "foreign"}
    undo: dict[str, Any] = operation("Undo", action, usedForCompensation=True)
    if catches:
        undo["onErrors"] = [{"errorRef": "any", "end": True}]
    return define(
        inject("First", compensatedBy="UndoFirst", transition="Second"),
        inject("Second", compensatedBy="Undo", transition="Wait"), sleeps("Wait", "P1D", end=True), undo,
        calling("UndoFirst", "undone", usedForCompensation=True),
        functions=("undone", {"name": "foreign", "type": "custom", "operation": function or "unused"}),
        errors=[{"name": "any", "code": "*"}], metadata={"compensateOnCancel": True},
    )  # fmt: skip


@workflow.defn(sandboxed=False)
class Refusing:
    @workflow.run
    async def run(self) -> None:
        raise ApplicationError("there is none left", type="SoldOut", non_retryable=True)


@workflow.defn(sandboxed=False)
class Going:
    """A workflow by hand that goes on in another execution, and for long."""

    @workflow.run
    async def run(self, executions: int = 1) -> None:
        if executions == 1:
            workflow.continue_as_new(2)
        await workflow.sleep(timedelta(days=1))


@asynccontextmanager
async def by_hand(bench: Bench) -> AsyncIterator[str]:
    async with Worker(bench.client, task_queue="by-hand", workflows=[Refusing, Going]):
        yield "by-hand"


async def cancelled(handle: swf.Handle) -> None:
    await until(lambda: handle.query("trace"), lambda one: any(entry["kind"] == "sleeping" for entry in one))
    await handle.cancel()


async def status_of(handle: swf.Handle) -> WorkflowExecutionStatus | None:
    await failure_of(handle)
    return (await handle.describe()).status


@pytest.mark.parametrize("catches", [False, True])
@pytest.mark.parametrize("how", ["a sub-workflow", "a workflow by hand"])
async def test_what_undoes_and_fails_is_no_cancellation(bench: Bench, how: str, *, catches: bool) -> None:
    """An error can be handled, and fails the run otherwise, though it is being cancelled: not all has been undone."""
    made: list[JSON] = []
    function = None if how == "a sub-workflow" else "temporal:workflow:Refusing@by-hand"
    definitions = undone_by(function, catches=catches), load(CHILD)
    async with by_hand(bench), bench.worker(*definitions, undone=lambda _: made.append({})) as running:
        handle = await running.start()
        await cancelled(handle)
        if function is None:
            child = await bench.child(handle, "Undo/child#1")
            await until(lambda: handle.query("trace"), lambda one: any(entry["state"] == "Undo" for entry in one))
            await _cancel_once_begun(child)
        status = await status_of(handle)
    expected = (WorkflowExecutionStatus.CANCELED, 1) if catches else (WorkflowExecutionStatus.FAILED, 0)
    assert (status, len(made)) == expected


async def _cancel_once_begun(handle: Any) -> None:
    async def has_begun() -> bool:
        try:
            await handle.cancel()
        except RPCError:  # it has yet to be begun
            return False
        return True

    await until(has_begun)


@pytest.mark.parametrize("retried", [False, True])
async def test_a_workflow_by_hand_that_has_continued_as_new_is_given_up_in_time(bench: Bench, *, retried: bool) -> None:
    """It is asked to cancel, and not begun once more, whatever the action says of retries."""
    action = {"functionRef": "foreign"} | ({"retryRef": "again"} if retried else {})
    definition = define(
        operation("Run", action, timeouts={"stateExecTimeout": "PT2S"}),
        functions=({"name": "foreign", "type": "custom", "operation": "temporal:workflow:Going@by-hand"},),
        retries=[{"name": "again", "delay": "PT0.1S", "increment": "PT0.1S", "maxAttempts": 3}],
    )
    async with by_hand(bench), bench.worker(definition) as running:
        handle = await running.start()
        status = await status_of(handle)
        begun = [entry for entry in await handle.query("trace") if entry["kind"] == "action-retried"]
    assert (status, begun) == (WorkflowExecutionStatus.FAILED, [])


class Gate:
    """Holds two workflow tasks of instances of one type: that which begins a child, and the next."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, workflow_type: str) -> None:
        self.reached, self.may_end = ([threading.Event(), threading.Event()] for _ in range(2))
        activate, self._held = _WorkflowInstanceImpl.activate, 0

        def held(instance: Any, act: Any) -> Any:
            done = activate(instance, act)
            begins = any(one.HasField("start_child_workflow_execution") for one in done.successful.commands)
            if instance._info.workflow_type == workflow_type and (begins or self._held == 1):
                self._held += 1
                self.reached[self._held - 1].set()
                self.may_end[self._held - 1].wait(PATIENCE)
            return done

        monkeypatch.setattr(_WorkflowInstanceImpl, "activate", held)

    async def until(self, number: int) -> None:
        assert await asyncio.to_thread(self.reached[number].wait, 30)

    def open(self, number: int) -> None:
        self.may_end[number].set()


BROKEN_OFF = """
id: broken-off
specVersion: '0.8'
functions: [{name: go, type: custom}]
events:
- {name: Asked, type: asked, kind: produced}
- {name: Enough, type: enough, source: s}
states:
- name: Run
  type: parallel
  completionType: atLeast
  numCompleted: 1
  branches:
  - {name: a, actions: [{functionRef: go}, {subFlowRef: continuing}]}
  - {name: b, actions: [{eventRef: {triggerEventRef: Asked, resultEventRef: Enough}}]}
  end: true
"""


async def test_one_given_up_as_it_starts_hears_of_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it has continued as new by then: both are told in one workflow task, which had to wait for a worker."""
    end = {"continueAs": {"workflowId": "child"}}
    continuing = load({"id": "continuing", "specVersion": "0.8", "states": [{**BEGIN, "end": end}]})
    gate, may_go = Gate(monkeypatch, "broken-off"), asyncio.Event()

    async def go(_: JSON) -> JSON:
        await may_go.wait()
        return {}

    definitions = load(BROKEN_OFF), continuing, load(CHILD)
    async with bench.worker(*definitions, runner=UnsandboxedWorkflowRunner(), go=go) as running:
        handle = await running.start_awaiting("Enough")
        may_go.set()
        await gate.until(0)
        await running.send(handle, {"id": "1", "source": "s", "type": "other"})
        gate.open(0)
        await gate.until(1)
        [begun] = await told_in(handle, "start_child_workflow_execution_initiated")
        await listed(bench.client, f"WorkflowId = '{begun.workflow_id}' AND WorkflowType = 'child'", 1)
        await running.send(handle, {"id": "2", "source": "s", "type": "enough"})
        gate.open(1)
        assert await outcome(handle) == {}
        assert (await bench.handle(begun.workflow_id).describe()).status is WorkflowExecutionStatus.CANCELED


SUBFLOW = {"name": "kid", "subFlowRef": "kid"}
LEFT = {"name": "kid", "subFlowRef": {"workflowId": "kid", "invoke": "async", "onParentComplete": "continue"}}
CALL = {"name": "kid", "functionRef": "kid"}

KID = define(awaits("wait", "go"), events=consumed("go"), id="kid")


def parent(action: dict[str, Any], workflow_id: str = "parent", **rest: Any) -> Definition:
    """Return a workflow with that action, whose function is long-running."""
    kid = {"name": "kid", "type": "custom", "operation": "kid", "metadata": {"longRunning": "true"}}
    state = {"name": "a", "type": "operation", "actions": [action], **rest}
    return define(state, functions=(kid,), errors=[{"name": "any", "code": "*"}], id=workflow_id)


async def until_there(bench: Bench, handle: swf.Handle) -> swf.Handle:
    """Wait until the run has begun its child, and return that."""
    await until(lambda: told_in(handle, "child_workflow_execution_started"))
    return await bench.child(handle, "a/kid#1")


async def test_a_run_of_the_same_id_starts_children_of_its_own(bench: Bench) -> None:
    """While a sub-workflow that the run before left alone goes on."""
    async with bench.worker(parent(LEFT), KID) as worker:
        children = []
        for _ in range(2):
            handle = await worker.start({}, workflow_id="again")
            assert await outcome(handle) == {}
            children.append(await bench.child("again", "a/kid#1"))
        statuses = [(await child.describe()).status for child in children]
        for child in children:
            await child.terminate()
    assert statuses == [WorkflowExecutionStatus.RUNNING] * 2


async def test_a_run_may_begin_at_once_after_one_that_was_terminated_in_a_long_running_call(bench: Bench) -> None:
    """The workflow of that call sees some time later that nothing waits for it."""
    first, ended = asyncio.Event(), asyncio.Event()

    async def kid(_: JSON) -> JSON:
        if not first.is_set():
            first.set()
            await ended.wait()
        return {"done": True}

    async with bench.worker(parent(CALL), kid=kid) as worker:
        handle = await worker.start({}, workflow_id="at-once")
        await asyncio.wait_for(first.wait(), 30)
        await handle.terminate()
        again = await worker.start({}, workflow_id="at-once")
        assert await outcome(again) == {"done": True}
        ended.set()


@pytest.mark.parametrize("action", [SUBFLOW, LEFT, CALL], ids=["sub-workflow", "left alone", "long-running call"])
async def test_a_run_that_was_reset_starts_its_child_anew(bench: Bench, action: dict[str, Any]) -> None:
    """Where the server is told to go back to before it: there is one at any time."""
    calls: list[asyncio.Event] = []

    async def kid(_: JSON) -> JSON:
        calls.append(asyncio.Event())
        await calls[-1].wait()
        return {"done": len(calls)}

    async with bench.worker(parent(action), KID, kid=kid) as worker:
        handle = await worker.start({})
        child = await until_there(bench, handle)
        before = await child.describe()
        again = await reset(handle, bench.client)
        former = bench.handle(child, before.run_id)
        found = await until(former.describe, lambda one: one.status is not WorkflowExecutionStatus.RUNNING)
        if action is CALL:
            await until(lambda: len(calls) > 1)
            for call in calls:
                call.set()
        else:
            await worker.awaiting(child, "go")
            await child.signal("go", {})
        output = await outcome(again)
    assert found.status is WorkflowExecutionStatus.TERMINATED
    assert output == ({"done": 2} if action is CALL else {})


class SameId(Interceptor):
    """Gives every child workflow the same id, as another client may, and ends none that has it."""

    class _Outbound(WorkflowOutboundInterceptor):
        async def start_child_workflow(self, input: StartChildWorkflowInput) -> Any:  # noqa: A002 - the SDK's name
            input.id, input.id_reuse_policy = "taken", WorkflowIDReusePolicy.ALLOW_DUPLICATE
            return await super().start_child_workflow(input)

    class _Inbound(WorkflowInboundInterceptor):
        def init(self, outbound: WorkflowOutboundInterceptor) -> None:
            super().init(SameId._Outbound(outbound))

    def workflow_interceptor_class(self, _: Any) -> type[WorkflowInboundInterceptor]:
        return self._Inbound


@pytest.mark.parametrize("action", [SUBFLOW, CALL], ids=["sub-workflow", "long-running call"])
async def test_a_child_that_is_not_started_is_a_fault(bench: Bench, action: dict[str, Any]) -> None:
    """It says which state and action it belongs to, and `onErrors` may catch it."""
    definitions = parent(action), parent(action, "catching", onErrors=[{"errorRef": "any", "end": True}]), KID
    async with bench.worker(*definitions, interceptors=[SameId()], kid={}) as worker:
        other = await worker.start({}, definition=2, workflow_id="taken")
        failure = await worker.failure({})
        output = await worker.run({}, definition=1)
        await other.terminate()

    fault = failure.fault
    assert fault is not None
    assert (fault.name, fault.state, fault.action) == ("NotStarted", "a", "kid")
    assert fault.message == "workflow 'kid' was not started: 'taken' is running already"
    assert output == {}
