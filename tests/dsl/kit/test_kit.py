"""The scenarios of the specification's conformance test kit hold, unchanged, on both hosts."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from swf_temporal.sdk.scenarios.host import ScenarioHost, scenario_host
from tests.dsl.kit import report
from tests.dsl.kit.features import KitScenario, read, scenarios_in
from tests.dsl.kit.running import failures, on_temporal, simulate

SCENARIOS = [one for folder in report.folders() for one in scenarios_in(folder)]
LATEST = [one for one in SCENARIOS if one.file.parts[-3] == "dsl-1.0-next"]

pytestmark = pytest.mark.spec


def named(one: KitScenario) -> str:
    return f"{one.file.parts[-3]}: {one.id}"


def test_the_kit_is_there() -> None:
    """The kit stands beside the checkout; where it does not, this says that nothing of it was run."""
    if not SCENARIOS:
        pytest.skip(f"the conformance test kit is not at {report.TEXTS}: no scenario of it was run")
    assert len(SCENARIOS) == 2 * len(LATEST) > 30


@pytest.mark.parametrize("one", SCENARIOS, ids=named)
async def test_holds_in_simulation(one: KitScenario) -> None:
    assert await failures(one, simulate) == []


@pytest.fixture(scope="session")
async def host() -> AsyncIterator[ScenarioHost]:
    async with scenario_host() as started:
        yield started


@pytest.mark.parametrize("one", LATEST, ids=named)
async def test_holds_on_temporal(host: ScenarioHost, one: KitScenario) -> None:
    assert await failures(one, on_temporal(host)) == []


WRONG = '''Feature: A feature
  As somebody
  # a comment
  Scenario: A scenario
    Given a workflow with definition:
    """yaml
    document: {dsl: 1.0.3, namespace: default, name: wrong, version: 1.0.0}
    do:
      - one: {set: {n: 1}}
      - two: {set: {n: 2}}
    """
    When the workflow is executed
    Then the workflow should complete with output:
    """yaml
    n: 1
    """
    And the workflow output should have properties 'n', 'm'
    And the workflow output should have a 'n' property with value:
    """yaml
    3
    """
    And the workflow output should have a 'n' property containing 1 items
    And two should run first
    And one should run last
    And two should run before one
    And one should run after two
    And three should complete
    And two should fault
    And two should cancel
    And nobody knows this step
    And the workflow should fault
'''


async def test_a_wrong_expectation_is_noticed(tmp_path: Path) -> None:
    """Each step is refused that does not hold."""
    file = tmp_path / "wrong.feature"
    file.write_text(WRONG)
    [one] = read(file)
    expected = [step.text for step in one.steps[2:]]
    found = await failures(one, simulate)
    assert [text for text in expected if not any(failure.startswith(text) for failure in found)] == []


@pytest.mark.parametrize("text", ["Feature: F\n Scenario: S\n  Given x\n  nonsense", 'Scenario: S\n Given x\n """\n'])
def test_what_is_not_understood_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "broken.feature"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"not a step|does not end"):
        list(read(file))


@pytest.mark.skipif(not SCENARIOS, reason="the conformance test kit is not there")
def test_the_page_lists_every_scenario() -> None:
    """The page and the report are those of the features that are there, and say that each of them holds."""
    outcomes = [
        report.Outcome(one.file.parts[-3], one, host, ()) for host in report.HOSTS for one in SCENARIOS
    ]  # fmt: skip
    assert report.PAGE.read_text("utf-8") == report.page(outcomes)
    assert report.REPORT.read_text("utf-8") == report.report(outcomes)
