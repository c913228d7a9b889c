"""What a run keeps of the code and the definitions that it began with, and what it passes over."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHistory

import swf_temporal
from swf_temporal import RunEnded
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, InvalidDefinition, Problem
from swf_temporal.languages import loading
from swf_temporal.languages.known import LANGUAGES
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.languages.serverless_workflow.validation import rules
from swf_temporal.runtime.host import Timer
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import records
from swf_temporal.temporal.children import reachable_from
from swf_temporal.temporal.host import TemporalHost
from swf_temporal.temporal.markers import is_marked
from swf_temporal.temporal.records import Pin, Pinned, catalogue_of, pinned
from tests.temporal.building import awaits, consumed, inject, operation, sleeps, subflow
from tests.temporal.conftest import Bench, define, events_of, failed_task, outcome, replays
from tests.temporal.suspending import SUSPEND_AFTER

EVENING = """
id: evening
steps:
  - set: {cups: 2}
  - set: {done: true}
"""

OUTPUT_OF = {1: {"cups": 2, "done": True}, 2: {"done": True}}
"""What the sub-workflow comes to under each number."""


@pytest.fixture(autouse=True)
def language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swf_temporal.languages.known.LANGUAGES", [*LANGUAGES, "tests.languages.steps.language"])


@pytest.mark.parametrize(("number", "output"), OUTPUT_OF.items())
async def test_a_run_keeps_its_number(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, number: int, output: dict[str, object]
) -> None:
    """Through continue-as-new, and in a sub-workflow, whose language goes by it: on either host."""
    monkeypatch.setattr(records, "SEMANTICS", 2)
    naps = [sleeps(f"nap {n}", "PT0.01S") for n in range(3)]
    definition = define(*naps, subflow("sub", "evening"))
    workflows = [definition, load(EVENING)]

    context = SimulationContext(workflows, {}, (), {})
    context.semantics = number
    assert context.run({}).output == output

    pin = Pin(pinned(workflows), definition.version, semantics=number, others={SUSPEND_AFTER: 5})
    async with bench.worker(*workflows) as worker:
        handle = await worker.begin(definition.id, {}, pin.to_json(), workflow_id=f"keeps-{number}")
        assert await swf.result(handle) == output
        first = await events_of(bench.first(handle))
    assert first[-1].event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW


async def test_a_run_without_a_pin_has_its_workers_number(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands beside the definition in the history: a later worker goes by it, and an earlier one leaves the run."""
    definition = define(awaits("w", "go"), subflow("sub", "evening"), events=consumed("go", source="s"))
    queue = "semantics"

    async def begun(name: str) -> swf.Handle:
        handle = await swf.start_known(bench.client, "sample", workflow_id=f"semantics-{name}", task_queue=queue)
        await worker.awaiting(handle, "go")
        return handle

    async with bench.worker(definition, load(EVENING), queue=queue) as worker:
        first = await begun("of-the-first")
    monkeypatch.setattr(records, "SEMANTICS", 2)
    async with bench.worker(definition, load(EVENING), queue=queue) as worker:
        second, left = await begun("of-the-second"), await begun("left")
        for handle, output in ((first, OUTPUT_OF[1]), (second, OUTPUT_OF[2])):
            await swf.send_data(bench.client, handle.id, "go", {})
            assert await swf.result(handle) == output
    monkeypatch.setattr(records, "SEMANTICS", 1)
    async with bench.worker(definition, load(EVENING), queue=queue):
        await swf.send_data(bench.client, left.id, "go", {})
        assert "the semantics of a run, 2, is newer than this release" in await failed_task(left)
        await left.terminate()

    kinds = [Counter(event.event_type for event in await events_of(one)) for one in (first, second)]
    assert kinds[0].keys() == kinds[1].keys(), "the number has no event of its own"
    assert [one[EventType.EVENT_TYPE_MARKER_RECORDED] for one in kinds] == [1, 1]


NESTED = """
id: nested
steps:
  - beside:
      cups:
        - each:
            each: cup
            in: [1, 2, 3]
            at once: 2
            do:
              - set: {cup: =$cup}
              - try:
                  again: {when: '=$error.type == "Empty"', times: 9}
                  do: [{wait: PT0.01S}, {call: brew}]
      tea:
        - leave: {do: [{wait: PT0.01S}, {wait: PT0.01S}, {call: wash}]}
        - listen: {all: [{type: ordered}, {type: paid}]}
"""


