"""Scenarios of calls, as texts that are run."""

from pathlib import Path

from swf_temporal.simulation.result import Simulation
from swf_temporal.simulation.scenario import Scenario, find_scenarios, run

HEAD = """\
scenario: Calls
workflow:
  id: calls
  version: 1.0.0
  specVersion: "0.8"
"""


def calling(rest: str) -> str:
    return HEAD + rest


def scenario(folder: Path, text: str) -> Scenario:
    (folder / "scenario.yaml").write_text(text, encoding="utf-8")
    return find_scenarios([folder / "scenario.yaml"])[0]


def came_of(folder: Path, text: str) -> tuple[Simulation, list[str]]:
    """Run the scenario that *text* is; return what came of it, and the differences."""
    simulation, differences = run(scenario(folder, text))
    assert simulation is not None
    return simulation, differences
