"""Properties that mean nothing are told."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "in a state": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: operation
  actonMode: parallel
  actions: []
  end: true
""",
        [
            (
                "6:3 warning state 'A': 'actonMode' is not a property of a state of the type operation | "
                "did you mean 'actionMode'?"
            ),
        ],
    ),
    "of another type of state": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: inject
  data: {}
  duration: PT1S
  end: true
""",
        [
            "7:3 warning state 'A': 'duration' is not a property of a state of the type inject",
        ],
    ),
    "in an action": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - {functionRef: f, retryref: r}
  end: true
""",
        [
            "8:22 warning state 'A': 'retryref' is not a property that is known here | did you mean 'retryRef'?",
        ],
    ),
    "nearly one at the top": (
        """
idd: x
id: a
specVersion: "0.8"
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "1:1 warning the workflow: 'idd' is not a property that is known here | did you mean 'id'?",
        ],
    ),
    "an author's own at the top": (
        """
team: x
id: a
specVersion: "0.8"
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_properties_known(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Properties that mean nothing are told."""
    assert found("unknown-property", text.lstrip()) == expected
