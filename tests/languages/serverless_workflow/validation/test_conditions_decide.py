"""Conditions are expressions."""

from collections.abc import Callable

import pytest

DOCUMENT = """\
id: a
specVersion: "0.8"
states:
- name: A
  type: switch
  dataConditions:
  - condition: {condition}
    end: true
  defaultCondition: {{end: true}}
"""

CASES: dict[str, tuple[str, list[str]]] = {
    "one of several kinds": (
        "if .x then 1 else [] end",
        [("7:16 error state 'A': the condition 'if .x then 1 else [] end' yields a list or a number, and so "
          "always holds | a condition yields true or false, as a comparison does")],
    ),
    "nothing": (
        "null",
        ["7:16 error state 'A': the condition is null | a condition is an expression that yields true or false"],
    ),
    "what may be null": (".x // null", []),
    "false as a text": ('"false"', []),
    "an expression": ('"${ .x > 3 }"', []),
    "a bare path": (".x > 3", []),
    "a boolean": ("true", []),
}  # fmt: skip


@pytest.mark.parametrize(("condition", "expected"), CASES.values(), ids=CASES)
def test_conditions_decide(found: Callable[[str, str], list[str]], condition: str, expected: list[str]) -> None:
    """A condition that would always hold, or never, whatever the data, is refused."""
    assert found("condition", DOCUMENT.format(condition=condition)) == expected
