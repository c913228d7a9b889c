"""Events are used as they are defined."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "the other way round": (
        """
id: a
specVersion: "0.8"
events: [{name: in, type: t}, {name: out, type: u, kind: produced}]
states:
- name: A
  type: event
  onEvents:
  - eventRefs: [in, out]
  end: {produceEvents: [{eventRef: in}]}
""",
        [
            "8:21 warning state 'A': the event 'out' is consumed here, but defined as produced",
            "9:36 warning state 'A': the event 'in' is produced here, but defined as consumed",
        ],
    ),
    "as defined": (
        """
id: a
specVersion: "0.8"
events: [{name: in, type: t}, {name: out, type: u, kind: produced}]
states:
- name: A
  type: event
  onEvents:
  - eventRefs: [in]
  end: {produceEvents: [{eventRef: out}]}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_event_kinds(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Events are used as they are defined."""
    assert found("event-kind", text.lstrip()) == expected
