"""Code that makes other calls than it did: runs that passed the place before go on as they began."""

from typing import Any

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from swf_temporal.data import JSON
from swf_temporal.languages.serverless_workflow.execution.frames import BodyFrame
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.states import sleep
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.model.states import SleepState
from swf_temporal.runtime.host import TraceKind
from swf_temporal.simulation.simulate import simulate
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.workflow import Interpreter
from tests.temporal.conftest import Bench, define

NAP: dict[str, Any] = {"name": "nap", "type": "sleep", "duration": "PT0.01S"}
as_released = sleep.run


async def asking(state: SleepState, data: JSON, lane: Lane[BodyFrame]) -> Step:
    """Sleep twice, in runs that come here from now on."""
    if lane.run.host.changed("sleeps twice"):
        await lane.pause("before", state.duration, data, "falling asleep")
    return await as_released(state, data, lane)


async def unasked(state: SleepState, data: JSON, lane: Lane[BodyFrame]) -> Step:
    """Sleep twice, whatever the run did before."""
    await lane.pause("before", state.duration, data, "falling asleep")
    return await as_released(state, data, lane)


async def ran(bench: Bench) -> WorkflowHistory:
    """Run a definition that sleeps to its end; return its history."""
    async with bench.worker(define(NAP)) as worker:
        handle = await worker.start()
        await swf.result(handle)
        return await handle.fetch_history()


async def replays(history: WorkflowHistory) -> bool:
    """Tell whether a history replays."""
    replayer = Replayer(
        workflows=[Interpreter],
        unsandboxed_workflow_runner=UnsandboxedWorkflowRunner(),
        data_converter=CONVERTER,
        debug_mode=True,
    )
    outcome = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    return outcome.replay_failure is None


async def test_a_run_that_passed_the_place_before_goes_on_as_it_began(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its history replays under code that asks, and would not under code that does not."""
    before = await ran(bench)

    monkeypatch.setattr(sleep, "run", unasked)
    assert not await replays(before)
    monkeypatch.setattr(sleep, "run", asking)
    assert await replays(before)


async def test_a_run_that_comes_to_the_place_later_takes_the_new_way(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its history says so by a marker, and needs the code that asks."""
    monkeypatch.setattr(sleep, "run", asking)
    after = await ran(bench)

    assert sum(event.HasField("timer_started_event_attributes") for event in after.events) == 2
    assert await replays(after)
    monkeypatch.setattr(sleep, "run", as_released)
    assert not await replays(after)


def test_every_run_of_a_simulation_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing there is older than the code."""
    monkeypatch.setattr(sleep, "run", asking)
    ended = simulate(define(NAP), {})

    assert [entry.name for entry in ended.trace if entry.kind is TraceKind.SLEEPING] == ["falling asleep", "nap"]
