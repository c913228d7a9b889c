"""What runs hold in a worker's memory: a run that holds too much fails, and many make room for one another."""

import asyncio
import gc
import weakref
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner, WorkflowRunner

from swf_temporal.runtime.budgets import Limits
from swf_temporal.temporal import activations, held_memory, worker
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.activations import WatchedWorkflows
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.held_memory import MIB, HeldMemory, NoRoom
from swf_temporal.temporal.worker import Capacity
from swf_temporal.temporal.workflow import Interpreter
from tests.temporal.conftest import Bench, define


def _making(number: int, size: int = 30_000) -> dict[str, Any]:
    """Return a state that adds so many bytes to the data."""
    return {
        "name": f"Make {number}",
        "type": "inject",
        "data": {},
        "stateDataFilter": {"output": f'${{ .s{number} = ("{number % 10}" * {size}) }}'},
    }


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> HeldMemory:
    """Bounds of a two-thousandth of what they are."""
    memory = HeldMemory(of_one=200_000, of_all=400_000)
    monkeypatch.setattr(worker, "_memory", lambda *_: memory)
    monkeypatch.setattr(held_memory, "STEP", 20_000)
    monkeypatch.setattr(held_memory, "_COUNTED", 1_000)
    monkeypatch.setattr(held_memory, "_RECENT", 0.0)
    return memory


async def _replays(history: WorkflowHistory, runner: WorkflowRunner) -> bool:
    replayer = Replayer(
        workflows=[Interpreter],
        unsandboxed_workflow_runner=runner,
        data_converter=CONVERTER,
        debug_mode=True,
    )
    return (await replayer.replay_workflow(history, raise_on_replay_failure=False)).replay_failure is None


@pytest.mark.usefixtures("small")
async def test_a_run_that_holds_too_much_fails(bench: Bench) -> None:
    """It fails at the step at which it does, and does so wherever its history is replayed."""
    async with bench.worker(define(*map(_making, range(12)))) as running:
        handle = await running.start()
        with pytest.raises(swf.RunEnded, match="take more memory than the 0 MiB that a run may hold") as failed:
            await swf.result(handle)

    fault = failed.value.fault
    assert fault is not None
    assert (fault.name, fault.state) == ("PayloadTooLarge", "Make 7")
    history = await handle.fetch_history()
    assert await _replays(history, UnsandboxedWorkflowRunner())
    assert await _replays(history, WatchedWorkflows())  # as in a worker, which knows the markers


@pytest.mark.usefixtures("small")
async def test_what_is_let_go_is_not_held(bench: Bench) -> None:
    """What counts is what the data are, and not what was made on the way."""
    states = [_making(number) for number in range(12)]
    for state in states:
        state["stateDataFilter"] = {"output": '${ ("x" * 30000) as $made | {size: ($made | length)} }'}
        state["stateDataFilter"]["input"] = '${ {s: ("x" * 30000)} }'
    async with bench.worker(define(*states)) as running:
        assert await running.run() == {"size": 30_000}


async def test_runs_that_wait_make_room(bench: Bench, small: HeldMemory) -> None:
    """Those that were idle for the longest time are let go; their next event has them replayed, and all of them end."""
    evicted: list[str] = []
    definition = define(
        _making(1, 60_000),
        {"name": "Wait", "type": "event", "onEvents": [{"eventRefs": ["go"]}]},
        {"name": "Size", "type": "inject", "data": {}, "stateDataFilter": {"output": "${ {size: (.s1 | length)} }"}},
        events=[{"name": "go", "type": "go", "source": "s"}],
    )
    async with bench.worker(definition) as running:
        evict = small.evict
        assert evict is not None

        def noted(run_id: str) -> None:
            evicted.append(run_id)
            evict(run_id)

        small.evict = noted
        handles = [await running.start() for _ in range(12)]
        for handle in handles:
            await running.awaiting(handle, "go")
        for handle in handles:
            await handle.signal("go", {})
        results = await asyncio.gather(*(swf.result(handle) for handle in handles))

    assert results == [{"size": 60_000}] * 12
    assert evicted


@pytest.mark.parametrize(
    ("payload_bytes", "cached_bytes", "of_one", "of_all"),
    [
        (MIB, 512 * MIB, 128 * MIB, 512 * MIB),
        (MIB, 100 * MIB, 128 * MIB, 256 * MIB),
        (256 * MIB, 512 * MIB, 600 * MIB, 1200 * MIB),
        (256 * MIB, 2048 * MIB, 600 * MIB, 2048 * MIB),
    ],
)
def test_the_settings_of_a_worker_bound_its_memory(
    payload_bytes: int, cached_bytes: int, of_one: int, of_all: int
) -> None:
    """Two runs always have room; with stored payloads, each may hold what it collects, and as much beside it."""
    capacity = Capacity(cached_bytes=cached_bytes, limits=Limits(held_bytes=300 * MIB))

    memory = worker._memory(payload_bytes, capacity)

    assert (memory.of_one, memory.of_all) == (of_one, of_all)


