"""Secrets are used only where functions are called."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "in a filter": (
        """
id: a
specVersion: "0.8"
secrets: [k]
states:
- name: A
  type: inject
  data: {}
  stateDataFilter: {output: "${ $SECRETS.k }"}
  end: true
""",
        [
            "8:29 error state 'A': output uses $SECRETS, which only the arguments of a function may",
        ],
    ),
    "in an expression function": (
        """
id: a
specVersion: "0.8"
secrets: [k]
functions: [{name: f, type: expression, operation: "$SECRETS.k"}]
states:
- {name: A, type: operation, actions: [{functionRef: f}], end: true}
""",
        [
            "4:52 error function 'f': operation uses $SECRETS, which only the arguments of a function may",
        ],
    ),
    "in a selection set": (
        """
id: a
specVersion: "0.8"
secrets: [k]
functions: [{name: f, type: graphql, operation: "/graphql#query#pet"}]
states:
- name: A
  type: operation
  actions:
  - functionRef: {refName: f, selectionSet: "{ name(key: ${ $SECRETS.k }) }"}
  end: true
""",
        [
            "9:45 error state 'A': selectionSet uses $SECRETS, which only the arguments of a function may",
        ],
    ),
    "in arguments of an activity": (
        """
id: a
specVersion: "0.8"
secrets: [k]
functions: [{name: f, type: custom, operation: "temporal:Charge@payments"}]
states:
- name: A
  type: operation
  actions: [{functionRef: {refName: f, arguments: {key: "${ $SECRETS.k }"}}}]
  end: true
""",
        [
            (
                "8:57 error state 'A': arguments uses $SECRETS, which would stand in the history"
                " | function 'f' is an activity of Temporal: its worker must know them itself"
            ),
        ],
    ),
    "in the place where a result goes": (
        """
id: a
specVersion: "0.8"
secrets: [k]
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions: [{functionRef: f, actionDataFilter: {toStateData: ".a[$SECRETS.k]"}}]
  end: true
""",
        [
            "8:62 error state 'A': toStateData uses $SECRETS, which only the arguments of a function may",
        ],
    ),
    "beside an expression, and in a text of one": (
        """
id: a
specVersion: "0.8"
secrets: [k]
states:
- {name: A, type: inject, data: {a: "$SECRETS.k: ${ .n }", b: '${ "$SECRETS.k" }'}, end: true}
""",
        [],
    ),
    "in arguments": (
        """
id: a
specVersion: "0.8"
secrets: [k]
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions: [{functionRef: {refName: f, arguments: {key: "${ $SECRETS.k }"}}}]
  end: true
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_secrets_for_functions(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Secrets are used only where functions are called."""
    assert found("secrets-in-expression", text.lstrip()) == expected


SECRETS_DECLARED: dict[str, tuple[str, list[str]]] = {
    "one that is not": (
        """
id: a
specVersion: "0.8"
secrets: [key]
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - functionRef: {refName: f, arguments: {key: "${ $SECRETS.kee }"}}
  end: true
""",
        [
            ("9:48 error state 'A' uses the secret 'kee', which is not declared in 'secrets' | did you mean 'key'?"),
        ],
    ),
    "by index": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - functionRef: {refName: f, arguments: {key: '${ $SECRETS["k"] }'}}
  end: true
""",
        [
            "8:48 error state 'A' uses the secret 'k', which is not declared in 'secrets'",
        ],
    ),
    "in a text, and by a text": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - functionRef: {refName: f, arguments: {a: '${ "\\($SECRETS.k)"+ $SECRETS."l" + $SECRETS[.m] + $SECRETS["n" + .o] }'}}
  end: true
""",
        [
            "8:46 error state 'A' uses the secret 'k', which is not declared in 'secrets'",
            "8:46 error state 'A' uses the secret 'l', which is not declared in 'secrets'",
        ],
    ),
}


@pytest.mark.parametrize(("text", "expected"), SECRETS_DECLARED.values(), ids=SECRETS_DECLARED)
def test_secrets_declared(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Secrets that are used are declared."""
    assert found("secret-undefined", text.lstrip()) == expected
