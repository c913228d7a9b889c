"""Documents of extensions are read, checked, and part of the definition."""

import json
from pathlib import Path

import pytest

from swf_temporal.languages.loading import check
from tests.languages.serverless_workflow.models import checked_model

STATES = "states:\n- {name: Z, type: inject, data: {}, end: true}\n"
KPI = {
    "extensionid": "workflow-kpi-extension",
    "workflowid": "a",
    "workflow": {"per": {"time": "PT1D", "instances": 1}, "maxInvoked": "500", "avgDuration": "PT1M"},
    "events": [{"for": "Paid", "per": {"instances": "1"}, "maxConsumed": "100"}],
}


@pytest.mark.parametrize("key", ["resource", "path"])
def test_documents_of_extensions(tmp_path: Path, key: str) -> None:
    """The document of an extension is read, checked, told about in its own file, and travels with the definition."""
    (tmp_path / "kpi.json").write_text(json.dumps({**KPI, "workflw": {}}))
    text = (
        f'id: a\nspecVersion: "0.8"\nextensions: [{{extensionId: workflow-kpi-extension, {key}: kpi.json}}]\n{STATES}'
    )
    checked = check(text, folder=tmp_path)
    assert [(one.code, one.file, one.hint) for one in checked.problems] == [
        ("extension", "<definition>", None),
        ("extension", str(tmp_path / "kpi.json"), "did you mean 'workflow'?"),
    ]
    assert checked.definition is not None
    again = checked_model(check(checked_model(checked).source.text))
    assert again is not None
    assert again.extensions == checked_model(checked).extensions
    assert again.extensions[0]["document"]["workflowid"] == "a"


def test_list_of_extensions_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "ext.json").write_text('{"extensions": [{"extensionId": "mine", "a": 1}]}')
    checked = check(f'id: a\nspecVersion: "0.8"\nextensions: ext.json\n{STATES}', folder=tmp_path)
    assert [one.message for one in checked.problems] == ["extension 'mine' is not supported, and has no effect"]
    assert checked.definition is not None
    assert checked_model(checked).extensions == ({"extensionId": "mine", "a": 1},)


def test_extensions_not_found(tmp_path: Path) -> None:
    """An extension whose document is not there is told, and the definition runs without."""
    text = f'id: a\nspecVersion: "0.8"\nextensions: [{{extensionId: mine, resource: gone.json}}]\n{STATES}'
    checked = check(text, folder=tmp_path)
    assert [(one.code, one.severity) for one in checked.problems] == [
        ("extension", "warning"),
        ("external-missing", "warning"),
    ]
    assert checked.definition is not None
