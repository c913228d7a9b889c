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
    "an expression without marks": (
        "x > 3",
        [
            (
                "7:16 warning state 'A': the condition 'x > 3' is a plain text, and as such it always holds"
                " | did you mean '${ x > 3 }'?"
            )
        ],
    ),
    "false as a text": (
        '"false"',
        [
            (
                "7:16 warning state 'A': the condition 'false' is a plain text, and as such it always holds"
                " | did you mean '${ false }'?"
            )
        ],
    ),
    "an expression": ('"${ .x > 3 }"', []),
    "a bare path": (".x > 3", []),
    "a boolean": ("true", []),
}


@pytest.mark.parametrize(("condition", "expected"), CASES.values(), ids=CASES)
def test_conditions_decide(found: Callable[[str, str], list[str]], condition: str, expected: list[str]) -> None:
    """A condition that is a plain text is pointed out, since it would always hold."""
    assert found("condition", DOCUMENT.format(condition=condition)) == expected
