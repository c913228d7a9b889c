"""Errors that are handled or retried are defined."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "handled": (
        """
id: a
specVersion: "0.8"
errors: [{name: Timeout}]
states:
- name: A
  type: operation
  actions: []
  onErrors:
  - {errorRef: Timeot, end: true}
  - {errorRefs: [Timeout, Other], end: true}
  end: true
""",
        [
            "9:16 error state 'A' refers to the error 'Timeot', which is not defined | did you mean 'Timeout'?",
            "10:27 error state 'A' refers to the error 'Other', which is not defined",
        ],
    ),
    "retried": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - {functionRef: f, retryableErrors: [X], nonRetryableErrors: [Y]}
  end: true
""",
        [
            "8:40 error state 'A' refers to the error 'X', which is not defined",
            "8:65 error state 'A' refers to the error 'Y', which is not defined",
        ],
    ),
    "names for every error": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: operation
  actions: []
  onErrors:
  - {errorRefs: ["*", DefaultErrorRef, java.lang.Exception], end: true}
  end: true
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_errors_defined(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Errors that are handled or retried are defined."""
    assert found("error-undefined", text.lstrip()) == expected
