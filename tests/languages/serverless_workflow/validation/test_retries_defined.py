"""Retries that actions refer to are defined."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "one that is not": (
        """
id: a
specVersion: "0.8"
retries: [{name: slowly}]
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - {functionRef: f, retryRef: Slowly}
  end: true
""",
        [
            "9:32 error state 'A' refers to the retry 'Slowly', which is not defined | did you mean 'slowly'?",
        ],
    ),
    "one that is": (
        """
id: a
specVersion: "0.8"
retries: [{name: slowly}]
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - {functionRef: f, retryRef: slowly}
  end: true
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_retries_defined(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Retries that actions refer to are defined."""
    assert found("retry-undefined", text.lstrip()) == expected
