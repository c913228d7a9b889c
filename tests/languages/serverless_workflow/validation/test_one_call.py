"""An action calls a function, exchanges events, or runs a workflow."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "nothing": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - name: x
  end: true
""",
        [
            "8:5 error action 'x' of state 'A' has none of functionRef, eventRef and subFlowRef",
        ],
    ),
    "a slip of the keyboard": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - functionref: f
  end: true
""",
        [
            (
                "8:5 error an action of state 'A' has none of functionRef, eventRef and subFlowRef | did "
                "you mean 'functionRef'?"
            ),
        ],
    ),
    "two things": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - {name: x, functionRef: f, subFlowRef: s}
  end: true
""",
        [
            "8:31 error action 'x' of state 'A' has functionRef and subFlowRef: it can have only one of them",
        ],
    ),
    "one thing": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - functionRef: f
  end: true
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_one_call(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """An action calls a function, exchanges events, or runs a workflow."""
    assert found("action-call", text.lstrip()) == expected
