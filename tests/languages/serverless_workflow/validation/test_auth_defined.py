"""Functions that refer to authentication which is not defined are told."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "a text": (
        """
id: a
specVersion: "0.8"
auth: [{name: login, properties: secret}]
functions:
- {name: f, operation: a.json#f, authRef: logn}
states:
- {name: A, type: operation, actions: [{functionRef: f}], end: true}
""",
        [
            "5:43 error function 'f' refers to the auth 'logn', which is not defined | did you mean 'login'?",
        ],
    ),
    "an object": (
        """
id: a
specVersion: "0.8"
functions:
- {name: f, operation: a.json#f, authRef: {resource: r, invocation: i}}
states:
- {name: A, type: operation, actions: [{functionRef: f}], end: true}
""",
        [
            "4:54 error function 'f' refers to the auth 'r', which is not defined",
            "4:69 error function 'f' refers to the auth 'i', which is not defined",
        ],
    ),
    "one that is defined": (
        """
id: a
specVersion: "0.8"
auth: [{name: login, properties: secret}]
functions:
- {name: f, operation: a.json#f, authRef: login}
states:
- {name: A, type: operation, actions: [{functionRef: f}], end: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_auth_defined(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Functions that refer to authentication which is not defined are told."""
    assert found("auth-undefined", text.lstrip()) == expected
