"""Expressions are in jq or JSONPath."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "another": (
        """
id: a
specVersion: "0.8"
expressionLang: cel
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "3:17 error expressionLang is 'cel', but expressions are written in jq or jsonpath here",
        ],
    ),
    "said to be JSONPath": (
        """
id: a
specVersion: "0.8"
expressionLang: jsonpath
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [],
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
    """Expressions are in jq or JSONPath."""
    assert found("expression-lang", text.lstrip()) == expected
