"""An upgraded definition and its original agree on output, calls, events and virtual time."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from swf_temporal.base.errors import UsageError
from tests.sampling import seeds
from tests.upgrading.agreeing import Document, differences, run, upgraded
from tests.upgrading.generated import VERSIONS, generated

ROOT = Path(__file__).parents[2]
COUNT = 8, 500
"""How many of each version are compared: few, or many. `python -m tests.upgrading --count 5000` asks of more."""
pytestmark = pytest.mark.timeout(600)  # a minute, and more on a machine that is busy
FOLDERS = ("drafts", "versions", "subflow", "switch", "parallel", "foreach", "errors", "refused")


def _scenarios() -> list[Document]:
    found: list[Document] = []
    for folder in FOLDERS:
        for file in sorted((ROOT / "tests/scenarios" / folder).rglob("*.yaml")):
            documents = json.loads(json.dumps(list(yaml.safe_load_all(file.read_text())), default=str))
            found += [one for one in documents if isinstance(one, dict) and isinstance(one.get("workflow"), dict)]
    return found


def _differing(document: Document) -> list[str] | None:
    """Return in what a rewritten definition differs; None if there is nothing to compare."""
    before = run(document)
    if before is None:
        return None
    try:
        rewritten, made = upgraded(document)
    except UsageError:
        return None
    if not made.is_complete:
        return None
    after = run(rewritten)
    return ["cannot run"] if after is None else differences(before, after)


def test_scenarios_come_to_the_same() -> None:
    compared: list[tuple[str, Any]] = []
    for document in _scenarios():
        try:
            compared.append((document["scenario"], _differing(document)))
        except (KeyError, UsageError):
            continue  # one that is about a definition which cannot even be run
    assert [one for one in compared if one[1]] == []
    assert sum(found is not None for _, found in compared) > 150


@pytest.mark.parametrize("version", VERSIONS)
def test_generated_definitions_come_to_the_same(version: str) -> None:
    found = {seed: _differing(generated(seed, version)) for seed in seeds(f"upgraded from {version}", *COUNT)}
    assert {seed: told for seed, told in found.items() if told} == {}
    assert any(told is not None for told in found.values())


@pytest.mark.parametrize("version", VERSIONS)
def test_the_successor_comes_to_the_same(version: str) -> None:
    document = generated(9_000, version)
    rewritten, made = upgraded(document, "0.8-next")
    before, after = run(document), run(rewritten)
    assert before is not None
    assert after is not None
    assert not made.is_complete or differences(before, after) == []


def test_a_draft_that_leads_back_to_its_start_comes_to_the_same() -> None:
    document: Document = {
        "scenario": "asks until it is done",
        "workflow": {"id": "poll", "name": "Poll", "startsAt": "Ask",
                     "states": [{"name": "Ask", "type": "OPERATION", "actions": [{"function": "ask"}],
                                 "nextState": "Done?"},
                                {"name": "Done?", "type": "SWITCH",
                                 "choices": [{"single": {"path": "$.s", "value": "ok", "operator": "StrEQ"},
                                              "nextState": "Tell"}], "default": "Wait"},
                                {"name": "Wait", "type": "DELAY", "timeDelay": "PT5S", "nextState": "Ask"},
                                {"name": "Tell", "type": "OPERATION", "actions": [], "filter": {"inputPath": "$.s"},
                                 "end": True}]},
        "input": {"a": 1},
        "functions": {"ask": {"then": [{"returns": {"s": "no"}}, {"returns": {"s": "ok"}}]}},
    }  # fmt: skip
    seen = run(document)
    assert seen is not None
    assert (seen.output, len(seen.calls)) == ("ok", 2)
    assert _differing(document) == []
