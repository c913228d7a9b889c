"""Every scenario of the corpus holds in simulation, and holds as well if the run is suspended anywhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.interpreter.host import TraceEntry
from swf_temporal.interpreter.interpretation import Interpretation
from swf_temporal.simulation.scenario import Scenario, canonical, find_scenarios, run, world_of
from swf_temporal.simulation.simulate import Simulation

CORPUS = Path(__file__).parents[1] / "scenarios"
SCENARIOS = find_scenarios([CORPUS])


def _id(scenario: Scenario) -> str:
    return f"{scenario.file.relative_to(CORPUS)}: {scenario.claim}"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=_id)
def test_holds(scenario: Scenario) -> None:
    """What a scenario claims is what happens."""
    _, differences = run(scenario)
    assert not differences, "\n".join([str(scenario), *differences])


@pytest.mark.parametrize("scenario", SCENARIOS, ids=_id)
def test_survives_suspension(scenario: Scenario) -> None:
    """Suspended after any of its steps, and resumed from a record of plain JSON, a run comes to the same."""
    undisturbed = world_of(scenario).run(scenario.input)
    for step in range(1, len(undisturbed.trace) + 1):
        assert _essence(_suspended(scenario, step)) == _essence(undisturbed), f"{scenario}: suspended at step {step}"


def _suspended(scenario: Scenario, step: int) -> Simulation:
    """Run *scenario*, suspended once when its trace has *step* entries."""
    world = world_of(scenario)

    def suspend(interpretation: Interpretation, _: TraceEntry) -> None:
        if len(world.trace) == step:
            world.noticed = None
            interpretation.suspend()

    def record(progress: dict[str, Any]) -> dict[str, Any]:
        written: dict[str, Any] = json.loads(json.dumps(progress, allow_nan=False))
        return written

    world.noticed, world.resumed = suspend, record
    return world.run(scenario.input)


def _essence(simulation: Simulation) -> dict[str, Any]:
    """Return what must not depend on when a run was suspended."""
    return {
        "status": simulation.status,
        "output": simulation.output,
        "error": simulation.error,
        "elapsed": simulation.elapsed,
        "produced": [event.get("data") for event in simulation.produced_events],
        "calls": sorted(json.dumps(call, sort_keys=True) for call in simulation.calls),
        "trace": canonical(simulation.trace),
    }
