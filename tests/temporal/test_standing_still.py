"""That a run stands still is known: however late something comes, nobody takes the run for one that only waits."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.worker._workflow_instance import WorkflowInstance, WorkflowInstanceDetails

from swf_temporal.base.data import JSON
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.sdk.scenarios.driver import ScenarioDriver
from swf_temporal.sdk.scenarios.host import scenario_host
from swf_temporal.sdk.scenarios.scripted import ScriptedCalls
from swf_temporal.sdk.scenarios.virtual_time import VirtualTime
from swf_temporal.simulation.scenario import canonical, check, find_scenarios, run, workflows_of

FILES = ("timeouts/families.yaml", "subflow/subflow.yaml", "compensation/compensation.yaml")
ROOT = Path(__file__).parents[1] / "scenarios"
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
    found = [one for one in find_scenarios([ROOT / file]) if "temporal" in one.hosts and not one.is_refused]
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
        one for one in find_scenarios([ROOT / "retries"]) if "temporal" in one.hosts and not one.is_refused
    ]
    async with asyncio.timeout(60):
        with pytest.raises(ConnectionError):
            async with scenario_host() as host:
                await host.observe(scenario)
