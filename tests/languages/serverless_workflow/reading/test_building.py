"""Are definitions of the wrong form told what is wrong, where, in words that authors use?"""

import pytest

from swf_temporal.languages.loading import check
from tests.languages.serverless_workflow.models import load_model


def problems(text: str) -> list[str]:
    return [
        f"{one.position.line}:{one.position.column} {one.code} {one.message}" + (f" | {one.hint}" if one.hint else "")
        for one in check(text).errors
    ]


PARALLEL = "did you mean 'parallel'?"
OPERATOIN = (
    "enum state 'A': state type 'operatoin' is not one of event, operation, switch, sleep, parallel, inject, "
    "foreach or callback | did you mean 'operation'?"
)
NO_OPERATION = (
    "operation-form function '5': the operation must be a text: one of the type rest is written "
    "document.json#operationId"
)
TYPES = "event, operation, switch, sleep, parallel, inject, foreach and callback"
AN_ID = "write the name that the workflow is started by, such as 'id: orders'"
A_NAME = "it is referred to by its name: write one"
A_LIST = "write a list with it as the only element, as in 'functions: [{name: ...}]'"
A_LENGTH = "write how long, such as PT15M"
STATES = "states:\n- {name: A, type: inject, data: {}, end: true}\n"


@pytest.mark.parametrize(("text", "expected"), [
    (STATES, [f"1:1 missing the workflow has no id | {AN_ID}"]),
    ("id: a\n", ["1:1 missing the workflow has no states | write at least one state, with a name and a type"]),
    ("id: a\nstate: []\n", ["2:1 missing the workflow has no states | is 'state' meant as 'states'?"]),
    ("id: a\nstates: {}\n", ["2:9 type the workflow: states must be a list, not an object"]),
    ("id: a\nstates:\n- 7\n", ["3:3 type state number 1 must be an object, not a number"]),
    (f"id: a\nfunctions: {{name: f}}\n{STATES}",
     [f"2:12 type the workflow: functions must be a list, not an object | {A_LIST}"]),
    (f"id: a\nkeepActive: maybe\n{STATES}",
     ["2:13 type the workflow: keepActive must be true or false, not the text 'maybe'"]),
    (f"id: [a]\n{STATES}", ["1:5 type the workflow: id must be a text, not a list"]),
    (f"id: a\nsecrets: [a, {{}}]\n{STATES}", ["2:14 type the workflow: secrets must be a text, not an object"]),
    (f"id: a\nconstants: [1]\n{STATES}", ["2:12 type the workflow: constants must be an object, not a list"]),
    ("id: a\nstates:\n- name: A\n  type: operatoin\n  actions: []\n  end: true\n", [f"4:9 {OPERATOIN}"]),
    ("id: a\nstates:\n- name: A\n  end: true\n", [f"3:3 missing state 'A' has no type | write one of {TYPES}"]),
    ("id: a\nstates:\n- type: inject\n  data: 1\n  end: true\n",
     [f"3:3 missing state number 1 has no name | {A_NAME}"]),
    ("id: a\nstates:\n- {name: A, type: sleep, end: true}\n", [f"3:3 missing state 'A' has no duration | {A_LENGTH}"]),
    ("id: a\nstates:\n- {name: A, type: sleep, duration: 5, end: true}\n",
     ["3:36 type state 'A': duration must be a text, not a number"]),
    ("id: a\nstates:\n- {name: A, type: inject, data: 1, end: 3}\n",
     ["3:41 type state 'A': end must be true or an object, not a number"]),
    ("id: a\nstates:\n- {name: A, type: inject, data: 1, transition: [B]}\n",
     ["3:48 type state 'A': transition must be a text or an object, not a list"]),
    ("id: a\nstates:\n- name: A\n  type: operation\n  actions:\n  - name: x\n    functionRef: 5\n  end: true\n",
     ["7:18 type action 'x' of state 'A': functionRef must be a text or an object, not a number"]),
    ("id: a\nstates:\n- name: A\n  type: operation\n  actionMode: Parallel\n  actions: []\n  end: true\n",
     ["5:15 enum state 'A': actionMode 'Parallel' is not one of sequential or parallel | " + PARALLEL]),
])  # fmt: skip
def test_wrong_forms(text: str, expected: list[str]) -> None:
    """What has the wrong form is named with its owner, what was expected and what was found, at its place."""
    assert problems(text) == expected


def test_wrong_forms_do_not_hide_the_rules() -> None:
    """What is of the right form is still held to the rules, and what was taken out causes no further problems."""
    text = """
id: a
functions:
- {name: f, operation: a.json#f, authRef: [1]}
- {name: 5, operation: 5, metadata: x}
events:
- {name: e, type: t, kind: consumd}
states:
- name: A
  type: operatoin
  actions: [{functionRef: f}, {functionRef: g}]
  transition: C
- name: B
  type: sleep
  transition: A
- name: D
  type: callback
  action: {}
  eventRef: e
  end: {terminate: []}
""".lstrip()
    assert problems(text) == [
        "3:43 type function 'f': authRef must be a text or an object, not a list",
        f"4:24 {NO_OPERATION}",
        "4:37 type function number 2: metadata must be an object, not the text 'x'",
        "6:28 enum event 'e': kind 'consumd' is not one of consumed or produced | did you mean 'consumed'?",
        f"9:9 {OPERATOIN}",
        "10:45 function-undefined state 'A' refers to the function 'g', which is not defined | there are 5 and f",
        "11:15 transition-target state 'A' leads to 'C', which is not a state here | there are A, B and D",
        f"12:3 missing state 'B' has no duration | {A_LENGTH}",
        "19:20 type state 'D': terminate must be true or false, not a list",
    ]


def test_what_an_author_adds_survives() -> None:
    """A key stands for the id; annotations and metadata are kept, and added properties stay in the text."""
    workflow = load_model(
        {"key": "k", "specVersion": "0.8", "annotations": ["billing"], "metadata": {"owner": {"team": "a"}},
         "loglevel": "Info",
         "states": [{"name": "A", "type": "inject", "data": {}, "end": True, "metadata": {"x": 1}}]}
    )  # fmt: skip
    assert (workflow.id, workflow.annotations, workflow.metadata) == ("k", ("billing",), {"owner": {"team": "a"}})
    assert workflow.states[0].metadata == {"x": 1}
    assert '"loglevel":"Info"' in workflow.source.text
