"""The pytest plugin: simulations, workers on a test server, and scenario files as tests.

pytest imports it in every run if this package is installed, so everything else is imported on first use.
"""

from collections import deque
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from swf_temporal.cli.pytest_plugin.scenarios import ScenarioFile, StrictSimulate
    from swf_temporal.cli.pytest_plugin.serving import WorkerFactory

SCENARIOS: Final = "swf_scenarios"
"""The name of the setting that enables collecting scenario files."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the settings of the plugin."""
    parser.addini(SCENARIOS, "Whether YAML files with scenarios are collected as tests.", type="bool", default=True)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "ScenarioFile | None":
    """Collect a YAML file that has scenarios."""
    if file_path.suffix not in {".yaml", ".yml"} or not parent.config.getini(SCENARIOS):
        return None
    from swf_temporal.cli.pytest_plugin.scenarios import ScenarioFile, has_scenarios

    return ScenarioFile.from_parent(parent, path=file_path) if has_scenarios(file_path) else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """Show what happened in the simulations of a failed test."""
    report = yield
    told = item.config.stash.get(_TOLD, None)
    if told is not None and call.when == "call":
        if report.failed:
            report.sections += [("simulation", text) for text in told]
        told.clear()
    return report


_TOLD: Final = pytest.StashKey[deque[str]]()
"""The descriptions of the simulations in a test."""
_MAX_TOLD: Final = 20
"""The number of simulations that are described, the latest: with Hypothesis, a test has hundreds."""


@pytest.fixture(scope="session")  # a test with Hypothesis may not have one for each function
def swf_simulate(request: pytest.FixtureRequest) -> "StrictSimulate":
    """`simulate`, strict by default; if the test fails, the report shows what happened in its latest runs."""
    from swf_temporal.cli.pytest_plugin.scenarios import StrictSimulate

    return StrictSimulate(request.config.stash.setdefault(_TOLD, deque(maxlen=_MAX_TOLD)))


@pytest.fixture(scope="session")
def swf_worker() -> "Iterator[WorkerFactory]":
    """Serve definitions on a test server, which the session starts on first use.

    `async with swf_worker(definitions, functions=…) as served:` yields a `ServedDefinitions`.
    """
    from swf_temporal.cli.pytest_plugin.serving import WorkerFactory

    factory = WorkerFactory()
    yield factory
    factory.close()
