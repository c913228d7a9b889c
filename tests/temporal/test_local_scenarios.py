"""Every scenario of calls holds as well where its calls are local ones."""

from collections.abc import AsyncIterator
from itertools import groupby

import pytest

from swf_temporal.sdk.scenarios.host import ScenarioHost, scenario_host
from swf_temporal.simulation.scenario import Scenario, canonical, check, run
from tests.corpus import ROOT
from tests.sampling import sample
from tests.temporal.test_scenarios import EVERY, named, replay

OF_CALLS = [scenario for scenario in EVERY if scenario.functions or scenario.services]
SCENARIOS = [
    scenario
    for folder, inside in groupby(OF_CALLS, lambda scenario: scenario.file.relative_to(ROOT).parts[0])
    for scenario in sample(list(inside), f"with local calls: {folder}", 2)
]


@pytest.fixture(scope="session")
async def local_host() -> AsyncIterator[ScenarioHost]:
    """A server whose time can jump, and a worker that makes calls locally."""
    async with scenario_host(local_calls=True) as started:
        yield started


@pytest.mark.parametrize("scenario", SCENARIOS, ids=named)
async def test_holds_with_local_calls(local_host: ScenarioHost, scenario: Scenario) -> None:
    """A scenario ends as it says, by the same course as in simulation, and its history replays."""
    simulated, _ = run(scenario)
    assert simulated is not None
    observed = await local_host.observe(scenario)

    assert check(scenario, observed) == []
    assert canonical(observed.trace) == canonical(simulated.trace)
    await replay(local_host, scenario)
