"""Scenario files as tests: each scenario is a test that runs in simulation."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from swf_temporal.base.errors import SwfError
from swf_temporal.cli.pytest_plugin.simulating import told
from swf_temporal.simulation.scenario import Scenario, read_scenarios, run

_KEYS: Final = [re.compile(rf"^[\"']?{key}[\"']?\s*:", re.MULTILINE) for key in ("scenario", "workflow")]


def has_scenarios(path: Path) -> bool:
    """Return True if the file at *path* has the keys that every scenario has."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    return all(key.search(text) for key in _KEYS)


class ScenarioFile(pytest.File):
    """A file with scenarios."""

    def collect(self) -> Iterator["ScenarioItem"]:
        """Yield a test for each scenario. Raises CollectError if one is malformed."""
        try:
            found = read_scenarios(self.path)
        except SwfError as error:
            raise self.CollectError(str(error)) from None
        for scenario in found:
            yield ScenarioItem.from_parent(self, name=scenario.claim, scenario=scenario)


class ScenarioItem(pytest.Item):
    """A scenario."""

    def __init__(self, *, scenario: Scenario, **options: Any) -> None:
        super().__init__(**options)
        self._scenario = scenario

    def runtest(self) -> None:
        """Run the scenario. Raises ScenarioFailure if an expectation is not met."""
        if "simulation" not in self._scenario.hosts:
            pytest.skip(self._scenario.why or "it runs on Temporal alone")
        simulation, differences = run(self._scenario)
        if differences:
            raise ScenarioFailure("\n".join(differences), None if simulation is None else told(simulation))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the differences and what happened; for an invalid definition, its problems."""
        match excinfo.value:
            case ScenarioFailure() as failure:
                happened = "" if failure.told is None else f"\n\nwhat happened:\n{failure.told}"
                return f"{self.reportinfo()[2]}\n\n{failure}{happened}"
            case SwfError() as error:
                return str(error)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the location of the scenario, and its claim."""
        return self.path, self._scenario.line - 1, f"scenario: {self.name}"


class ScenarioFailure(AssertionError):  # noqa: N818 - pytest's term
    """A scenario that failed: its text lists the differences."""

    def __init__(self, differences: str, what_happened: str | None) -> None:
        super().__init__(differences)
        self.told = what_happened
