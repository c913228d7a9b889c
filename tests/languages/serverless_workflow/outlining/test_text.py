"""Is everything told of a definition, in the words of its language?"""

import json
from pathlib import Path

import pytest
import yaml

from swf_temporal.languages.describing import Description
from swf_temporal.languages.loading import check, load
from swf_temporal.languages.serverless_workflow.definition import ServerlessWorkflowDefinition
from tests.languages.serverless_workflow.models import model_of
from tests.languages.serverless_workflow.outlining.described import describe

HERE = Path(__file__).parent
SCENARIOS = sorted((Path(__file__).parents[3] / "scenarios").rglob("*.yaml"))


def test_of_everything(every: Description) -> None:
    """A state of each type, with all that a description tells of."""
    assert f"{every.text()}\n".replace(f"{HERE}/", "") == (HERE / "every.txt").read_text()


@pytest.mark.parametrize("file", SCENARIOS, ids=[file.stem for file in SCENARIOS])
def test_whatever_runs_can_be_described(file: Path) -> None:
    """The workflow of every scenario has facts that are JSON, a text and a diagram."""
    for scenario in yaml.safe_load_all(file.read_text()):
        written = scenario.get("workflow")
        workflow = check(json.dumps(written, default=str)).definition if isinstance(written, dict) else None
        if isinstance(workflow, ServerlessWorkflowDefinition):
            description = describe(workflow)
            assert json.loads(json.dumps(description.facts)) == description.facts
            assert all(
                f"\n  {state.name}: {state.written_type or state.type}" in description.text()
                for state in model_of(workflow).states
            )
            assert description.mermaid().count(" as s") >= len(model_of(workflow).states)


def test_functions_that_are_carried_out_elsewhere() -> None:
    operations = {"charge": "temporal:ChargeCard@payments", "own": "temporal:Remind", "sum": "script:python:1 + 1"}
    workflow = load(
        {"id": "elsewhere", "version": "1", "specVersion": "0.8",
         "functions": [{"name": name, "type": "custom", "operation": one} for name, one in operations.items()],
         "states": [{"name": "A", "type": "operation", "actions": [{"functionRef": n} for n in operations],
                     "end": True}]}
    )  # fmt: skip

    text = describe(workflow).text()

    assert "  activity ChargeCard on the task queue payments\n" in text
    assert "  activity Remind on the workflow's own queue\n" in text
    assert "  a script, which its worker must allow with SWF_SCRIPTS\n" in text


def test_a_reference_to_an_empty_id_is_told() -> None:
    state = {"name": "A", "type": "inject", "data": {}, "end": {"continueAs": ""}}
    description = describe(load({"id": "on", "version": "1", "specVersion": "0.8", "states": [state]}))
    assert "\n  : not found here" in description.text()
