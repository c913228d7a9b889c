"""A run counts what one activation of it costs, and stops where it is asked to."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from unittest.mock import ANY

import pytest

from swf_temporal.base.accounting import HELPER_COST
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.expressions.guarding.deferring import Evaluation, answer_to
from swf_temporal.expressions.guarding.helper import EngineAnswer
from swf_temporal.languages.loading import load
from swf_temporal.runtime.cycles import MAX_COST
from swf_temporal.runtime.host import SEMANTICS, Host, InstanceIdentity, Suspended, Timer, TraceEntry, TraceKind
from swf_temporal.runtime.inbox import with_copies
from swf_temporal.runtime.joining import SuspendRequested
from swf_temporal.runtime.retrying import JitterSource, jitter_of
from swf_temporal.runtime.run import Run

SLEEP = Timer("sleep", "Nap")
TIMEOUT = Timer("timeout", "Nap")


class Clock:
    """What of a host a run asks that calls nothing."""

    time = datetime(2030, 1, 1, tzinfo=UTC)
    carries = 2_000_000

    def __init__(self) -> None:
        self.slept: list[tuple[float, Timer]] = []
        self.told: list[TraceEntry] = []
        self.is_stuck = False
        self.had_control = 0
        self.evaluated: list[Evaluation] = []

    def now(self) -> datetime:
        return self.time

    def emit(self, entry: TraceEntry) -> None:
        self.told.append(entry)

    async def evaluate(self, evaluation: Evaluation) -> EngineAnswer:
        self.evaluated.append(evaluation)
        return answer_to(evaluation, 1_000_000)

    def jitter(self, key: str) -> JitterSource:
        return jitter_of(key)

    async def yield_control(self) -> None:
        self.had_control += 1
        await asyncio.sleep(0)

    async def settled(self) -> None:
        await asyncio.sleep(0)

    async def sleep(self, duration: timedelta, timer: Timer) -> None:
        self.slept.append((duration.total_seconds(), timer))
        if self.is_stuck:
            await asyncio.get_running_loop().create_future()
        self.time += duration


NOTHING: dict[str, Any] = {"type": "inject", "data": {}}


def _run(state: dict[str, Any], clock: Clock, progress: dict[str, Any] | None = None, **more: Any) -> Run:
    definition = load({"id": "a", "specVersion": "0.8", "states": [{"name": "A", **state, "end": True}], **more})
    program = definition.language.prepare(definition, SEMANTICS)
    return Run(program, cast("Host", clock), {}, InstanceIdentity("a", "a"), progress)


def test_the_work_of_an_activation_is_counted() -> None:
    """It is added up as long as the host's time stands still, and begins anew once it moves on."""
    clock = Clock()
    run = _run(NOTHING, clock)
    run.pacing.charge()
    clock.time += timedelta()
    run.pacing.charge(3)
    assert run.pacing.cost == 4
    clock.time += timedelta(seconds=1)
    run.pacing.charge()
    assert run.pacing.cost == 1


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
    assert outcome.progress["frame"] == run.execution.frame.to_json()
    assert not run.awaited


@pytest.mark.parametrize("length", [10, 1000])
async def test_what_a_run_carries_on_of_its_events_is_there_once(length: int) -> None:
    """The data of those that it keeps, and the ids of those that came: all alike where their source is long."""
    source, run = "s" * length, _run(NOTHING, Clock())
    large: JSON = [{"number": n} for n in range(100)]
    run.input = {"large": large}
    for id_ in ("1", "2"):
        run.deliver(CloudEvent(id=id_, source=source, type="t", data=large))
    written = json.dumps(run.progress())
    assert written.count('{"number": 99}') == 1
    assert written.count(source) == (4 if length == 10 else 1)
    inbox = with_copies(json.loads(written))["inbox"]
    assert inbox["seen"] == [[source, "1"], [source, "2"]]
    assert [event["data"] for event in inbox["kept"]] == [large, large]


async def test_what_a_run_does_by_itself_belongs_to_no_path() -> None:
    clock = Clock()
    await _run(NOTHING, clock).run()
    first, *_, last = clock.told
    for entry, kind in ((first, TraceKind.WORKFLOW_STARTED), (last, TraceKind.WORKFLOW_COMPLETED)):
        assert entry == TraceEntry(kind, "", "", "a", clock.time, {})


def test_no_id_is_given_twice() -> None:
    run = _run(NOTHING, Clock(), {"numbers": {"call": 2}})
    assert [run.next_id(what) for what in ("call", "call", "child")] == ["call#3", "call#4", "child#1"]


async def test_paths_side_by_side_give_way_together() -> None:
    clock = Clock()
    run = _run(NOTHING, clock)
    went_on: list[int] = []

    async def path(number: int) -> None:
        await run.pacing.give_way()
        went_on.append(number)

    run.pacing.charge(MAX_COST)
    for task in [asyncio.create_task(path(number)) for number in range(3)]:
        await task
    assert (went_on, clock.had_control) == ([0, 1, 2], 1)


