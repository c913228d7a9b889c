"""Events that cannot be sent, on a real server: the time of the workflow may be over meanwhile."""

from swf_temporal.languages.loading import load
from tests.temporal.conftest import Bench

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
