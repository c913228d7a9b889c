"""Functions say what they call."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "no operation": (
        """
id: a
specVersion: "0.8"
functions:
- {name: f}
states:
- {name: A, type: operation, actions: [{functionRef: f}], end: true}
""",
        [
            "4:3 error function 'f' of the type rest has no operation",
        ],
    ),
    "no operation of HTTP": (
        """
id: a
specVersion: "0.8"
functions:
- {name: f, type: http}
states:
- {name: A, type: operation, actions: [{functionRef: f}], end: true}
""",
        [
            "4:3 error function 'f' of the type http has no operation",
        ],
    ),
    "only metadata": (
        """
id: a
specVersion: "0.8"
functions:
- {name: f, metadata: {image: x}}
states:
- {name: A, type: operation, actions: [{functionRef: f}], end: true}
""",
        [
            "4:3 warning function 'f' has no operation, and cannot be called unless its metadata says how",
        ],
    ),
    "an expression that is an object": (
        """
id: a
specVersion: "0.8"
functions:
- {name: f, type: expression, operation: {a: 1}}
states:
- {name: A, type: operation, actions: [{functionRef: f}], end: true}
""",
        [
            "4:42 error function 'f' is an expression: its operation must be a text",
        ],
    ),
    "a type of its own": (
        """
id: a
specVersion: "0.8"
functions:
- {name: f, type: console}
states:
- {name: A, type: operation, actions: [{functionRef: f}], end: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_function_operations(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Functions say what they call."""
    assert found("function-operation", text.lstrip()) == expected


FUNCTION_TYPES: dict[str, tuple[str, list[str]]] = {
    "a slip of the keyboard": (
        """
id: a
specVersion: "0.8"
functions:
- {name: f, type: rset, operation: a.json#f}
states:
- {name: A, type: operation, actions: [{functionRef: f}], end: true}
""",
        [
            "4:19 warning function 'f': 'rset' is taken as a type of its own | did you mean 'rest'?",
        ],
    ),
    "a type of its own": (
        """
id: a
specVersion: "0.8"
functions:
- {name: f, type: console}
states:
- {name: A, type: operation, actions: [{functionRef: f}], end: true}
""",
        [],
    ),
    "a slip in custom": (
        """
id: a
specVersion: "0.8"
functions:
- {name: f, type: custm, operation: f}
- {name: g, type: custom, operation: g}
states:
- {name: A, type: operation, actions: [{functionRef: f}, {functionRef: g}], end: true}
""",
        [
            "4:19 warning function 'f': 'custm' is taken as a type of its own | did you mean 'custom'?",
        ],
    ),
}


@pytest.mark.parametrize(("text", "expected"), FUNCTION_TYPES.values(), ids=FUNCTION_TYPES)
def test_function_types(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """A type of function that is nearly one of the specification's is told."""
    assert found("function-type", text.lstrip()) == expected
