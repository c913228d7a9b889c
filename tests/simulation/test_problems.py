"""What is said of the definitions of a scenario, compared with what the scenario claims."""

from pathlib import Path

import pytest

from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.simulation.scenario import Scenario, check_reading, find_scenarios, run, workflows_of

SCENARIO = """\
scenario: Leads nowhere
workflow:
  id: orders
  specVersion: "0.8"
  states:
    - {name: Check, type: inject, data: {}, transition: Shp}
    - {name: Ship, type: inject, data: {}, end: true}
expect:
  problems: [PROBLEMS]
"""
TARGET = "{code: transition-target, at: '6:57', message: \"state 'Check' leads to 'Shp', which is not a state here\"}"
UNREACHABLE = "{code: unreachable-state, severity: warning}"


def _scenario(folder: Path, *problems: str, text: str = SCENARIO) -> Scenario:
    (folder / "scenario.yaml").write_text(text.replace("PROBLEMS", ", ".join(problems)), encoding="utf-8")
    return find_scenarios([folder])[0]


def test_what_is_claimed_holds(tmp_path: Path) -> None:
    scenario = _scenario(tmp_path, TARGET, UNREACHABLE)
    assert run(scenario) == (None, [])
    with pytest.raises(InvalidDefinition, match=r"scenario\.yaml:6:57  error  transition-target"):
        workflows_of(scenario)


def test_differences_of_a_problem(tmp_path: Path) -> None:
    target = "{code: transition-target, at: '6:1', message: no, hint: null, file: scenario.yaml}"
    assert check_reading(_scenario(tmp_path, target, UNREACHABLE)) == [
        "problems[0].at: expected '6:1', but it is '6:57'",
        "problems[0].message: expected 'no', but it is \"state 'Check' leads to 'Shp', which is not a state here\"",
        "problems[0].hint: expected None, but it is \"did you mean 'Ship'?\"",
    ]


def test_problems_that_nobody_expects(tmp_path: Path) -> None:
    missing, unexpected = check_reading(_scenario(tmp_path, TARGET, "{code: duration, at: '6:5'}"))
    assert missing == "problems: expected error duration, at '6:5', but it is not reported"
    assert [line.strip() for line in unexpected.splitlines()] == [
        "problems: this one is not expected:",
        f"{tmp_path / 'scenario.yaml'}:7:14  warning  unreachable-state  state 'Ship' is never entered",
        "- {name: Ship, type: inject, data: {}, end: true}",
        "^ lead to it with a transition, or remove it",
    ]


def test_the_order_counts(tmp_path: Path) -> None:
    assert check_reading(_scenario(tmp_path, UNREACHABLE, TARGET)) == [
        "problems: their order is different: transition-target, unreachable-state"
    ]


def test_a_definition_with_nothing_to_say_about(tmp_path: Path) -> None:
    (difference,) = run(_scenario(tmp_path, TARGET, text=SCENARIO.replace("Shp}", "Ship}")))[1]
    assert difference.startswith("problems: expected error transition-target, at '6:57'")


def test_warnings_keep_nothing_from_running(tmp_path: Path) -> None:
    text = SCENARIO.replace("transition: Shp", "end: true")
    simulation, differences = run(_scenario(tmp_path, UNREACHABLE, text=text + "  output: {a: 1}\n"))
    assert simulation is not None
    assert differences == ['output: expected {"a": 1}, but it is {}']
    assert run(_scenario(tmp_path, text=text))[1][0].startswith("problems: this one is not expected:")


def test_problems_of_another_file(tmp_path: Path) -> None:
    """A definition in a file of its own has its own lines, and the file may be named."""
    (tmp_path / "nap.yml").write_text("id: nap\nspecVersion: '0.8'\nstates: [{name: A, type: sleep, end: true}]\n")
    text = "scenario: Naps\nworkflow: nap.yml\nexpect: {problems: [PROBLEMS]}\n"
    problem = "{code: missing, at: '3:10', file: nap.yml, message: \"state 'A' has no duration\"}"
    assert check_reading(_scenario(tmp_path, problem, text=text)) == []
