"""Runs keep the semantics number that they began with, while the code knows a later one."""

import pytest
from temporalio.api.enums.v1 import EventType

from swf_temporal.languages.known import LANGUAGES
from swf_temporal.loading import load
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import records
from swf_temporal.temporal.records import Pin, pinned
from tests.temporal.conftest import Bench, define, events_of
from tests.temporal.suspending import SUSPEND_AFTER

EVENING = """
id: evening
steps:
  - set: {cups: 2}
  - set: {done: true}
"""


@pytest.mark.parametrize(("number", "output"), [(1, {"cups": 2, "done": True}), (2, {"done": True})])
async def test_a_run_keeps_its_number(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, number: int, output: dict[str, object]
) -> None:
    """Through continue-as-new, and in a sub-workflow, whose language goes by it: on either host."""
    monkeypatch.setattr("swf_temporal.languages.known.LANGUAGES", [*LANGUAGES, "tests.languages.steps.language"])
    monkeypatch.setattr(records, "SEMANTICS", 2)
    naps = [{"name": f"nap {n}", "type": "sleep", "duration": "PT0.01S"} for n in range(3)]
    definition = define(*naps, {"name": "sub", "type": "operation", "actions": [{"subFlowRef": "evening"}]})
    workflows = [definition, load(EVENING)]

    context = SimulationContext(workflows, {}, (), {})
    context.semantics = number
    assert context.run({}).output == output

    pin = Pin(pinned(workflows), definition.version, semantics=number, others={SUSPEND_AFTER: 5})
    async with bench.worker(*workflows) as worker:
        handle = await bench.client.start_workflow(
            definition.id, args=[{}, pin.to_json()], id=f"keeps-{number}", task_queue=worker.queue
        )
        assert await swf.result(handle) == output
        first = await events_of(bench.client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id))
    assert first[-1].event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW
