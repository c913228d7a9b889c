"""Change ids: code that gives other commands, while runs that passed the place before go on as they began."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory

import swf_temporal
from swf_temporal.runtime.host import Timer
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.host import TemporalHost
from swf_temporal.temporal.markers import is_marked
from tests.temporal.building import sleeps
from tests.temporal.conftest import Bench, define, replays

Sleep = Callable[[TemporalHost, timedelta, Timer], Awaitable[None]]
as_released: Sleep = TemporalHost.sleep


async def asking(host: TemporalHost, duration: timedelta, timer: Timer) -> None:
    if is_marked("sleeps twice"):
        await as_released(host, duration, Timer("sleep", "falling asleep"))
    await as_released(host, duration, timer)


async def unasked(host: TemporalHost, duration: timedelta, timer: Timer) -> None:
    await as_released(host, duration, Timer("sleep", "falling asleep"))
    await as_released(host, duration, timer)


async def ran(bench: Bench) -> WorkflowHistory:
    async with bench.worker(define(sleeps("nap", "PT0.01S"))) as worker:
        handle = await worker.start()
        await swf.result(handle)
        return await handle.fetch_history()


async def replays_by(history: WorkflowHistory, monkeypatch: pytest.MonkeyPatch, code: Sleep) -> bool:
    monkeypatch.setattr(TemporalHost, "sleep", code)
    return await replays(history) is None


async def test_a_run_goes_the_way_that_the_place_had_when_it_passed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code that asks replays histories of either kind, and code that does not only those of its own."""
    before = await ran(bench)
    monkeypatch.setattr(TemporalHost, "sleep", asking)
    after = await ran(bench)

    assert sum(event.HasField("timer_started_event_attributes") for event in after.events) == 2
    assert [await replays_by(before, monkeypatch, code) for code in (as_released, asking, unasked)] == [
        True,
        True,
        False,
    ]
    assert [await replays_by(after, monkeypatch, code) for code in (as_released, asking)] == [False, True]


def test_markers_are_asked_for_in_one_module() -> None:
    """Whoever looks for what a history has to say of its run finds all of it by that module's name."""
    package = Path(swf_temporal.__file__).parent
    asking = [file for file in package.rglob("*.py") if "workflow.patched(" in file.read_text(encoding="utf-8")]
    assert [str(file.relative_to(package)) for file in asking] == ["temporal/markers.py"]
