"""Is everything told that a workflow needs?"""

import json
from typing import Any

import pytest

from swf_temporal.languages.serverless_workflow.description.compact import Facts


def named(facts: list[Any], name: str) -> Any:
    """Return the one of *facts* that bears a name, or an id."""
    return next(one for one in facts if one.get("name", one.get("id")) == name)


def test_identity(every: Facts) -> None:
    """A workflow is told by what its author called it, and by where it starts."""
    told = {key: every[key] for key in ("id", "version", "name", "description", "start", "keepActive", "annotations")}
    assert told == {
        "id": "every",
        "version": "2.1",
        "name": "Everything",
        "description": "Has a state of each type.",
        "start": "Listen",
        "keepActive": True,
        "annotations": ["demo"],
    }


def test_is_json(every: Facts) -> None:
    """Facts are JSON, and nothing else."""
    assert json.loads(json.dumps(every)) == every


def test_schedule(every: Facts) -> None:
    """A schedule is told in words, with the next three times by its clocks."""
    assert every["schedule"] == {
        "cron": {"expression": "0 9 * * 1-5", "validUntil": "2099-01-01T00:00:00Z"},
        "timezone": "Europe/Berlin",
        "words": "at 09:00 on Monday to Friday, until 2099-01-01T00:00:00Z (Europe/Berlin)",
        "next": ["2030-05-06T09:00:00+02:00", "2030-05-07T09:00:00+02:00", "2030-05-08T09:00:00+02:00"],
    }


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "ask",
            {
                "type": "rest",
                "document": "shop.json",
                "operationId": "ask",
                "method": "POST",
                "path": "/questions/{id}",
                "server": "https://shop.example.com/v1",
                "auth": {"invocation": "shop"},
            },
        ),
        ("ping", {"type": "custom", "method": "GET", "url": "https://ping.example.com/{id}", "priority": 2}),
        ("double", {"type": "expression", "operation": ".n * 2"}),
        ("far", {"document": "https://far.example.com/api.json", "operationId": "go"}),
    ],
)
def test_functions(every: Facts, name: str, told: Facts) -> None:
    """A function is told by its type, and by where it leads as far as that can be read here."""
    function = named(every["functions"], name)
    assert {key: function.get(key) for key in told} == told
    assert function["calledBy"]
    assert ("method" in function) is (name in ("ask", "ping"))


def test_functions_without_a_server(orders: Facts) -> None:
    """Where a document names no server, the settings are told that may."""
    function = named(orders["functions"], "checkStock")
    assert (function["method"], function["path"]) == ("GET", "/stock/{item}")
    assert function["serverFrom"] == ["SWF_BASE_URL_CHECKSTOCK", "SWF_BASE_URL"]
    assert "server" not in function


def test_events(every: Facts) -> None:
    """An event is told by type, source and correlation, and by who awaits and who produces it."""
    assert named(every["events"], "asked") == {
        "name": "asked",
        "kind": "consumed",
        "type": "com.asked",
        "source": "/desk",
        "correlation": [{"contextAttributeName": "id", "contextAttributeValue": "${ .id }"}],
        "consumedBy": ["state 'Listen'", "state 'Work'", "state 'Which'", "state 'Back'"],
        "producedBy": [],
    }
    assert named(every["events"], "answered")["producedBy"] == ["state 'Work'", "state 'Back'"]


def test_other_workflows(every: Facts) -> None:
    """Sub-workflows and continuations are told with the file that they were found in, if they were."""
    child, missing = every["subWorkflows"]
    assert (child["id"], child["version"], child["found"]) == ("child", "1.0", True)
    assert child["file"].endswith("child.sw.yaml")
    assert missing == {"id": "missing", "found": False, "runBy": ["state 'Work'"]}
    assert [(one["id"], one["found"], one["runBy"]) for one in every["continuations"]] == [
        ("child", True, ["state 'Choose'"])
    ]


def test_names_only_of_what_is_secret_or_large(every: Facts) -> None:
    """Of secrets, credentials and constants only the names are told."""
    assert (every["secrets"], every["constants"]) == (["mailer"], ["limit"])
    assert every["auth"] == [{"name": "shop", "scheme": "bearer"}]


def test_limits(every: Facts) -> None:
    """Timeouts, errors and data schemas are told as they are written."""
    assert every["timeouts"] == {
        "workflowExecTimeout": {"duration": "PT1H", "interrupt": False},
        "stateExecTimeout": "PT5M",
    }
    assert every["errors"] == [{"name": "broke", "code": "500", "description": "It broke."}]
    assert every["dataSchemas"] == {"input": {"schema": {"type": "object"}, "failOnValidationErrors": False}}
