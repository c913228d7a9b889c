"""What is read can have been set."""

from collections.abc import Callable

import pytest

HEAD = """\
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: inject
  data: {order: 1}
  stateDataFilter: {output: "${ {total: .order, rest: .x} }"}
  transition: B
"""

CASES: dict[str, tuple[str, list[str]]] = {
    "a slip of the keyboard": (
        """\
- name: B
  type: switch
  dataConditions: [{condition: "${ .totl > 3 }", end: true}]
  defaultCondition: {end: true}
""",
        [
            (
                "12:32 warning state 'B': condition reads .totl, which no state before it can have set:"
                " there is .rest, .total | did you mean 'total'?"
            )
        ],
    ),
    "in a selection set": (
        """\
- name: B
  type: operation
  actions: [{functionRef: {refName: f, selectionSet: "{ name(short: ${ .totl }) }"}}]
  end: true
""",
        [
            (
                "12:54 warning state 'B': selectionSet reads .totl, which no state before it can have set:"
                " there is .rest, .total | did you mean 'total'?"
            )
        ],
    ),
    "what is set": (
        """\
- name: B
  type: switch
  dataConditions: [{condition: "${ .total > 3 }", end: true}]
  defaultCondition: {end: true}
""",
        [],
    ),
    "with an alternative": (
        """\
- name: B
  type: switch
  dataConditions: [{condition: "${ (.gone // 0) > 3 or .never == null }", end: true}]
  defaultCondition: {end: true}
""",
        [],
    ),
    "after results that may hold anything": (
        """\
- name: B
  type: operation
  actions: [{functionRef: f}]
  transition: C
- name: C
  type: switch
  dataConditions: [{condition: "${ .whatever }", end: true}]
  defaultCondition: {end: true}
""",
        [],
    ),
    "in arguments, after a result with a place": (
        """\
- name: B
  type: operation
  actions: [{functionRef: f, actionDataFilter: {toStateData: "${ .found }"}}]
  transition: C
- name: C
  type: operation
  actions: [{functionRef: {refName: f, arguments: {a: "${ .found }", b: "${ .order }"}}}]
  end: true
""",
        [
            (
                "16:73 warning state 'C': arguments reads .order, which no state before it can have set:"
                " there is .found, .rest, .total"
            )
        ],
    ),
}


@pytest.mark.parametrize(("rest", "expected"), CASES.values(), ids=CASES)
def test_fields_set(found: Callable[[str, str], list[str]], rest: str, expected: list[str]) -> None:
    """An expression that reads what cannot have been set is pointed out, where that is certain."""
    assert found("unset-field", HEAD + rest) == expected
