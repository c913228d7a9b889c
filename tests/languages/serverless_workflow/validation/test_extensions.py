"""Extensions say which they are, and those of the specification what they may."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from swf_temporal.loading import check
from tests.languages.serverless_workflow.models import checked_model

STATES = "states:\n- {name: Z, type: inject, data: {}, end: true}\n"
KPI = {
    "extensionid": "workflow-kpi-extension",
    "workflowid": "a",
    "workflow": {"per": {"time": "PT1D", "instances": 1}, "maxInvoked": "500", "avgDuration": "PT1M"},
    "events": [{"for": "Paid", "per": {"instances": "1"}, "maxConsumed": "100"}],
}
RATES = {
    "extensionid": "workflow-ratelimiting-extension",
    "singleInstance": {"maxActionsPerSecond": 0.1, "maxStates": "15"},
}

CASES: dict[str, tuple[str, list[str]]] = {
    "none": ("[]", []),
    "one of somebody's own": ("[{extensionId: mine, simulated: {cost: low}}]", []),
    "a good one of the specification": (f"[{json.dumps(KPI)}, {json.dumps(RATES)}]", []),
    "without an id": ("[{resource: a.json}]", ["3:14 warning extension number 1 has no extensionId"]),
    "twice": (
        "[{extensionId: m, a: 1}, {extensionId: m, b: 1}]",
        ["3:38 warning extension 'm' is named more than once"],
    ),
    "without anything": (
        "[{extensionId: m}]",
        ["3:14 warning extension 'm' does not say where it stands: it has no resource"],
    ),
    "not an object": ("[m]", ["3:14 warning extension number 1 is not an object with an extensionId and a resource"]),
    "a slip in a field": (
        "[{extensionid: workflow-kpi-extension, events: [{for: e, maxConsumd: '1'}]}]",
        [
            (
                "3:82 warning extension 'workflow-kpi-extension': events.0.maxConsumd means nothing | "
                "did you mean 'maxConsumed'?"
            ),
        ],
    ),
    "what is no number": (
        "[{extensionid: workflow-ratelimiting-extension, allInstances: {maxStates: 1.5, maxActionsPerSecond: -1}}]",
        [
            (
                "3:87 warning extension 'workflow-ratelimiting-extension': "
                "allInstances.maxStates is 1.5, which is not a whole number"
            ),
            (
                "3:113 warning extension 'workflow-ratelimiting-extension': "
                "allInstances.maxActionsPerSecond is -1, which is not a number from 0 on"
            ),
        ],
    ),
    "what is no list": (
        "[{extensionid: workflow-kpi-extension, states: {for: a}, workflow: 1}]",
        [
            "3:60 warning extension 'workflow-kpi-extension': states is not a list",
            "3:80 warning extension 'workflow-kpi-extension': workflow is not an object",
        ],
    ),
}


@pytest.mark.parametrize(("written", "expected"), CASES.values(), ids=CASES)
def test_extensions(found: Callable[[str, str], list[str]], written: str, expected: list[str]) -> None:
    """What means nothing in an extension is told, and keeps nothing from running."""
    assert found("extension", f'id: a\nspecVersion: "0.8"\nextensions: {written}\n{STATES}') == expected


@pytest.mark.parametrize("key", ["resource", "path"])
def test_documents_of_extensions(tmp_path: Path, key: str) -> None:
    """The document of an extension is read, checked, told about in its own file, and travels with the definition."""
    (tmp_path / "kpi.json").write_text(json.dumps({**KPI, "workflw": {}}))
    text = (
        f'id: a\nspecVersion: "0.8"\nextensions: [{{extensionId: workflow-kpi-extension, {key}: kpi.json}}]\n{STATES}'
    )
    checked = check(text, folder=tmp_path)
    assert [(one.code, one.file, one.hint) for one in checked.problems] == [
        ("extension", str(tmp_path / "kpi.json"), "did you mean 'workflow'?")
    ]
    assert checked.definition is not None
    again = checked_model(check(checked_model(checked).source.text))
    assert again is not None
    assert again.extensions == checked_model(checked).extensions
    assert again.extensions[0]["document"]["workflowid"] == "a"


def test_list_of_extensions_elsewhere(tmp_path: Path) -> None:
    """All the extensions may stand in a document of their own."""
    (tmp_path / "ext.json").write_text('{"extensions": [{"extensionId": "mine", "a": 1}]}')
    checked = check(f'id: a\nspecVersion: "0.8"\nextensions: ext.json\n{STATES}', folder=tmp_path)
    assert checked.problems == ()
    assert checked.definition is not None
    assert checked_model(checked).extensions == ({"extensionId": "mine", "a": 1},)


def test_extensions_not_found(tmp_path: Path) -> None:
    """An extension whose document is not there is told, and the definition runs without."""
    text = f'id: a\nspecVersion: "0.8"\nextensions: [{{extensionId: mine, resource: gone.json}}]\n{STATES}'
    checked = check(text, folder=tmp_path)
    assert [(one.code, one.severity) for one in checked.problems] == [("external-missing", "warning")]
    assert checked.definition is not None
