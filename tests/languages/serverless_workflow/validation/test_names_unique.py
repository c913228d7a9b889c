"""Names are given once."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "states": (
        """
id: a
specVersion: "0.8"
states:
- {name: Z, type: inject, data: {}, end: true}
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "5:10 error there are several states named 'Z' | the first is at line 4",
        ],
    ),
    "definitions": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: "a#b"}, {name: f, operation: "a#b"}]
events: [{name: e, type: t}, {name: e, type: t}]
retries: [{name: r}, {name: r}]
errors: [{name: x}, {name: x}]
auth: [{name: l}, {name: l}]
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "3:49 error there are several functions named 'f' | the first is at line 3",
            "4:37 error there are several events named 'e' | the first is at line 4",
            "5:29 error there are several retries named 'r' | the first is at line 5",
            "6:28 error there are several errors named 'x' | the first is at line 6",
            "7:26 error there are several auth definitions named 'l' | the first is at line 7",
        ],
    ),
    "ids": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, id: x, type: inject, data: {}, transition: B}
- {name: B, id: x, type: inject, data: {}, end: true}
""",
        [
            "5:17 error there are several states with the id 'x' | the first is at line 4",
        ],
    ),
    "branches": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: parallel
  branches:
  - {name: b, actions: []}
  - {name: b, actions: []}
  end: true
""",
        [
            "8:12 error there are several branches named 'b' in state 'A' | the first is at line 7",
        ],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_names_unique(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Names are given once."""
    assert found("duplicate-name", text.lstrip()) == expected