@pytest.mark.parametrize("limit", [5, 9, 14])
async def test_nested_steps_continue_as_new(bench: Bench, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """A try in an iteration in a branch, a branch that was left running, and a wait for events go on where they are."""
    monkeypatch.setattr("swf_temporal.languages.known.LANGUAGES", [*LANGUAGES, "tests.languages.steps.language"])
    brewed: list[JSON] = []

    def brew(data: JSON) -> JSON:
        brewed.append(data)
        if len(brewed) < 3:
            raise CallFailed("there is no water", name="Empty")
        return {"coffee": "hot"}

    definition = load(NESTED)
    pin = Pin(pinned([definition]), definition.version, semantics=1, others={SUSPEND_AFTER: limit})
    async with bench.worker(definition, brew=brew, wash={}) as worker:
        handle = await worker.begin(definition.id, {}, pin.to_json(), workflow_id=f"nested-{limit}")
        for kind in ("paid", "ordered"):
            await swf.send_event(bench.client, handle.id, {"type": kind, "source": "s", "id": kind, "data": 1})
        output = await swf.result(handle)
        first = await events_of(bench.first(handle))
    assert output == {
        "cups": {"results": [{"cup": cup, "coffee": "hot"} for cup in (1, 2, 3)]},
        "tea": {"ordered": 1, "paid": 1},
    }
    assert len(brewed) == 5
    assert [name for name, *_ in worker.scripted.calls].count("wash") == 1
    assert first[-1].event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW


_UNRULY = """
id: sample
version: "1.0.0"
specVersion: "0.8"
states:
- {name: a, type: inject, data: {x: 1}, end: true}
- {name: never, type: inject, data: {x: 2}, transition: nowhere}
"""
"""A definition that our rules refuse, though nothing of what is wrong with it is ever reached."""


def test_a_part_of_a_pin_means_what_the_whole_does() -> None:
    """An instance of a version finds the same definitions in what it may need as in all that there are."""

    def of(id_: str, version: str, *sub_workflows: Any) -> Definition:
        actions = [{"subFlowRef": one} for one in sub_workflows]
        state = operation("a", *actions) if actions else inject("a")
        return define(state, id=id_, version=version)

    latest = of("part", "2.0.0")
    old = of("part", "1.0.0", {"workflowId": "part", "version": "1.5.0"})
    between = of("part", "1.5.0", "other")
    all_ = tuple(pinned([of("whole", "1.0.0", "part"), old, between, latest, of("other", "1.0.0")]))

    def needed(id_: str, version: str | None) -> list[str]:
        part = reachable_from(id_, version, all_)
        assert catalogue_of(part).find(id_, version).version == catalogue_of(all_).find(id_, version).version
        return [f"{one.id} {one.version}" for one in catalogue_of(part)]

    assert needed("whole", None) == ["whole 1.0.0", "part 2.0.0"]
    assert needed("part", None) == ["part 2.0.0"]
    assert needed("part", "1.0.0") == ["part 1.0.0", "part 1.5.0", "other 1.0.0"]
    assert reachable_from("part", "1.0.0", all_) == (all_[1], all_[2], all_[4])


async def test_a_new_rule_never_touches_a_running_instance(bench: Bench) -> None:
    """A text that is pinned with its digest was checked when its run began, and is read without rules from then on."""
    definition = define(inject("a", {"x": 1}))
    carried = replace(pinned([definition])[0], text=_UNRULY)
    async with bench.worker(definition) as worker:
        arguments = [{"given": True}, Pin([carried], version="1.0.0").to_json()]
        handle = await worker.begin("sample", *arguments, workflow_id="pinned-rules")

        assert await outcome(handle) == {"given": True, "x": 1}


async def test_an_added_rule_stops_no_running_instance(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker of the release with the rule refuses the definition, and replays and completes what began before."""
    definition = define(awaits("w", "go"), inject("a", {"x": 1}), events=consumed("go", source="s"))
    async with bench.worker(definition) as worker:
        handle = await worker.start_awaiting("go", workflow_id="pinned-added-rule")

    def forbids_everything(_: object) -> Iterator[Problem]:
        yield Problem("no-more", "nothing is allowed any more")

    monkeypatch.setattr(rules, "RULES", (forbids_everything,))
    loading.forget()
    with pytest.raises(InvalidDefinition, match="nothing is allowed any more"):
        load(f"{definition.source.text}\n")  # what was read is remembered by its text
    async with bench.worker(queue=worker.queue):
        await swf.send_data(bench.client, handle.id, "go", {"gone": True})
        assert await outcome(handle) == {"gone": True, "x": 1}


async def test_a_definition_of_unknown_origin_is_checked(bench: Bench) -> None:
    """Without a digest nobody has checked it: a run with such a text fails with all that is wrong with it."""
    definition = define(inject("a", {"x": 1}))
    async with bench.worker(definition) as worker:
        arguments = [{}, Pin([Pinned(_UNRULY, "unruly.yaml")]).to_json()]
        handle = await worker.begin("sample", *arguments, workflow_id="pinned-unknown")
        with pytest.raises(RunEnded, match="nowhere"):
            await outcome(handle)


def test_reading_again_costs_nothing() -> None:
    carried = tuple(pinned([define(inject("a", {"x": 1}))]))

    assert catalogue_of(carried) is catalogue_of(carried)


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


async def test_a_run_goes_the_way_that_it_began(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that asks replays histories of either kind, and code that does not only those of its own."""
    before = await ran(bench)
    monkeypatch.setattr(TemporalHost, "sleep", asking)
    after = await ran(bench)

    assert sum(event.HasField("timer_started_event_attributes") for event in after.events) == 2
    found = [await replays_by(before, monkeypatch, code) for code in (as_released, asking, unasked)]
    assert found == [True, True, False]
    assert [await replays_by(after, monkeypatch, code) for code in (as_released, asking)] == [False, True]


def test_markers_are_asked_for_in_one_module() -> None:
    """Whoever looks for what a history has to say of its run finds all of it by that module's name."""
    package = Path(swf_temporal.__file__).parent
    asking = [file for file in package.rglob("*.py") if "workflow.patched(" in file.read_text(encoding="utf-8")]
    assert [str(file.relative_to(package)) for file in asking] == ["temporal/markers.py"]
