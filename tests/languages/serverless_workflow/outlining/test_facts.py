"""Do programs learn all that people are told?"""

from typing import Any

import pytest

from swf_temporal.languages.describing import Description, Facts
from swf_temporal.languages.loading import load
from tests.languages.serverless_workflow.outlining.described import describe


def named(facts: list[Any], name: str) -> Any:
    return next(one for one in facts if one.get("name", one.get("id")) == name)


def test_identity_and_schedule(every: Description) -> None:
    """A workflow is told by what its author called it, where it starts, and when: with the next three times."""
    facts = every.facts
    keys = ("id", "version", "name", "language", "languageVersion", "start", "keepActive", "annotations")
    assert [facts[key] for key in keys] == [
        "every", "2.1", "Everything", "serverless-workflow", "0.8-next", "Listen", True, ["demo"],
    ]  # fmt: skip
    assert facts["schedule"] == {
        "cron": {"expression": "0 9 * * 1-5", "validUntil": "2099-01-01T00:00:00Z"},
        "timezone": "Europe/Berlin",
        "words": "at 09:00 on Monday to Friday, until 2099-01-01T00:00:00Z (Europe/Berlin)",
        "next": ["2030-05-06T09:00:00+02:00", "2030-05-07T09:00:00+02:00", "2030-05-08T09:00:00+02:00"],
    }


@pytest.mark.parametrize(("schedule", "told"), [
    ("R2/2031-01-01T00:00:00Z/P1D", {"next": ["2031-01-01T00:00:00+00:00", "2031-01-02T00:00:00+00:00"]}),
    ("{cron: {expression: 0 0 * * *, validUntil: PT10M}}",
     {"next": [], "problem": "the schedule of 'a': 'PT10M' is not an ISO 8601 date and time"}),
])  # fmt: skip
def test_few_times_or_none(schedule: str, told: Facts) -> None:
    text = f"id: a\nstart: {{schedule: {schedule}}}\nstates: [{{name: A, type: inject, data: {{}}, end: true}}]\n"
    facts = describe(load(text)).facts["schedule"]
    assert {key: facts[key] for key in told} == told


@pytest.mark.parametrize(("name", "told"), [
    ("ask",
     {"document": "shop.json", "operationId": "ask", "method": "POST", "path": "/questions/{id}",
      "server": "https://shop.example.com/v1", "auth": {"invocation": "shop"},
      "calledBy": ["Listen", "Work", "Both/left", "Each", "Back", "Undo"]}),
    ("ping", {"method": "GET", "url": "https://ping.example.com/{id}", "metadata": {"priority": 2}}),
    ("double", {"type": "expression", "operation": ".n * 2"}),
    ("far", {"document": "https://far.example.com/api.json", "operationId": "go"}),
])  # fmt: skip
def test_functions(every: Description, name: str, told: Facts) -> None:
    """A function is told by its type, and by where it leads as far as that can be read here."""
    function = named(every.facts["functions"], name)
    assert {key: function.get(key) for key in told} == told
    assert ("method" in function) is (name in ("ask", "ping"))


def test_functions_without_a_server(orders: Description) -> None:
    function = named(orders.facts["functions"], "checkStock")
    assert function["serverFrom"] == ["SWF_BASE_URL_CHECKSTOCK", "SWF_BASE_URL"]
    assert "server" not in function


def test_events(every: Description) -> None:
    """An event is told by type, source and correlation, and by who awaits and who produces it."""
    assert named(every.facts["events"], "asked") == {
        "name": "asked", "kind": "consumed", "type": "com.asked", "source": "/desk", "starts": True,
        "correlation": [{"attribute": "id", "value": "${ .id }"}], "consumedBy": ["Listen", "Work", "Which", "Back"],
        "producedBy": [],
    }  # fmt: skip
    assert named(every.facts["events"], "answered")["producedBy"] == ["Work", "Back"]


def test_other_workflows(every: Description) -> None:
    """Sub-workflows and continuations are told with the file that they were found in, if they were."""
    child, missing = every.facts["subWorkflows"]
    assert (child["id"], child["version"], child["found"]) == ("child", "1.0", True)
    assert missing == {"id": "missing", "found": False, "runBy": ["Work"]}
    assert [(one["id"], one["found"], one["runBy"]) for one in every.facts["continuations"]] == [
        ("child", True, ["Choose"])
    ]


@pytest.mark.parametrize(("name", "told"), [
    ("Listen", {"exclusive": False, "limits": {"eventTimeout": "PT10M"},
                "work": [{"text": "waits for asked and a and b", "awaits": ["asked", "a and b"],
                          "work": [{"calls": "ask"}]}]}),
    ("Rest", {"duration": "PT2S", "ways": [{"on": "completion", "to": "Both"}]}),
    ("Both", {"isConcurrent": True, "completionType": "atLeast", "numCompleted": 1}),
    ("Put", {"data": {"done": True}}),
    ("Each", {"inputCollection": "${ .list }", "iterationParam": "one", "batchSize": 2}),
    ("Undo", {"usedForCompensation": True, "note": "to undo another"}),
    ("Work", {"ways": [
        {"on": "compensation", "to": "Undo", "when": "undone by"},
        {"on": "completion", "to": "Choose"},
        {"on": "error", "to": "Rest", "when": "on error broke", "errorRefs": ["broke"], "compensates": True},
        {"on": "error", "when": "on error *", "errorRefs": ["*"], "terminates": True},
    ]}),
    ("Choose", {"ways": [
        {"on": "condition", "to": "Rest", "when": "if ${ .n > 3 }", "name": "big", "condition": "${ .n > 3 }"},
        {"on": "condition", "when": 'if ${ .s == "a;b: c" }', "condition": '${ .s == "a;b: c" }',
         "continuesAs": {"id": "child"}},
        {"on": "default", "to": "Which", "when": "otherwise"},
    ]}),
])  # fmt: skip
def test_states(every: Description, name: str, told: Facts) -> None:
    """A state is told by what it does, by its ways, and by what else is written in it."""
    state = named(every.facts["parts"], name)
    assert {key: state.get(key) for key in told} == told


def test_nothing_is_not_zero() -> None:
    definition = load(
        "id: a\nfunctions: [{name: f, type: custom}]\nevents:\n- {name: e, type: t, source: s, "
        "correlation: [{contextAttributeName: n, contextAttributeValue: 0}]}\nstates:\n"
        "- {name: P, type: parallel, completionType: atLeast, "
        "numCompleted: 0, branches: [{name: b, actions: [{functionRef: f, condition: false}]}], end: true}\n"
    )
    facts = describe(definition).facts
    (state,), (event,) = facts["parts"], facts["events"]
    assert state["numCompleted"] == 0
    assert state["parts"][0]["work"] == [{"calls": "f", "also": ["if false"], "condition": False}]
    assert event["correlation"] == [{"attribute": "n", "value": 0}]


def test_other_sections(every: Description) -> None:
    """Timeouts, errors and data schemas are told as they are written; of secrets and constants only the names."""
    assert every.facts["timeouts"] == {
        "workflowExecTimeout": {"duration": "PT1H", "interrupt": False},
        "stateExecTimeout": "PT5M",
    }
    assert every.facts["errors"] == [{"name": "broke", "code": "500", "description": "It broke."}]
    assert every.facts["dataSchemas"] == {"input": {"schema": {"type": "object"}, "failOnValidationErrors": False}}
    assert [every.facts[key] for key in ("secrets", "constants", "auth")] == [
        ["mailer"], ["limit"], [{"name": "shop", "scheme": "bearer"}],
    ]  # fmt: skip
