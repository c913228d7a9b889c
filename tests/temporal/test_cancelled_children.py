"""Sub-workflows, and workflows written by hand, that are cancelled, or fail, beside or below a run that is."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import WorkflowExecutionStatus
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from swf_temporal import RunEnded
from swf_temporal.data import JSON
from swf_temporal.languages.port import Definition
from swf_temporal.loading import load
from swf_temporal.temporal import client as swf
from tests.temporal.conftest import PATIENCE, Bench, child_of

pytestmark = pytest.mark.temporal

CHILD = {
    "id": "child",
    "specVersion": "0.8",
    "states": [{"name": "Wait", "type": "sleep", "duration": "P1D", "end": True}],
}


def undone_by(function: str | None, *, catches: bool) -> Definition:
    """Return a workflow that undoes two states when it is cancelled: the second by *function*, or a sub-workflow."""
    action = {"subFlowRef": "child"} if function is None else {"functionRef": "foreign"}
    undo: dict[str, Any] = {"name": "Undo", "type": "operation", "usedForCompensation": True, "actions": [action]}
    if catches:
        undo["onErrors"] = [{"errorRef": "any", "end": True}]
    return load(
        {
            "id": "undoing",
            "specVersion": "0.8",
            "metadata": {"compensateOnCancel": True},
            "functions": [
                {"name": "undone", "type": "custom"},
                {"name": "foreign", "type": "custom", "operation": function or "unused"},
            ],
            "errors": [{"name": "any", "code": "*"}],
            "states": [
                {"name": "First", "type": "inject", "data": {}, "compensatedBy": "UndoFirst", "transition": "Second"},
                {"name": "Second", "type": "inject", "data": {}, "compensatedBy": "Undo", "transition": "Wait"},
                {"name": "Wait", "type": "sleep", "duration": "P1D", "end": True},
                undo,
                {"name": "UndoFirst", "type": "operation", "usedForCompensation": True,
                 "actions": [{"functionRef": "undone"}]},
            ],
        }
    )  # fmt: skip


@workflow.defn(sandboxed=False)
class Refusing:
    """A workflow by hand that fails."""

    @workflow.run
    async def run(self) -> None:
        """Fail."""
        raise ApplicationError("there is none left", type="SoldOut", non_retryable=True)


@workflow.defn(sandboxed=False)
class Going:
    """A workflow by hand that goes on in another execution, and for long."""

    @workflow.run
    async def run(self, executions: int = 1) -> None:
        """Wait for a day, in the second."""
        if executions == 1:
            workflow.continue_as_new(2)
        await workflow.sleep(timedelta(days=1))


@asynccontextmanager
async def by_hand(bench: Bench) -> AsyncIterator[str]:
    """Serve the workflows by hand on a task queue."""
    async with Worker(bench.client, task_queue="by-hand", workflows=[Refusing, Going]):
        yield "by-hand"


async def cancelled(handle: swf.Handle) -> None:
    """Cancel an instance once it sleeps."""
    async with asyncio.timeout(30):
        while not any(entry["kind"] == "sleeping" for entry in await handle.query("trace")):
            await asyncio.sleep(0.02)
    await handle.cancel()


async def status_of(handle: swf.Handle) -> WorkflowExecutionStatus | None:
    """Wait until an instance has ended without completing; return how."""
    with pytest.raises(RunEnded):
        await asyncio.wait_for(swf.result(handle), PATIENCE)
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
            child = bench.client.get_workflow_handle(await child_of(bench.client, handle.id, "Undo/child#1"))
            async with asyncio.timeout(30):
                while not any(entry["state"] == "Undo" for entry in await handle.query("trace")):
                    await asyncio.sleep(0.02)
            await _cancel_once_begun(child)
        status = await status_of(handle)

    assert (status, len(made)) == (
        (WorkflowExecutionStatus.CANCELED, 1) if catches else (WorkflowExecutionStatus.FAILED, 0)
    )


async def _cancel_once_begun(handle: Any) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                await handle.cancel()
            except Exception:  # noqa: BLE001 - it has yet to be begun
                await asyncio.sleep(0.02)
            else:
                return


@pytest.mark.parametrize("retried", [False, True])
async def test_a_workflow_by_hand_that_has_continued_as_new_is_given_up_in_time(bench: Bench, *, retried: bool) -> None:
    """It is asked to cancel, and not begun once more, whatever the action says of retries."""
    action = {"functionRef": "foreign"} | ({"retryRef": "again"} if retried else {})
    definition = load(
        {
            "id": "in-time",
            "specVersion": "0.8",
            "functions": [{"name": "foreign", "type": "custom", "operation": "temporal:workflow:Going@by-hand"}],
            "retries": [{"name": "again", "delay": "PT0.1S", "increment": "PT0.1S", "maxAttempts": 3}],
            "states": [
                {"name": "Run", "type": "operation", "actions": [action], "timeouts": {"stateExecTimeout": "PT2S"},
                 "end": True}
            ],
        }
    )  # fmt: skip
    async with by_hand(bench), bench.worker(definition) as running:
        handle = await running.start()
        async with asyncio.timeout(30):
            status = await status_of(handle)
        begun = [entry for entry in await handle.query("trace") if entry["kind"] == "action-retried"]

    assert (status, begun) == (WorkflowExecutionStatus.FAILED, [])
