"""A run counts what one activation of it costs, and stops where it is asked to."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from swf_temporal.loading import load
from swf_temporal.runtime.host import Host, Instance, Suspended, TraceEntry, TraceKind
from swf_temporal.runtime.joining import SuspendRequested
from swf_temporal.runtime.run import MAX_STEPS_WITHOUT_WAIT, Run
from swf_temporal.runtime.semantics import SEMANTICS


class Clock:
    """What of a host a run asks that calls nothing."""

    time = datetime(2030, 1, 1, tzinfo=UTC)

    def __init__(self) -> None:
        self.slept: list[tuple[float, str]] = []
        self.told: list[TraceEntry] = []
        self.is_stuck = False

    def now(self) -> datetime:
        """Return the time."""
        return self.time

    def emit(self, entry: TraceEntry) -> None:
        """Take note."""
        self.told.append(entry)

    async def sleep(self, duration: timedelta, why: str) -> None:
        """Let the time pass at once, or never."""
        self.slept.append((duration.total_seconds(), why))
        if self.is_stuck:
            await asyncio.get_running_loop().create_future()
        self.time += duration


NOTHING: dict[str, Any] = {"type": "inject", "data": {}}


def _run(state: dict[str, Any], clock: Clock, progress: dict[str, Any] | None = None, **more: Any) -> Run:
    definition = load({"id": "a", "specVersion": "0.8", "states": [{"name": "A", **state, "end": True}], **more})
    program = definition.language.prepare(definition, SEMANTICS)
    return Run(program, cast("Host", clock), {}, Instance("a", "a"), progress)


def test_the_work_of_an_activation_is_counted() -> None:
    """It is added up as long as the host's time stands still, and begins anew once it moves on."""
    clock = Clock()
    run = _run(NOTHING, clock)

    run.charge()
    clock.time += timedelta()
    run.charge(3)
    assert run.cost == 4

    clock.time += timedelta(seconds=1)
    run.charge()
    assert run.cost == 1


async def test_a_run_that_waits_for_an_event_is_suspended_at_once() -> None:
    """It does not wait for the event before it says how far it is; nor does it matter how often it is asked."""
    go: Any = {"name": "Go", "type": "go", "source": "s"}
    run = _run({"type": "event", "onEvents": [{"eventRefs": ["Go"]}]}, Clock(), events=[go])
    running = asyncio.create_task(run.run())
    while not run.awaited:
        await asyncio.sleep(0)
    run.suspend()
    run.suspend()
    for _ in range(20):
        await asyncio.sleep(0)
    assert running.done()
    outcome = running.result()
    assert isinstance(outcome, Suspended)
    assert set(outcome.progress) == {"frame", "input", "started"}
    assert outcome.progress["frame"] == run.frame
    assert not run.awaited


async def test_what_a_run_does_by_itself_belongs_to_no_path() -> None:
    """Its entries of the trace name the definition, and no state."""
    clock = Clock()
    await _run(NOTHING, clock).run()
    first, *_, last = clock.told
    for entry, kind in ((first, TraceKind.WORKFLOW_STARTED), (last, TraceKind.WORKFLOW_COMPLETED)):
        assert entry == TraceEntry(kind, "", "", "a", clock.time, {})


def test_no_id_is_given_twice() -> None:
    """Each thing is counted by itself, and a run that goes on counts on."""
    run = _run(NOTHING, Clock(), {"numbers": {"call": 2}})
    assert [run.next_id(what) for what in ("call", "call", "child")] == ["call#3", "call#4", "child#1"]


async def test_the_host_is_given_control_after_many_steps() -> None:
    """Steps are counted since it last had it, be that because the run waited."""
    run = _run(NOTHING, Clock())
    most = MAX_STEPS_WITHOUT_WAIT
    assert [run.has_gone_on() for _ in range(2 * most)] == 2 * [*[False] * (most - 1), True]
    assert not any(run.has_gone_on() for _ in range(most - 1))
    await run.sleep_until(run.time() + 1, "a while")
    assert not any(run.has_gone_on() for _ in range(most - 1))


async def test_a_moment_that_has_come_is_not_waited_for() -> None:
    """Neither where a path sleeps nor where its time is over."""
    clock = Clock()
    run = _run(NOTHING, clock)
    for moment in (run.time() - 1, run.time()):
        await run.sleep_until(moment, "sleep")
        await run.time_out_at(moment, "timeout")
    assert clock.slept == []
    await run.sleep_until(run.time() + 0.5, "sleep")
    await run.time_out_at(run.time() + 0.25, "timeout")
    assert clock.slept == [(0.5, "sleep"), (0.25, "timeout")]


async def test_a_suspension_ends_sleeps_and_lets_none_begin() -> None:
    """A path that is cancelled in the same moment is cancelled, and one that sleeps no more is left alone."""
    clock = Clock()
    run = _run(NOTHING, clock)
    await run.sleep_until(run.time() + 1, "over")
    clock.is_stuck = True
    sleeping, cancelled, given_up = (asyncio.create_task(run.sleep_until(run.time() + 1, "sleep")) for _ in range(3))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.wait([given_up])
    run.suspend()
    cancelled.cancel()
    with pytest.raises(SuspendRequested):
        await sleeping
    for path in (cancelled, given_up):
        with pytest.raises(asyncio.CancelledError):
            await path
    with pytest.raises(SuspendRequested):
        await run.sleep_until(run.time(), "none")
    with pytest.raises(SuspendRequested):
        run.checkpoint()
