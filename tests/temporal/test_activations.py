"""Workflows that take longer than a worker can wait, by the clock."""

import os
import time
from datetime import timedelta

import pytest
from temporalio import workflow
from temporalio.client import WorkflowFailureError
from temporalio.worker import Worker

from swf_temporal.errors import StepTooLong
from swf_temporal.guarding.spending import spent_here
from swf_temporal.temporal import activations
from tests.temporal.conftest import Bench

TRIED: list[str] = []
LOADED: list[float] = []
EXPRESSIONS = 50
"""How many expressions are compiled at a time."""


@workflow.defn(name="slow step", sandboxed=False)
class SlowStep:
    """A workflow whose step takes much time, and little of the processor."""

    @workflow.run
    async def run(self) -> None:
        """Be busy."""
        TRIED.append(workflow.info().run_id)
        for _ in range(200):
            _wait()


@workflow.defn(name="slow loading", sandboxed=False)
class SlowLoading:
    """A workflow that has to load more than there is time for, and keeps what it has loaded."""

    @workflow.run
    async def run(self) -> int:
        """Load."""
        with activations.loading():
            while len(LOADED) < 25:
                LOADED.append(0.02)
                spent_here().answers += EXPRESSIONS
                _compute(0.02)
        return len(LOADED)


def _compute(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


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


async def test_loading_goes_on_in_the_next_attempt(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes more processor time than a step may does not fail the run, as long as each attempt gets further."""
    monkeypatch.setattr(activations, "LIMIT", 0.2)
    queue = f"loading-{os.getpid()}"
    worker = Worker(
        bench.client,
        task_queue=queue,
        workflows=[SlowLoading],
        unsandboxed_workflow_runner=activations.WatchedWorkflows(),
        workflow_failure_exception_types=[StepTooLong],
        debug_mode=True,
    )
    async with worker:
        ended = await bench.client.execute_workflow(
            "slow loading", id=queue, task_queue=queue, execution_timeout=timedelta(seconds=300)
        )

    assert ended == 25
