"""Functions that are called are defined."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "a text": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - functionRef: ff
  end: true
""",
        [
            "8:18 error state 'A' refers to the function 'ff', which is not defined | did you mean 'f'?",
        ],
    ),
    "an object": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - functionRef: {refName: other}
  end: true
""",
        [
            "8:28 error state 'A' refers to the function 'other', which is not defined",
        ],
    ),
    "elsewhere, in a file that is not there": (
        """
id: a
specVersion: "0.8"
functions: functions.json
states:
- name: A
  type: operation
  actions:
  - functionRef: ff
  end: true
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_functions_defined(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Functions that are called are defined."""
    assert found("function-undefined", text.lstrip()) == expected
