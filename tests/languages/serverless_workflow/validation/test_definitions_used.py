"""Definitions that nothing refers to are told."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "one of each kind": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
events: [{name: e, type: t}]
retries: [{name: r}]
errors: [{name: x}]
auth: [{name: l, properties: s}]
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "3:20 warning function 'f' is defined, but not used",
            "4:17 warning event 'e' is defined, but not used",
            "5:18 warning retry 'r' is defined, but not used",
            "6:17 warning error 'x' is defined, but not used",
            "7:15 warning auth 'l' is defined, but not used",
        ],
    ),
    "a function in an expression": (
        """
id: a
specVersion: "0.8"
functions: [{name: big one, type: expression, operation: .n > 2}]
states:
- name: A
  type: switch
  dataConditions: [{condition: "${ fn:big one }", end: true}]
  defaultCondition: {end: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_definitions_used(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Definitions that nothing refers to are told."""
    assert found("unused-definition", text.lstrip()) == expected
