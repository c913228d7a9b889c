"""Is everything told of a definition, in the words of its language?"""

from pathlib import Path

from swf_temporal.languages.describing import Description
from swf_temporal.languages.loading import load
from tests.languages.serverless_workflow.outlining.described import describe

HERE = Path(__file__).parent


def test_of_everything(every: Description) -> None:
    assert f"{every.text()}\n".replace(f"{HERE}/", "") == (HERE / "every.txt").read_text()


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
