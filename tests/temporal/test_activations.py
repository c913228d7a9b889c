"""Workflows that take longer than a worker can wait, by the clock."""

import os
import time
from datetime import timedelta

import pytest
from temporalio import workflow
from temporalio.client import WorkflowFailureError
from temporalio.worker import Worker

from swf_temporal.errors import StepTooLong
from swf_temporal.temporal import activations
from tests.temporal.conftest import Bench

TRIED: list[str] = []


@workflow.defn(name="slow step", sandboxed=False)
class SlowStep:
    """A workflow whose step takes much time, and little of the processor."""

    @workflow.run
    async def run(self) -> None:
        """Be busy."""
        TRIED.append(workflow.info().run_id)
        for _ in range(200):
            _wait()


def _wait() -> None:
    time.sleep(0.02)


async def test_a_step_that_is_always_late_fails_its_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is broken off, tried again, and given up at the third time, though the engine removes the run in between."""
    monkeypatch.setattr(activations, "CLOCK_LIMIT", 0.5)
    queue = f"late-{os.getpid()}"
    worker = Worker(
        bench.client,
        task_queue=queue,
        workflows=[SlowStep],
        unsandboxed_workflow_runner=activations.WatchedWorkflows(),
        workflow_failure_exception_types=[StepTooLong],
        debug_mode=True,
    )
    async with worker:
        with pytest.raises(WorkflowFailureError) as failed:
            await bench.client.execute_workflow(
                "slow step", id=queue, task_queue=queue, execution_timeout=timedelta(seconds=60)
            )

    assert "more processor time than a run may use" in str(failed.value.cause)
    assert len(TRIED) == 3