async def test_the_host_is_given_control_after_much_was_done() -> None:
    """Counted since it last had it, be that because the run waited."""
    clock = Clock()
    run = _run(NOTHING, clock)
    for _ in range(MAX_COST - 1):
        await run.pacing.give_way(1)
    assert clock.had_control == 0
    await run.pacing.give_way(1)
    assert clock.had_control == 1
    run.pacing.charge(MAX_COST - 1)
    await run.sleep_until(run.time() + 1, SLEEP)
    await run.pacing.give_way(1)
    assert clock.had_control == 1


async def test_evaluations_in_helpers_cost_more() -> None:
    """Those that are not bounded are the host's, and each is counted before the next condition of a switch."""
    seen: list[tuple[int, int]] = []
    for condition in (".a == 1", ".a | tojson == 1", "[range(2)] == 1"):
        clock = Clock()
        conditions = [{"condition": condition, "end": True}] * 400
        await _run({"type": "switch", "dataConditions": conditions, "defaultCondition": {"end": True}}, clock).run()
        seen.append((clock.had_control, len(clock.evaluated)))
    assert seen == [(0, 0), (400 * HELPER_COST // MAX_COST, 0), (0, 400)]


async def test_what_is_compiled_costs_nothing() -> None:
    """It is compiled once in a process, and every replay of a run, wherever it is made, costs the same."""
    output = {"a": "${ [.x] | map(. + 1) }", "b": f"${{ '{'b' * 300_000}' + 'c' }}".replace("'", '"')}
    costs = set()
    for _ in range(2):
        run = _run({"type": "inject", "data": {"x": 1}, "stateDataFilter": {"output": output}}, Clock())
        await run.run()
        costs.add(run.pacing.account.cost)
    assert len(costs) == 1


async def test_all_paths_wait_while_the_host_has_control() -> None:
    clock = Clock()
    run = _run(NOTHING, clock)
    run.pacing.charge(MAX_COST)
    paths = [asyncio.create_task(run.pacing.give_way()) for _ in range(3)]
    await asyncio.sleep(0)
    paths[1].cancel()
    assert await asyncio.gather(*paths, return_exceptions=True) == [None, ANY, None]
    assert paths[1].cancelled()
    assert clock.had_control == 1


def test_ids_of_iterations_are_counted_by_the_state() -> None:
    run = _run(NOTHING, Clock())
    for _ in range(2):
        run.begin_iterations("A")
        for index in range(3):
            run.next_id(f"A[{index}]/f")
            run.forget_iteration("A", index, {"f", "g"})
    assert run.numbers == {"A[]/f": 1, "A[*]/f": 2}
    run.begin_iterations("A")
    assert run.next_id("A[2]/f") == "A[2]/f#3"
    assert run.next_id("A[2]/g") == "A[2]/g#1"


def test_ids_of_iterations_within_iterations_are_counted_alike() -> None:
    run = _run(NOTHING, Clock())
    run.begin_iterations("A")
    for outer in range(2):
        run.begin_iterations(f"A[{outer}]/B")
        for inner in range(2):
            assert run.next_id(f"A[{outer}]/B[{inner}]/f") == f"A[{outer}]/B[{inner}]/f#1"
            run.forget_iteration(f"A[{outer}]/B", inner)
        run.forget_iteration("A", outer)
    run.begin_iterations("A")
    assert run.numbers == {"A[]/B[]/f": 1}
    assert run.next_id("A[0]/B[1]/f") == "A[0]/B[1]/f#2"


async def test_a_moment_that_has_come_is_not_waited_for() -> None:
    clock = Clock()
    run = _run(NOTHING, clock)
    for moment in (run.time() - 1, run.time()):
        await run.sleep_until(moment, SLEEP)
        await run.time_out_at(moment, TIMEOUT)
    assert clock.slept == []
    await run.sleep_until(run.time() + 0.5, SLEEP)
    await run.time_out_at(run.time() + 0.25, TIMEOUT)
    assert clock.slept == [(0.5, SLEEP), (0.25, TIMEOUT)]


async def test_a_suspension_ends_sleeps_and_lets_none_begin() -> None:
    """A path that is cancelled in the same moment is cancelled, and one that sleeps no more is left alone."""
    clock = Clock()
    run = _run(NOTHING, clock)
    await run.sleep_until(run.time() + 1, SLEEP)
    clock.is_stuck = True
    sleeping, cancelled, given_up = (asyncio.create_task(run.sleep_until(run.time() + 1, SLEEP)) for _ in range(3))
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
        await run.sleep_until(run.time(), SLEEP)
    with pytest.raises(SuspendRequested):
        run.checkpoint()
