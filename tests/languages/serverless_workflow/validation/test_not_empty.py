"""What has to hold something does."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "an operation without actions": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: operation, end: true}
""",
        [
            "4:3 error state 'A' has no actions",
        ],
    ),
    "an operation with other actions": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: operation
  action: []
  end: true
""",
        [
            "4:3 error state 'A' has no actions | is 'action' meant as 'actions'?",
        ],
    ),
    "a foreach without actions": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: foreach, inputCollection: .x, end: true}
""",
        [
            "4:3 error state 'A' has no actions",
        ],
    ),
    "an event state without onEvents": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: event, end: true}
""",
        [
            "4:3 error state 'A' has no onEvents",
        ],
    ),
    "an operation that only filters": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: operation, actions: [], end: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_not_empty(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """What has to hold something does."""
    assert found("missing", text.lstrip()) == expected


LISTS_NOT_EMPTY: dict[str, tuple[str, list[str]]] = {
    "no states": (
        """
id: a
specVersion: "0.8"
states: []
""",
        [
            "3:9 error the workflow: states is empty",
        ],
    ),
    "no branches": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: parallel, branches: [], end: true}
""",
        [
            "4:39 error state 'A': branches is empty",
        ],
    ),
    "no events": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: event
  onEvents:
  - eventRefs: []
  end: true
""",
        [
            "7:16 error state 'A': eventRefs is empty",
        ],
    ),
    "no errors": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: inject
  data: {}
  onErrors: [{errorRefs: [], end: true}]
  end: true
""",
        [
            "7:26 error state 'A': errorRefs is empty",
        ],
    ),
}


@pytest.mark.parametrize(("text", "expected"), LISTS_NOT_EMPTY.values(), ids=LISTS_NOT_EMPTY)
def test_lists_not_empty(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Lists that must hold something do."""
    assert found("empty-list", text.lstrip()) == expected
