"""A timeout comes on time, also where a run that is to be suspended still waits for calls and subflows."""

import pytest

from swf_temporal.simulation.scenario import Scenario
from tests.corpus import CORPUS, ROOT
from tests.simulation.test_scenarios import _suspended

SCENARIOS = [
    one for one in CORPUS if one.file == ROOT / "direktiv/timeouts.yaml" and one.definitions and one.expect.elapsed
]


def test_there_are_such() -> None:
    assert len(SCENARIOS) >= 2


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_comes_on_time(scenario: Scenario) -> None:
    """The subflow would take an hour, and is not waited for any longer than the timeout allows."""
    undisturbed, steps = _suspended(scenario, 0)
    assert undisturbed.elapsed == scenario.expect.elapsed
    for step in range(1, steps + 1):
        again, _ = _suspended(scenario, step)
        assert (again.elapsed, again.status) == (undisturbed.elapsed, undisturbed.status), f"suspended at step {step}"
