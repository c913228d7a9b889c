"""Events can be told apart and produced."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "nothing to tell it by": (
        """
id: a
specVersion: "0.8"
events:
- {name: e}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "4:3 error event 'e' has neither a type nor a source: every event would be taken for it",
        ],
    ),
    "produced without a type": (
        """
id: a
specVersion: "0.8"
events:
- {name: e, kind: produced, source: s}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "4:3 error event 'e' is produced, and has no type to be produced with",
        ],
    ),
    "consumed by its source": (
        """
id: a
specVersion: "0.8"
events:
- {name: e, source: s}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_event_definitions(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Events can be told apart and produced."""
    assert found("event-definition", text.lstrip()) == expected
