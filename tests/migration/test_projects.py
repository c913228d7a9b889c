"""Small projects in the manner of real ones, migrated by the command alone: what is said of them, and how they run.

A project has what it is made of, what is to be found in it, and scenarios of the definitions that are written, whose
stub services check what they are sent.
"""

import shutil
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.migration.migrate import migrate, write
from swf_temporal.migration.report import Migration, verdicts
from swf_temporal.sdk.scenarios.host import ScenarioHost, scenario_host
from swf_temporal.simulation.scenario import Scenario, check, find_scenarios, run
from swf_temporal.text.parsing import read_data
from tests.upgrading.dsl.agreeing import problems

ROOT = Path(__file__).parent / "projects"
PROJECTS = sorted(one.name for one in ROOT.iterdir())
RUNNING = [one for one in PROJECTS if (ROOT / one / "scenarios.yaml").exists()]


@cache
def _migration(name: str, to: str | None = None) -> Migration:
    return migrate(ROOT / name / "project", to, "acme")


def _migrated(name: str, folder: Path, to: str | None = None) -> list[Scenario]:
    write(_migration(name, to), folder)
    shutil.copy(ROOT / name / "scenarios.yaml", folder)
    return find_scenarios([folder])


@pytest.mark.parametrize("name", PROJECTS)
def test_what_is_found(name: str) -> None:
    """The verdict on the first definition, findings with their lines, and what is written beside definitions."""
    wanted: dict[str, Any] = read_data((ROOT / name / "findings.yaml").read_text())
    migration = _migration(name)
    assert wanted["verdict"] in verdicts(migration).values()
    for one in wanted["found"]:
        found = [f for f in migration.findings if f.kind == one["kind"] and one["message"] in f.message]
        assert len(found) == 1, (one, migration.findings)
        assert "line" not in one or found[0].line == one["line"], found
    written = {file.path: file.content.decode() for file in migration.files}
    assert read_data(written.get("swf.yaml", "")) == wanted.get("settings")
    assert read_data(written.get("secrets.example.yaml", "")) == wanted.get("secrets")
    assert wanted.get("functions", "") in written.get("functions.py", "")


@pytest.mark.parametrize("name", PROJECTS)
def test_migrating_once_more_changes_nothing(name: str, tmp_path: Path) -> None:
    write(_migration(name), tmp_path)
    again = migrate(tmp_path)
    assert again.of("rewritten") == []
    write(again, tmp_path)


@pytest.mark.parametrize("name", RUNNING)
def test_it_runs(name: str, tmp_path: Path) -> None:
    for scenario in _migrated(name, tmp_path):
        _, differences = run(scenario)
        assert not differences, "\n".join([str(scenario), *differences])


@pytest.fixture(scope="module")
async def host() -> AsyncIterator[ScenarioHost]:
    async with scenario_host() as started:
        yield started


@pytest.mark.temporal
@pytest.mark.parametrize("name", RUNNING)
async def test_it_runs_on_temporal(host: ScenarioHost, name: str, tmp_path: Path) -> None:
    for scenario in _migrated(name, tmp_path):
        assert check(scenario, await host.observe(scenario)) == []


@pytest.mark.parametrize("name", PROJECTS)
def test_projects_are_written_in_dsl_1_0(name: str, tmp_path: Path) -> None:
    """The definitions are in the namespace given, fit the official schema, and load without problems."""
    migration = _migration(name, "1.0")
    write(migration, tmp_path)
    texts = [one.content.decode() for one in migration.files if ".sw." in one.path]
    assert texts
    for text in texts:
        assert read_data(text)["document"]["namespace"] == "acme"
        assert problems(text) == []


@pytest.mark.parametrize("name", RUNNING)
def test_projects_in_dsl_1_0_come_to_the_same(name: str, tmp_path: Path) -> None:
    for scenario in _migrated(name, tmp_path, "1.0"):
        _, found = run(scenario)
        # Errors have other names there.
        assert [one for one in found if not one.startswith("error.name")] == []
