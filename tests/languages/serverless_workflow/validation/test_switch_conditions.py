"""A switch chooses by data or by events, and has a default."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "both": (
        """
id: a
specVersion: "0.8"
events: [{name: e, type: t}]
states:
- name: A
  type: switch
  dataConditions: [{condition: .a, end: true}]
  eventConditions: [{eventRef: e, end: true}]
  defaultCondition: {end: true}
""",
        [
            "8:3 error state 'A' has dataConditions and eventConditions: a switch can have only one of them",
        ],
    ),
    "neither": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: switch, defaultCondition: {end: true}}
""",
        [
            "4:3 error state 'A' is a switch without dataConditions or eventConditions",
        ],
    ),
    "no default": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: switch
  dataConditions: [{condition: .a, end: true}]
""",
        [
            "4:3 warning state 'A' has no defaultCondition: where no condition holds, the run fails",
        ],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_switch_conditions(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """A switch chooses by data or by events, and has a default."""
    assert found("switch-conditions", text.lstrip()) == expected
