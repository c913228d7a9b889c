"""Sub-workflows, and workflows written by hand, that are cancelled, or fail, beside or below a run that is."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import WorkflowExecutionStatus
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker
from temporalio.worker._workflow_instance import _WorkflowInstanceImpl

from swf_temporal.base.data import JSON
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.temporal import client as swf
from tests.temporal.building import inject, operation, sleeps
from tests.temporal.conftest import PATIENCE, Bench, calling, define, failure_of, listed, outcome, told_in, until

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
        inject("Second", compensatedBy="Undo", transition="Wait"),
        sleeps("Wait", "P1D", end=True),
        undo,
        calling("UndoFirst", "undone", usedForCompensation=True),
        functions=("undone", {"name": "foreign", "type": "custom", "operation": function or "unused"}),
        errors=[{"name": "any", "code": "*"}],
        metadata={"compensateOnCancel": True},
    )


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


async def test_one_that_is_given_up_as_its_start_is_told_hears_of_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though it has continued as new by then: both are told in one workflow task, which had to wait for a worker."""
    end = {"continueAs": {"workflowId": "child"}}
    continuing = load({"id": "continuing", "specVersion": "0.8", "states": [{**BEGIN, "end": end}]})
    gate, may_go = Gate(monkeypatch, "broken-off"), asyncio.Event()

    async def go(_: JSON) -> JSON:
        await may_go.wait()
        return {}

    definitions = load(BROKEN_OFF), continuing, load(CHILD)
    async with bench.worker(*definitions, runner=UnsandboxedWorkflowRunner(), go=go) as running:
        handle = await running.start()
        await running.awaiting(handle, "Enough")
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
