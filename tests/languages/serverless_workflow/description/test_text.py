"""Does the text for people say what the facts say?"""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.serverless_workflow.definition import ServerlessWorkflowDefinition
from swf_temporal.languages.serverless_workflow.description.compact import Facts
from swf_temporal.languages.serverless_workflow.description.mermaid import diagram_of
from swf_temporal.languages.serverless_workflow.description.text import text_of
from swf_temporal.loading import check, load
from tests.languages.serverless_workflow.description.described import described
from tests.languages.serverless_workflow.models import model_of

SCENARIOS = sorted((Path(__file__).parents[3] / "scenarios").rglob("*.yaml"))


def test_head(every: Facts) -> None:
    """The text begins with the workflow itself."""
    lines = text_of(every).splitlines()
    assert lines[:2] == ["every 2.1: Everything", "  Has a state of each type."]
    assert lines[3] == "  starts in Listen, stays active"
    assert lines[4] == "  started at 09:00 on Monday to Friday, until 2099-01-01T00:00:00Z (Europe/Berlin)"


@pytest.mark.parametrize(
    "lines",
    [
        [
            "  Listen: event",
            "    waits for asked and a and b",
            "      calls ask",
            "    eventTimeout PT10M",
            "    → Work",
        ],
        [
            "    do: calls ask, without waiting for it, if ${ .ok }",
            "    runs workflow child 1.0, tried again by twice",
            "    runs workflow missing",
            "    produces answered and waits for asked, after a pause of PT1S",
        ],
        [
            "    undone by Undo",
            "    → Choose",
            "    → Rest, on error broke, undoes what was done",
            "    → the end of all paths, on error *",
        ],
        ["    → Rest, if ${ .n > 3 }", '    → workflow child, if ${ .s == "a;b: c" }', "    → Which, otherwise"],
        ["    until 1 of these are complete", "    branch left", "      first: calls ask", "      calls ask"],
        ["    each of ${ .list } as one, parallel, 2 at once", "    calls ask"],
        ["    waits for asked", "    → end, produces answered"],
        ["  ask: rest shop.json#ask", "    POST https://shop.example.com/v1/questions/{id}"],
        ["  asked: consumed, type com.asked, source /desk", "    by id = ${ .id }"],
        ["  missing: not found here", "    run by state 'Work'"],
        ["errors", "  broke: 500, It broke."],
        ["timeouts", "  workflowExecTimeout PT1H, not in the middle of a state", "  stateExecTimeout PT5M"],
    ],
)
def test_lines(every: Facts, lines: list[str]) -> None:
    """What belongs together stands together."""
    assert "\n".join(["", *lines, ""]) in text_of(every)


def test_says_nothing_of_nothing(orders: Facts) -> None:
    """What a workflow does not have, has no heading."""
    headings = [line for line in text_of(orders).splitlines() if line and not line.startswith(" ")]
    assert headings == ["orders 1.0.0: Order fulfilment", "states", "functions", "events", "errors", "retries"]


@pytest.mark.parametrize("file", SCENARIOS, ids=[str(file.relative_to(SCENARIOS[0].parents[1])) for file in SCENARIOS])
def test_whatever_runs_can_be_described(file: Path) -> None:
    """The workflow of every scenario has facts that are JSON, a text and a diagram."""
    for scenario in yaml.safe_load_all(file.read_text()):
        written = scenario.get("workflow")
        workflow = check(json.dumps(written, default=str)).definition if isinstance(written, dict) else None
        if isinstance(workflow, ServerlessWorkflowDefinition):
            facts = described(workflow, Catalogue([workflow]), datetime(2030, 1, 1, tzinfo=UTC))
            assert json.loads(json.dumps(facts)) == facts
            assert all(
                f"\n  {state.name}: {state.written_type or state.type}" in text_of(facts)
                for state in model_of(workflow).states
            )
            assert diagram_of(facts).count(" as s") >= len(model_of(workflow).states)


def test_functions_that_are_carried_out_elsewhere() -> None:
    """Of an activity its task queue is told, and of a script that it must be allowed."""
    operations = {"charge": "temporal:ChargeCard@payments", "own": "temporal:Remind", "sum": "script:python:1 + 1"}
    workflow = load(
        {
            "id": "elsewhere",
            "version": "1",
            "specVersion": "0.8",
            "functions": [{"name": name, "type": "custom", "operation": one} for name, one in operations.items()],
            "states": [
                {"name": "A", "type": "operation", "actions": [{"functionRef": n} for n in operations], "end": True}
            ],
        }
    )

    text = text_of(described(workflow, Catalogue([workflow]), datetime(2030, 5, 3, 12, tzinfo=UTC)))

    assert "  activity ChargeCard on the task queue payments\n" in text
    assert "  activity Remind on the workflow's own queue\n" in text
    assert "  a script, which its worker must allow with SWF_SCRIPTS\n" in text


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({"procedure": "shop.users.UserService/AddUser"}, "    calls shop.users.UserService/AddUser"),
        ({"sendsTo": "light/measured"}, "    sends to light/measured"),
        ({"receivesFrom": None}, "    receives from a channel that is known when it is called"),
    ],
)
def test_in_words(every: Facts, facts: Facts, line: str) -> None:
    """People read it under the function."""
    function = {"name": "f", "type": "rpc", "operation": "a#b", "calledBy": [], **facts}
    assert line in text_of({**every, "functions": [function]}).splitlines()
