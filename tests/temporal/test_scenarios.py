"""Every scenario holds on Temporal as well, and takes the same course there as in simulation.

A run of the tests tries one of each file; one that tries everything, all of them.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer
from temporalio.worker._workflow_instance import WorkflowInstance, WorkflowInstanceDetails

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.sdk.scenarios.driver import ScenarioDriver
from swf_temporal.sdk.scenarios.host import IN_SCENARIOS, ScenarioHost, scenario_host
from swf_temporal.sdk.scenarios.scripted import ScriptedCalls
from swf_temporal.sdk.scenarios.virtual_time import VirtualTime
from swf_temporal.simulation.scenario import Scenario, canonical, check, find_scenarios, run, workflows_of
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
        workflows=ALL_WORKFLOWS, interceptors=[OperatorOptionsInterceptor(IN_SCENARIOS)],
        unsandboxed_workflow_runner=VirtualTime(), data_converter=CONVERTER,
    )  # fmt: skip
    outcome = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    assert outcome.replay_failure is None


SOONER_LOCALLY = {"Wins with a branch of several tasks before one that gives up a call"}
"""Claims about who is first where a call is given up: a local one has not been requested then, and ends at once."""
OF_CALLS = [one for one in EVERY if (one.functions or one.services) and one.claim not in SOONER_LOCALLY]
LOCALLY = [
    scenario
    for folder, inside in groupby(OF_CALLS, lambda scenario: scenario.file.relative_to(ROOT).parts[0])
    for scenario in sample(list(inside), f"with local calls: {folder}", 2)
]


@pytest.fixture(scope="session")
async def local_host() -> AsyncIterator[ScenarioHost]:
    """A server whose time can jump, and a worker that makes calls locally."""
    async with scenario_host(local_calls=True) as started:
        yield started


@pytest.mark.parametrize("scenario", LOCALLY, ids=named)
async def test_holds_with_local_calls(local_host: ScenarioHost, scenario: Scenario) -> None:
    simulated, _ = run(scenario)
    assert simulated is not None
    observed = await local_host.observe(scenario)

    assert check(scenario, observed) == []
    assert canonical(observed.trace) == canonical(simulated.trace)
    await replay(local_host, scenario)


FILES = ("timeouts/families.yaml", "subflow/subflow.yaml", "compensation/compensation.yaml")
FOLDER = Path(__file__).parents[1] / "scenarios"
MAX_SCENARIOS = 4
"""How many scenarios of a file run, side by side."""
SECONDS = 0.1
"""How much later than usual everything comes: ten times what is usual."""


class SlowCalls(ScriptedCalls):
    async def perform(self, call: FunctionCall, *, source: str, key: str, attempt: int) -> JSON:
        await asyncio.sleep(SECONDS)
        try:
            return await super().perform(call, source=source, key=key, attempt=attempt)
        finally:
            await asyncio.sleep(SECONDS)


class SlowWorkflows(VirtualTime):
    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        instance = super().create_instance(det)
        activate = instance.activate

        def late(act: WorkflowActivation) -> WorkflowActivationCompletion:
            time.sleep(SECONDS)
            return activate(act)

        slow: Any = instance
        slow.activate = late
        return instance


@pytest.mark.parametrize("file", FILES)
async def test_comes_to_the_same_however_long_it_takes(file: str) -> None:
    """What is late in reality is late in no run: its time is virtual, and waits."""
    found = [one for one in find_scenarios([FOLDER / file]) if "temporal" in one.hosts and not one.is_refused]
    scenarios = list({workflows_of(one)[0].id: one for one in found}.values())[:MAX_SCENARIOS]
    async with scenario_host(SlowCalls, SlowWorkflows) as host:
        seen = await asyncio.gather(*map(host.observe, scenarios))
    for scenario, observed in zip(scenarios, seen, strict=True):
        simulated, _ = run(scenario)
        assert simulated is not None
        assert check(scenario, observed) == []
        assert canonical(observed.trace) == canonical(simulated.trace)


async def test_a_scenario_that_breaks_off_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its calls, which wait for their turn, end with it, and so does the worker."""

    async def breaking(_: ScenarioDriver) -> bool:
        raise ConnectionError

    monkeypatch.setattr(ScenarioDriver, "_go_on", breaking)
    [scenario, *_] = [
        one for one in find_scenarios([FOLDER / "retries"]) if "temporal" in one.hosts and not one.is_refused
    ]
    async with asyncio.timeout(60):
        with pytest.raises(ConnectionError):
            async with scenario_host() as host:
                await host.observe(scenario)
