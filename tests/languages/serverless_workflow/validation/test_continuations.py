"""An end that continues terminates."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "not to terminate": (
        """
id: a
specVersion: "0.8"
states:
- name: Z
  type: inject
  data: {}
  end: {terminate: false, continueAs: {workflowId: b}}
""",
        [
            "8:9 warning state 'Z' continues as 'b': terminate false has no effect there | leave 'terminate' out",
        ],
    ),
    "to terminate, or nothing": (
        """
id: a
specVersion: "0.8"
states:
- name: Choose
  type: switch
  dataConditions:
  - {condition: .a, end: {terminate: true, continueAs: b}}
  - {condition: .b, end: {continueAs: b}}
  defaultCondition: {end: {terminate: false}}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_continuations(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """An end that continues, and says that it does not terminate, is told."""
    assert found("continue-as", text) == expected
