"""Are documents of other dialects told by name?"""

import pytest

from swf_temporal.errors import Position
from swf_temporal.loading import check
from tests.languages.serverless_workflow.models import checked_model


@pytest.mark.parametrize(
    ("text", "dialect", "place"),
    [
        ("document: {dsl: 1.0.0}\ndo: []\n", "Serverless Workflow 1.0", (1, 1)),
        ("id: a\ntasks: []\n", "the May 2020 draft of Serverless Workflow, which has tasks", (2, 1)),
        ("id: a\nstartsAt: A\nstates: []\n", "the 2019 draft of Serverless Workflow", (2, 1)),
        ("states:\n- {name: A, type: DELAY, nextState: B}\n", "the 2019 draft of Serverless Workflow", (2, 26)),
        ("states:\n- {name: A, type: DELAY}\n", "the 2019 draft of Serverless Workflow", (2, 13)),
        (
            "states:\n- name: A\n  start:\n    kind: default\n",
            "a 2020 version of Serverless Workflow, before 0.6",
            (3, 3),
        ),
        ("states:\n- name: A\n  eventsActions: []\n", "a 2020 version of Serverless Workflow, before 0.6", (3, 3)),
        ('{"StartAt": "A", "States": {}}', "Amazon States Language", (1, 2)),
        ("states:\n- id: a\n  type: noop\n", "the Direktiv form", (3, 3)),
        ("states:\n- id: a\n  transform: x\n", "the Direktiv form", (3, 3)),
    ],
)
def test_other_dialects(text: str, dialect: str, place: tuple[int, int]) -> None:
    """A document of another dialect gives one problem, which names it and points at what gives it away."""
    (problem,) = check(text).problems
    assert problem.code == "dialect"
    assert problem.message == f"this is written for {dialect}; what runs here is Serverless Workflow 0.8"
    assert problem.position == Position(*place)


def test_a_property_of_its_own_is_no_dialect() -> None:
    """A workflow may have properties that nobody knows, such as one that 1.0 has."""
    states = "states: [{name: A, type: inject, data: {}, end: true}]"
    assert checked_model(check(f'id: a\nspecVersion: "0.8"\ndocument: x\n{states}\n')) is not None


def test_any_shape_may_stand_where_the_dialect_is_looked_for() -> None:
    """What is of the wrong form is left for later: it gives no dialect away."""
    for states in ("1", "[1, null, []]", "{a: 1}", "[{type: [1], start: 2, id: {}}]"):
        assert all(problem.code != "dialect" for problem in check(f"id: a\nstates: {states}\n").problems)
