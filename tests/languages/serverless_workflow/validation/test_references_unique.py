"""A list of references names each thing once."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "events": (
        """
id: a
specVersion: "0.8"
events: [{name: e, type: t}]
states:
- name: A
  type: event
  onEvents: [{eventRefs: [e, e]}]
  end: true
""",
        [
            "7:30 warning state 'A': eventRefs names 'e' more than once",
        ],
    ),
    "errors": (
        """
id: a
specVersion: "0.8"
errors: [{name: e}]
states:
- name: A
  type: inject
  data: {}
  onErrors: [{errorRefs: [e, e], end: true}]
  end: true
""",
        [
            "8:30 warning state 'A': errorRefs names 'e' more than once",
        ],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_references_unique(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """A list of references names each thing once."""
    assert found("duplicate-reference", text.lstrip()) == expected
