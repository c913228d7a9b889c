"""Events that cannot be sent, or that no sink takes, on a real server."""

import pytest

from swf_temporal.languages.loading import load
from tests.temporal.conftest import Bench
from tests.temporal.suspending import SUSPEND_AFTER

LATE = """
id: late
version: '1.0'
specVersion: '0.8'
start: Reserve
timeouts: {workflowExecTimeout: {duration: PT2S, runBefore: Give back}}
functions: [{name: reserve, type: custom}]
events: [{name: Made, type: made, kind: produced}]
states:
- name: Reserve
  type: operation
  actions: [{functionRef: reserve}]
  stateDataFilter: {input: '${ {order} }', output: '${ {reserved: true} }'}
  end: {produceEvents: [{eventRef: Made}]}
- {name: Give back, type: inject, data: {late: true}, end: true}
"""


async def test_what_runs_before_the_end_begins_with_the_unfiltered_data(bench: Bench) -> None:
    """As an error would lead on: the output filter of a state that is being left is not applied."""
    async with bench.worker(load(LATE), reserve={"reservation": 5}) as running:
        running.scripted.is_unreachable = True
        handle = await running.start({"order": 7, "customer": "Ada"})
        assert await handle.result() == {"order": 7, "reservation": 5, "late": True}


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
        last = await bench.handle(handle).describe()
    *before, made = running.scripted.published
    assert (len(before), made.type, made.data, made.attribute("buyer")) == (2, "untaken", {"c": 1}, "b1")
    assert last.run_id != handle.first_execution_run_id
    assert len([record for record in caplog.records if "no sink" in record.getMessage()]) == 1
