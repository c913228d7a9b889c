"""The mode of SonataFlow: each leniency in reading and each difference at run time is shown by a scenario.

Those are in `tests/scenarios/sonataflow/`, a file for each, with the outcome without the mode beside it where that is
another one; the tests of scenarios run them on both hosts.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Final

import pytest

from swf_temporal.languages.loading import check_file
from swf_temporal.languages.serverless_workflow.model.workflow import LanguageVersion
from swf_temporal.languages.serverless_workflow.reading.versions import v0_8
from swf_temporal.languages.serverless_workflow.upgrading import sonataflow
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow.migrate import migrate
from swf_temporal.languages.serverless_workflow.upgrading.trees import UpgradeReport
from swf_temporal.simulation.scenario import Scenario, find_scenarios
from swf_temporal.text.fetching.resources import in_mode
from swf_temporal.text.origin import Source, plain
from swf_temporal.text.yaml_text import write_yaml

FOLDER: Final = Path(__file__).parents[1] / "scenarios" / "sonataflow"
REWRITING: Final = Path(sonataflow.__file__).parent
AT_RUN_TIME: Final = {
    "data_flow": ("array-places", "arrays", "kinds", "output-collection", "response"),
    "closest_handler": ("handlers",),
    "narrow_truths": ("conditions",),
    "filters_objects": ("json-path-filters",),
    "tells_of_requests": ("workflow-variables", "error-messages", "inherited-headers", "scripts"),
}
"""What the version says otherwise than 0.8, and the scenarios of it."""
REPORTS: Final = ("respelled", "reshaped", "differs", "inexpressible")


def scenarios(name: str = "") -> list[Scenario]:
    return find_scenarios([FOLDER / f"{name}.yaml" if name else FOLDER])


def reporting() -> Iterator[tuple[str, int, int]]:
    """Yield the places in the rewriting of definitions that report something: file, first line and last line."""
    for file in REWRITING.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in REPORTS:
                yield str(file), node.lineno, node.end_lineno or node.lineno


def test_everything_that_is_told_of_a_definition_has_a_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    met = set()
    add = UpgradeReport._add

    def noting(self: UpgradeReport, *args: object) -> None:
        caller = sys._getframe(2)
        met.add((caller.f_code.co_filename, caller.f_lineno))
        add(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(UpgradeReport, "_add", noting)
    for scenario in scenarios():
        if scenario.mode is not None and isinstance(scenario.workflow, Path):
            check_file(scenario.workflow, resources=in_mode(scenario.mode))
        elif scenario.mode is not None and not isinstance(scenario.workflow, Path):
            migrate(Source(write_yaml(plain(scenario.workflow.definition)), "scenario"), {}, keeps_effects=True)
    places = list(reporting())
    assert places
    unmet = [
        f"{Path(file).name}:{first}"
        for file, first, last in places
        if not any((file, line) in met for line in range(first, last + 1))
    ]
    assert unmet == []


def test_every_difference_at_run_time_has_scenarios() -> None:
    """A field of the version that is not as in 0.8 is in the table, and its scenarios show both modes."""
    named = {one.name for one in fields(LanguageVersion)} - {"name"}
    other = {one for one in named if getattr(v0_8.VERSION, one) != getattr(v0_8.SONATAFLOW, one)}
    assert other == AT_RUN_TIME.keys()
    for names in AT_RUN_TIME.values():
        for name in names:
            assert {one.mode for one in scenarios(name)} == {None, "sonataflow"}, name
