"""Events that no sink takes, on a real server: the log says so once for a run."""

import pytest

from swf_temporal.languages.loading import load
from tests.temporal.conftest import Bench
from tests.temporal.suspending import SUSPEND_AFTER

PRODUCING = """
id: untaken
version: '1.0'
specVersion: '0.8'
start: A
events: [{name: Made, type: untaken, kind: produced}]
states:
- {name: A, type: inject, data: {a: 1}, transition: {nextState: B, produceEvents: [{eventRef: Made}]}}
- {name: B, type: inject, data: {b: 1}, transition: {nextState: C, produceEvents: [{eventRef: Made}]}}
- name: C
  type: inject
  data: {c: 1}
  end: {produceEvents: [{eventRef: Made, data: '${ {c} }', contextAttributes: {buyer: b1}}]}
"""


async def test_it_is_logged_once_for_a_run(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """Also where the run continues as new between the events."""
    async with bench.worker(load(PRODUCING)) as running:
        running.scripted.takers = []
        handle = await running.start(**{SUSPEND_AFTER: 5})
        await handle.result()
        last = await bench.client.get_workflow_handle(handle.id).describe()
    *before, made = running.scripted.published
    assert (len(before), made.type, made.data, made.attribute("buyer")) == (2, "untaken", {"c": 1}, "b1")
    assert last.run_id != handle.first_execution_run_id
    assert len([record for record in caplog.records if "no sink" in record.getMessage()]) == 1
