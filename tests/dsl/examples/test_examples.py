"""Every official example of DSL 1.0 loads, and comes to the end that ends.yaml says, on both hosts.

The examples stand beside a development checkout, not in it: without them these tests are skipped.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from swf_temporal import simulate
from swf_temporal.languages.known import read_part
from swf_temporal.languages.loading import check_file
from swf_temporal.sdk.scenarios.host import ScenarioHost, scenario_host
from swf_temporal.simulation.scenario import Scenario, check, read_scenarios, run
from swf_temporal.text.origin import Resource, Source
from swf_temporal.text.parsing import read_source
from tests.dsl.kit.report import TEXTS
from tests.sampling import sample

ENDS: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("ends.yaml").read_text("utf-8"))
FILES = sorted(file for name in ("dsl-1.0", "dsl-1.0-next") for file in (TEXTS / name / "examples").glob("*.yaml"))
LATEST = [file for file in FILES if file.parts[-3] == "dsl-1.0-next"]
CATALOGED = "call-custom-function-cataloged"
"""The example that needs a document from the network."""
PROBLEMS = {
    CATALOGED: ["external-forbidden"],
    "conditional-task": ["plain-text", "plain-text"], "run-subflow": ["plain-text"], "try-catch-then": ["plain-text"],
}  # fmt: skip
"""A document of the network; and texts that their authors meant as expressions, as the notes of their ends say."""
LOG = b"""
do:
  - tell: {set: {logged: '${ .level + " " + .message }'}}
"""

pytestmark = pytest.mark.spec


def named(file: Path) -> str:
    return f"{file.parts[-3]}/{file.stem}"


def scenario_of(file: Path, folder: Path) -> Scenario:
    """Return the scenario of an example, which is copied to *folder* as it is."""
    (folder / "example.yaml").write_bytes(file.read_bytes())
    given = {key: value for key, value in ENDS[file.stem].items() if key != "note"}
    written = folder / "scenarios.yaml"
    written.write_text(json.dumps({"scenario": file.stem, "workflow": "example.yaml", **given}), encoding="utf-8")
    return read_scenarios(written)[0]


RUNNING = [file for file in FILES if file.stem != CATALOGED]


def test_the_examples_are_there() -> None:
    """The examples stand beside the checkout; where they do not, this says that none was tried."""
    if not FILES:
        pytest.skip(f"the examples of DSL 1.0 are not at {TEXTS}: none of them was tried")
    assert len(LATEST) > 60
    assert {file.stem for file in FILES} == ENDS.keys() | {CATALOGED}


@pytest.mark.parametrize("file", FILES, ids=named)
def test_loads(file: Path) -> None:
    checked = check_file(file)
    assert [one.code for one in checked.problems] == PROBLEMS.get(file.stem, [])


@pytest.mark.parametrize("file", [file for file in FILES if file.stem == CATALOGED], ids=named)
def test_a_function_of_a_catalog_is_called(file: Path) -> None:
    """The example that calls one runs, once it may fetch its document."""
    asked = []

    def fetch(uri: str) -> Resource:
        asked.append(uri)
        return Resource(uri, LOG)

    source = Source(file.read_text("utf-8"), str(file))
    root, _ = read_source(source)
    checked = read_part(root, source, fetch)
    assert checked.definition is not None
    assert simulate(checked.definition).output == {"logged": "information Hello, world!"}
    assert asked == [
        "https://raw.githubusercontent.com/serverlessworkflow/catalog/main/functions/log/1.0.0/function.yaml"
    ]


@pytest.mark.parametrize("file", RUNNING, ids=named)
def test_comes_to_its_end(file: Path, tmp_path: Path) -> None:
    _, differences = run(scenario_of(file, tmp_path))
    assert differences == []


@pytest.fixture(scope="session")
async def host() -> AsyncIterator[ScenarioHost]:
    async with scenario_host() as started:
        yield started


ON_TEMPORAL = sample([file for file in RUNNING if file in LATEST], "examples of DSL 1.0 on Temporal", 12)


@pytest.mark.parametrize("file", ON_TEMPORAL, ids=named)
async def test_comes_to_its_end_on_temporal(host: ScenarioHost, file: Path, tmp_path: Path) -> None:
    scenario = scenario_of(file, tmp_path)
    assert check(scenario, await host.observe(scenario)) == []
