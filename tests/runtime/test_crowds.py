"""How many iterations run at once: what an engine can hold, whatever the definition says."""

import asyncio
from datetime import timedelta

import pytest

from swf_temporal import simulate
from swf_temporal.base.data import JSON

DEFINITION = """
id: crowd
specVersion: "0.8"
functions: [{name: work, operation: "api#work"}]
states:
  - {name: Work, type: foreach, BATCH inputCollection: "${ [range(1001)] }", actions: [{functionRef: work}], end: true}
"""


@pytest.mark.parametrize("batch", ["", "batchSize: 0,", "batchSize: 1100,"])
def test_no_more_than_a_thousand_at_a_time(batch: str) -> None:
    """The last of 1,001 iterations begins when another has ended, though nothing says how many, or more are allowed."""

    async def work(_: JSON) -> None:
        await asyncio.sleep(60)

    run = simulate(DEFINITION.replace("BATCH", batch), {}, functions={"work": work})
    assert (run.status, len(run.calls), run.elapsed) == ("completed", 1001, timedelta(minutes=2))
