"""Is it told of each state what it does and where it leads?"""

from typing import Any

import pytest

from swf_temporal.languages.serverless_workflow.description.compact import Facts
from swf_temporal.languages.serverless_workflow.description.states import facts_of_state
from tests.languages.serverless_workflow.models import load_model


def state(facts: Facts, name: str) -> Any:
    """Return the facts of the state *name*."""
    return next(one for one in facts["states"] if one["name"] == name)


def test_order(every: Facts) -> None:
    """States are told in the order in which they are written, each with its type."""
    assert [one["type"] for one in every["states"]] == [
        "event", "operation", "switch", "switch", "sleep", "parallel", "inject", "foreach", "callback", "operation",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "Listen",
            {
                "waitsFor": "all",
                "onEvents": [{"awaits": ["asked", "a and b"], "actions": [{"calls": "ask"}]}],
                "timeouts": {"eventTimeout": "PT10M"},
            },
        ),
        ("Choose", {"decidesBy": "data"}),
        ("Which", {"decidesBy": "events"}),
        ("Rest", {"duration": "PT2S"}),
        ("Put", {"data": {"done": True}}),
        (
            "Each",
            {
                "inputCollection": "${ .list }",
                "iterationParam": "one",
                "mode": "parallel",
                "batchSize": 2,
                "actions": [{"calls": "ask"}],
            },
        ),
        (
            "Both",
            {
                "completionType": "atLeast",
                "numCompleted": 1,
                "branches": [
                    {"name": "left", "actions": [{"name": "first", "calls": "ask"}, {"calls": "ask"}]},
                    {"name": "right", "actions": [{"calls": "double"}]},
                ],
            },
        ),
        ("Back", {"actions": [{"calls": "ask"}], "awaits": ["asked"]}),
        ("Undo", {"usedForCompensation": True, "ways": []}),
    ],
)
def test_what_it_does(every: Facts, name: str, told: Facts) -> None:
    """A state is told by what its type is about."""
    facts = state(every, name)
    assert {key: facts.get(key) for key in told} == told


def test_actions(every: Facts) -> None:
    """An action is told by what it calls, runs, produces or awaits, and by what else decides how it goes."""
    work = state(every, "Work")
    assert work["actionMode"] == "parallel"
    assert work["actions"][:4] == [
        {"name": "do", "calls": "ask", "asynchronous": True, "condition": "${ .ok }"},
        {"runs": "child", "version": "1.0", "retry": "twice"},
        {"runs": "missing"},
        {"produces": "answered", "awaits": "asked", "sleep": {"before": "PT1S"}},
    ]


@pytest.mark.parametrize(
    ("name", "ways"),
    [
        (
            "Work",
            [
                {"on": "completion", "to": "Choose"},
                {"on": "error", "errors": ["broke"], "to": "Rest", "compensates": True},
                {"on": "error", "errors": ["*"], "end": True, "terminates": True},
            ],
        ),
        (
            "Choose",
            [
                {"on": "condition", "condition": "${ .n > 3 }", "name": "big", "to": "Rest"},
                {"on": "condition", "condition": '${ .s == "a;b: c" }', "end": True, "continuesAs": "child"},
                {"on": "default", "to": "Which"},
            ],
        ),
        ("Which", [{"on": "event", "event": "asked", "to": "Both"}, {"on": "default", "end": True}]),
        ("Back", [{"on": "completion", "end": True, "produces": ["answered"]}]),
    ],
)
def test_where_it_leads(every: Facts, name: str, ways: list[Facts]) -> None:
    """Each way out of a state is told by what it is taken on, where it leads, and what else happens then."""
    assert state(every, name)["ways"] == ways


def test_compensation(every: Facts) -> None:
    """A state that can be undone tells by which other."""
    assert state(every, "Work")["compensatedBy"] == "Undo"


def test_nothing_is_not_zero() -> None:
    """A zero and a condition that is false are told: they say something."""
    workflow = load_model(
        "id: a\nfunctions: [{name: f, type: custom}]\nstates:\n- {name: P, type: parallel, completionType: atLeast, "
        "numCompleted: 0, branches: [{name: b, actions: [{functionRef: f, condition: false}]}], end: true}\n"
    )
    facts = facts_of_state(workflow.states[0])
    assert facts["numCompleted"] == 0
    assert facts["branches"][0]["actions"] == [{"calls": "f", "condition": False}]
