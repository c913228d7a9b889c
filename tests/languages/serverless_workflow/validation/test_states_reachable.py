"""Every state has a way that leads to it."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "one that has none": (
        """
id: a
specVersion: "0.8"
states:
- {name: Z, type: inject, data: {}, end: true}
- {name: Y, type: inject, data: {}, end: true}
""",
        [
            "5:10 warning state 'Y' is never entered",
        ],
    ),
    "by an error": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: inject, data: {}, onErrors: [{errorRef: "*", transition: Z}], end: true}
- {name: Z, type: inject, data: {}, end: true}
""",
        [],
    ),
    "by a switch": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: switch
  dataConditions: [{condition: .a, transition: Z}]
  defaultCondition: Y
- {name: Z, type: inject, data: {}, end: true}
- {name: Y, type: inject, data: {}, end: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_states_reachable(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Every state has a way that leads to it."""
    assert found("unreachable-state", text.lstrip()) == expected
