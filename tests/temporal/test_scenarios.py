"""Every scenario holds on Temporal as well, and takes the same course there as in simulation.

A run of the tests tries one of each file; one that tries everything, all of them.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from itertools import groupby

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.sdk.scenarios.host import IN_SCENARIOS, ScenarioHost, scenario_host
from swf_temporal.sdk.scenarios.virtual_time import VirtualTime
from swf_temporal.simulation.scenario import Scenario, canonical, check, run, workflows_of
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.instance_part import OperatorOptionsInterceptor
from swf_temporal.temporal.workflows import ALL_WORKFLOWS
from tests.corpus import CORPUS, ROOT
from tests.sampling import sample

EVERY = [scenario for scenario in CORPUS if "temporal" in scenario.hosts and not scenario.is_refused]
SCENARIOS = [
    scenario
    for file, inside in groupby(EVERY, lambda scenario: scenario.file)
    for scenario in sample(list(inside), f"on Temporal: {file.relative_to(ROOT)}", 1)
]


def named(scenario: Scenario) -> str:
    return f"{scenario.file.relative_to(ROOT)}: {scenario.claim}"


@pytest.fixture(scope="session")
async def host() -> AsyncIterator[ScenarioHost]:
    async with scenario_host() as started:
        yield started


@pytest.mark.parametrize("scenario", SCENARIOS, ids=named)
async def test_holds_on_temporal_too(host: ScenarioHost, scenario: Scenario) -> None:
    """A scenario ends on Temporal as it says, by the same course as in simulation, and its history replays."""
    simulated, _ = run(scenario)
    assert simulated is not None
    observed = await host.observe(scenario)

    assert check(scenario, observed) == []
    assert canonical(observed.trace) == canonical(simulated.trace)
    await replay(host, scenario)


async def test_what_is_refused_starts_nothing(host: ScenarioHost) -> None:
    begun = datetime.now(UTC).isoformat()  # the server lists what other tests have started some time later
    for scenario in (one for one in CORPUS if one.is_refused):
        with pytest.raises(InvalidDefinition):
            await host.observe(scenario)
    assert (await host.client.count_workflows(f"StartTime >= '{begun}'")).count == 0


async def replay(host: ScenarioHost, scenario: Scenario) -> None:
    handle = host.client.get_workflow_handle(workflows_of(scenario)[0].id)
    history = WorkflowHistory.from_json(handle.id, (await handle.fetch_history()).to_json())
    replayer = Replayer(
        workflows=ALL_WORKFLOWS,
        interceptors=[OperatorOptionsInterceptor(IN_SCENARIOS)],
        unsandboxed_workflow_runner=VirtualTime(),
        data_converter=CONVERTER,
    )
    outcome = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    assert outcome.replay_failure is None
