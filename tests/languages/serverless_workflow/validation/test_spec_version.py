"""A definition says which specification it follows."""

from collections.abc import Callable

import pytest

READ = "the definition is read as 0.8, the version that runs here"
OTHER = "write '0.8' once it runs as you mean it"
LATER = "1.0 is another language, with 'document' and 'do', and does not run here; this looks like 0.8: write that"

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
            f"2:14 warning specVersion is '2.0': {READ} | {OTHER}",
        ],
    ),
    "the one before": (
        """
id: a
specVersion: "0.7"
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            f"2:14 warning specVersion is '0.7': {READ} | {OTHER}",
        ],
    ),
    "that of another language": (
        """
id: a
specVersion: 1.0.0
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            f"2:14 warning specVersion is '1.0.0': {READ} | {LATER}",
        ],
    ),
    "a patch": (
        """
id: a
specVersion: "0.8.1"
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [],
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
