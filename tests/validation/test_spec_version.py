"""A definition says which specification it follows."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "none": (
        """
id: a
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "1:1 warning the workflow has no specVersion | write 'specVersion: \"0.8\"'",
        ],
    ),
    "one that is far away": (
        """
id: a
specVersion: "2.0"
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "2:14 warning specVersion '2.0' is not known here: the definition is read as 0.8",
        ],
    ),
    "0.8 as a number": (
        """
id: a
specVersion: 0.8
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_spec_version(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """A definition says which specification it follows."""
    assert found("spec-version", text.lstrip()) == expected
