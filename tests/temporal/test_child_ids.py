"""Do the workflows that a run starts meet those of another run of the same id, or of the part that a reset gave up?"""

import asyncio
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus
from temporalio.common import WorkflowIDReusePolicy
from temporalio.worker import (
    Interceptor,
    StartChildWorkflowInput,
    WorkflowInboundInterceptor,
    WorkflowOutboundInterceptor,
)

from swf_temporal.base.data import JSON
from swf_temporal.languages.port import Definition
from swf_temporal.temporal import client as swf
from tests.temporal.building import awaits, consumed
from tests.temporal.conftest import Bench, define, outcome, reset, told_in, until

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
async def test_a_run_that_was_reset_ends_the_child_of_before_and_starts_it_anew(
    bench: Bench, action: dict[str, Any]
) -> None:
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
async def test_a_child_that_the_server_does_not_start_is_a_fault_of_its_action(
    bench: Bench, action: dict[str, Any]
) -> None:
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
