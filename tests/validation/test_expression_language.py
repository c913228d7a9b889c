"""Expressions are in jq."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "another": (
        """
id: a
specVersion: "0.8"
expressionLang: jsonpath
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "3:17 error expressionLang is 'jsonpath', but expressions are evaluated as jq",
        ],
    ),
    "said to be jq": (
        """
id: a
specVersion: "0.8"
expressionLang: jq
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_expression_language(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Expressions are in jq."""
    assert found("expression-lang", text.lstrip()) == expected
