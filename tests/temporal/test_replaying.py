"""The course of a run follows from its history alone, whatever a worker does with its time and its memory.

Scenarios run on a server with a worker that keeps nothing in memory, so that each workflow task replays the history,
and that yields after as little work as is drawn, while the instances are asked for their status and trace at moments
that follow from no plan. They come to what they come to in simulation, and every beginning of every history replays.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial

import pytest
from temporalio.client import Client, WorkflowQueryFailedError
from temporalio.service import RPCError
from temporalio.worker import Replayer

from swf_temporal.runtime import cycles
from swf_temporal.sdk.scenarios.host import IN_SCENARIOS, ScenarioHost, scenario_host
from swf_temporal.sdk.scenarios.virtual_time import VirtualTime
from swf_temporal.simulation.scenario import Scenario, run, workflows_of
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.instance_part import OperatorOptionsInterceptor
from swf_temporal.temporal.statuses import answer_of
from swf_temporal.temporal.workflows import ALL_WORKFLOWS
from tests.replay.prefixes import failures
from tests.sampling import chance, sample
from tests.temporal.test_scenarios import EVERY, named

SAMPLED = sample(EVERY, "replayed after every workflow task", 8, 400)
_COSTS = (1, 2, 3, 5, 8, 13, 21, 34)
"""The work after which a run yields. Usually that is thousands of times as much."""
_MAX_YIELDS = 50
"""About how often a run yields at most: each time, all that it did before is replayed."""


@pytest.fixture(scope="session")
async def forgetful() -> AsyncIterator[ScenarioHost]:
    """A server whose time can jump, and a worker that keeps no run in memory."""
    async with scenario_host(max_cached_workflows=0) as started:
        yield started


@pytest.mark.parametrize("scenario", SAMPLED, ids=named)
async def test_follows_from_history_alone(
    forgetful: ScenarioHost, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that yields often and is always replayed takes the course that it takes otherwise."""
    simulated, _ = run(scenario)
    assert simulated is not None
    cost = max(chance(named(scenario)).choice(_COSTS), len(simulated.trace) // _MAX_YIELDS)
    monkeypatch.setattr(cycles, "MAX_COST", cost)
    workflow_id = workflows_of(scenario)[0].id
    asking = asyncio.create_task(_keep_asking(forgetful.client, workflow_id))
    try:
        observed = await forgetful.observe(scenario)
    finally:
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking
    assert (observed.status, observed.output) == (simulated.status, simulated.output)
    assert (observed.error or {}).get("name") == (simulated.error and simulated.error.name)
    replayer = Replayer(
        workflows=ALL_WORKFLOWS, interceptors=[OperatorOptionsInterceptor(IN_SCENARIOS)],
        unsandboxed_workflow_runner=VirtualTime(), data_converter=CONVERTER, debug_mode=True,
    )  # fmt: skip
    history = await forgetful.client.get_workflow_handle(workflow_id).fetch_history()
    assert await failures(replayer, workflow_id, json.loads(history.to_json())) == {}


async def _keep_asking(client: Client, workflow_id: str) -> None:
    random, pause = chance(f"asking {workflow_id}"), 0.05
    while True:
        for query in ("status", "trace"):
            with suppress(RPCError, WorkflowQueryFailedError):
                await answer_of(partial(client.get_workflow_handle(workflow_id).query, query))
            await asyncio.sleep(random.uniform(0, pause))
        pause *= 2  # the SDK may drop a task for a query: on a busy machine each of them, if they never became fewer
