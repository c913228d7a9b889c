"""The plugin of pytest: simulations, workers on a test server, and scenario files as tests.

pytest imports it in every run where this package is installed, so that nothing else is imported until it is used.
"""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from swf_temporal.cli.pytest_plugin.scenarios import ScenarioFile
    from swf_temporal.cli.pytest_plugin.serving import WorkerFactory
    from swf_temporal.cli.pytest_plugin.simulating import StrictSimulate

SCENARIOS: Final = "swf_scenarios"
"""The name of the setting that says whether scenario files are collected."""


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
    """Show, of a test that failed, what happened in its simulations."""
    report = yield
    if call.when == "call" and report.failed:
        report.sections += [("simulation", text) for text in item.stash.get(_TOLD, [])]
    return report


_TOLD: Final = pytest.StashKey[list[str]]()
"""What happened in each simulation of a test."""


@pytest.fixture
def swf_simulate(request: pytest.FixtureRequest) -> "StrictSimulate":
    """`simulate`, strict unless it is told otherwise; if the test fails, the report shows what happened in each run."""
    from swf_temporal.cli.pytest_plugin.simulating import StrictSimulate

    return StrictSimulate(request.node.stash.setdefault(_TOLD, []))


@pytest.fixture(scope="session")
def swf_worker() -> "Iterator[WorkerFactory]":
    """Serve definitions on a test server, which the session starts when it is first needed.

    `async with swf_worker(definitions, functions=…) as served:` yields a `ServedDefinitions`.
    """
    from swf_temporal.cli.pytest_plugin.serving import WorkerFactory

    factory = WorkerFactory()
    yield factory
    factory.close()
