"""A parallel state waits for as many branches as it has at most."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "none said": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: parallel
  branches: [{name: x, actions: []}, {name: y, actions: []}]
  completionType: atLeast
  end: true
""",
        [
            "7:19 error state 'A' completes with at least some branches, and has no numCompleted to say how many",
        ],
    ),
    "too many": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: parallel
  branches: [{name: x, actions: []}, {name: y, actions: []}]
  completionType: atLeast
  numCompleted: 3
  end: true
""",
        [
            "8:17 error state 'A' waits for 3 branches, but has 2",
        ],
    ),
    "not a number": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: parallel
  branches: [{name: x, actions: []}, {name: y, actions: []}]
  completionType: atLeast
  numCompleted: many
  end: true
""",
        [
            "8:17 error state 'A': numCompleted 'many' is not a number of branches",
        ],
    ),
    "without a meaning": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: parallel
  branches: [{name: x, actions: []}, {name: y, actions: []}]
  numCompleted: 1
  end: true
""",
        [
            "7:3 warning state 'A' completes with all of its branches: numCompleted has no meaning",
        ],
    ),
    "an expression": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: parallel
  branches: [{name: x, actions: []}, {name: y, actions: []}]
  completionType: atLeast
  numCompleted: "${ .n }"
  end: true
""",
        [],
    ),
    "fewer than there are": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: parallel
  branches: [{name: x, actions: []}, {name: y, actions: []}]
  completionType: atLeast
  numCompleted: 1
  end: true
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_counts(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """A parallel state waits for as many branches as it has at most."""
    assert found("num-completed", text.lstrip()) == expected


BATCH_SIZES: dict[str, tuple[str, list[str]]] = {
    "negative": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: foreach
  inputCollection: .xs
  batchSize: -1
  actions: [{subFlowRef: s}]
  end: true
""",
        [
            "7:14 error state 'A': batchSize -1 is not a number of iterations",
        ],
    ),
    "not a number": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: foreach
  inputCollection: .xs
  batchSize: few
  actions: [{subFlowRef: s}]
  end: true
""",
        [
            "7:14 error state 'A': batchSize 'few' is not a number of iterations",
        ],
    ),
    "sequential": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: foreach
  inputCollection: .xs
  mode: sequential
  batchSize: 2
  actions: [{subFlowRef: s}]
  end: true
""",
        [
            "8:3 warning state 'A' is sequential: its batchSize has no meaning",
        ],
    ),
    "a window": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: foreach
  inputCollection: .xs
  batchSize: 2
  actions: [{subFlowRef: s}]
  end: true
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), BATCH_SIZES.values(), ids=BATCH_SIZES)
def test_batch_sizes(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """A foreach state has a number of iterations at a time."""
    assert found("batch-size", text.lstrip()) == expected
