"""Scenario files as tests, each a test that runs in simulation, and simulations in tests of your own."""

import re
from collections import deque
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any, Final

import pytest

from swf_temporal.base.errors import SwfError
from swf_temporal.base.strict_json import show_json
from swf_temporal.cli.progress import line_of
from swf_temporal.simulation.result import Simulation
from swf_temporal.simulation.scenario import Scenario, read_scenarios, run
from swf_temporal.simulation.simulate import simulate


class StrictSimulate:
    """`simulate`, with `strict=True` by default."""

    def __init__(self, told: deque[str]) -> None:
        """Append a description of each run to *told*."""
        self._told = told

    def __call__(self, *arguments: Any, strict: bool = True, **options: Any) -> Simulation:
        """Run a definition as `simulate` does. Raises UsageError for stubs and events that have no effect."""
        run = _SIMULATE(*arguments, strict=strict, **options)
        self._told.append(told(run))
        return run


_SIMULATE: Final[Callable[..., Simulation]] = simulate


def told(run: Simulation) -> str:
    """Return a description of *run*: a line for each event in it, and its outcome."""
    entries = (
        {"kind": str(one.kind), "name": one.name, "lane": one.lane, "state": one.state, "detail": one.detail}
        for one in run.trace
    )
    lines = [line for entry in entries if (line := line_of(entry, StringIO())) is not None]
    if run.error is None:
        end = f"{run.status}: {show_json(run.output)}" if run.status == "completed" else run.status
    else:
        end = f"{run.status} with {run.error.name}: {run.error.message}"
    return "\n".join([*lines, f"{end} (after {run.elapsed})"])


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
