"""Runs keep the semantics number that they began with, while the code knows a later one: here it invents the second."""

from collections import Counter

import pytest
from temporalio.api.enums.v1 import EventType

from swf_temporal.languages.known import LANGUAGES
from swf_temporal.languages.loading import load
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import records
from swf_temporal.temporal.records import Pin, pinned
from tests.temporal.building import awaits, consumed, sleeps, subflow
from tests.temporal.conftest import Bench, define, events_of, failed_task
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


async def test_a_run_without_a_pin_has_the_number_of_the_worker_that_resolved_its_definition(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
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
