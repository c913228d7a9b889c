"""States, conditions and error handlers lead to one place."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "both": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: inject, data: {}, transition: Z, end: true}
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "4:52 error state 'A' has a transition and an end: it can have only one of them",
        ],
    ),
    "neither": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: inject, data: {}}
""",
        [
            (
                "4:3 warning state 'A' has neither a transition nor an end: the path is taken to end here "
                "| write 'end: true'"
            ),
        ],
    ),
    "a condition with neither": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: switch
  dataConditions:
  - {name: c, condition: .a}
  defaultCondition: {end: true}
""",
        [
            (
                "7:5 warning condition 'c' of state 'A' has neither a transition nor an end: the path is "
                "taken to end here | write 'end: true'"
            ),
        ],
    ),
    "a switch": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: switch
  dataConditions: [{condition: .a, end: true}]
  defaultCondition: {end: true}
  end: true
""",
        [
            "8:3 warning state 'A' is a switch: its conditions say where it leads, and this end is never taken",
        ],
    ),
    "a state for compensation": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: inject, data: {}, compensatedBy: B, end: true}
- {name: B, type: inject, data: {}, usedForCompensation: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_ways_out(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """States, conditions and error handlers lead to one place."""
    assert found("transition-or-end", text.lstrip()) == expected