def test_a_run_gives_way_to_those_that_grew_before_it() -> None:
    """Of those that are at work the first goes on."""
    memory = HeldMemory(of_one=100 * MIB, of_all=200 * MIB)
    texts = {name: ["x" * (90 * MIB)] for name in ("first", "second", "third")}
    for name in texts:
        memory.begin(name)
        assert memory.weigh(name, 20 * MIB, partial(texts.__getitem__, name)) > 90 * MIB

    memory.check_room("first")
    with pytest.raises(NoRoom):
        memory.check_room("third")
    memory.forget("first")
    memory.check_room("third")


def test_a_run_is_weighed_where_it_has_grown() -> None:
    """It costs as little as what was made since."""
    memory = HeldMemory()

    assert memory.weigh("a", MIB, lambda: pytest.fail("it is not looked at")) == 0
    assert memory.weigh("a", 20 * MIB, lambda: ["x" * (30 * MIB)]) > 30 * MIB
    memory.end("a", 20 * MIB)
    assert memory.weigh("a", 10 * MIB, lambda: pytest.fail("it is not looked at")) == 0
    memory.end("a", 10 * MIB)
    assert memory.weigh("a", 10 * MIB, lambda: ["x"]) < 1_000


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["begin", "end", "weigh", "share", "forget"]), st.sampled_from("abc"), st.integers(0, 40)
        ),
        max_size=30,
    )
)
def test_what_all_runs_hold_is_what_each_of_them_does(steps: list[tuple[str, str, int]]) -> None:
    """Whatever they make, and whenever they are weighed and removed."""
    memory = HeldMemory()
    for step, run_id, size in steps:
        if step == "begin":
            memory.begin(run_id, size * MIB)
        elif step == "end":
            memory.end(run_id, size * MIB)
        elif step == "weigh":
            memory.weigh(run_id, size * MIB, partial(list, ["x" * size]))
        elif step == "share":
            memory.share(run_id, f"a definition of {size % 3}", size % 3 * MIB)
        else:
            memory.forget(run_id)
        shared = set().union(*(one.shares for one in memory._runs.values()))
        assert memory._total == sum(one.all for one in memory._runs.values()) + sum(
            int(what[-1]) * MIB for what in shared
        )


@pytest.fixture
def collected_by_hand() -> Iterator[None]:
    """Let the garbage collector do nothing by itself."""
    gc.disable()
    yield
    gc.enable()


def test_what_a_run_is_started_with_counts() -> None:
    """The results that executions before it collected: they are large, and are not read until all are there."""
    evicted: list[str] = []
    memory = HeldMemory(of_one=100 * MIB, of_all=200 * MIB)
    memory.evict = evicted.append
    for name in ("first", "second", "third"):
        memory.begin(name, 90 * MIB)
        memory.end(name, 0)
        memory._runs[name].ended -= held_memory._RECENT
    memory.end("third", 0)

    assert evicted == ["first"]


def test_what_runs_share_counts_once() -> None:
    """And as long as one of them holds it: the others may be removed without more room."""
    evicted: list[str] = []
    memory = HeldMemory(of_one=100 * MIB, of_all=200 * MIB)
    memory.evict = evicted.append
    for name, shared in (("a", "one"), ("b", "one"), ("c", "one"), ("d", "other")):
        memory.share(name, shared, 90 * MIB)
        memory.end(name, 2 * MIB)
        memory._runs[name].ended -= held_memory._RECENT
    assert not evicted

    memory.end("d", 20 * MIB)
    assert evicted == ["a", "b", "c"]
    for name in evicted:
        memory.forget(name)
    assert memory._total == (90 + 2 + 20) * MIB


async def test_long_definitions_count(bench: Bench, small: HeldMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    """They take many times the memory of their text, however many instances of one there are."""
    monkeypatch.setattr(activations, "_LONG_TEXT", 1)
    definition = define(
        {"name": "Wait", "type": "event", "onEvents": [{"eventRefs": ["go"]}]},
        events=[{"name": "go", "type": "go", "source": "s"}],
    )
    async with bench.worker(definition) as worker:
        handles = [await worker.start() for _ in range(2)]
        for handle in handles:
            await worker.awaiting(handle, "go")
        assert {what: (one.size, one.runs) for what, one in small._shared.items()} == {
            definition.digest: (60 * len(definition.source.text), 2)
        }
        for handle in handles:
            await swf.send_data(bench.client, handle.id, "go", {})
            await swf.result(handle)
        async with asyncio.timeout(20):
            while small._shared:
                await asyncio.sleep(0.05)


@pytest.mark.usefixtures("collected_by_hand")
@pytest.mark.parametrize(("given", "size", "is_freed"), [(0, 80, True), (0, 20, False), (80, 0, True), (20, 0, False)])
def test_what_removed_runs_leave_is_freed(given: int, size: int, *, is_freed: bool) -> None:
    """Their data are part of reference cycles, which the garbage collector would find late: it counts objects."""
    task = asyncio.Event()
    task.__dict__["refers_to_itself"] = task
    left = weakref.ref(task)
    memory = HeldMemory()
    memory.begin("a", given * MIB)
    memory.end("a", size * MIB)
    memory.forget("a")
    del task

    memory.collect_garbage()

    assert (left() is None) == is_freed
