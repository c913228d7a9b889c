"""Events that are awaited or produced are defined."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "in an event state": (
        """
id: a
specVersion: "0.8"
events: [{name: in, type: t}, {name: out, type: u, kind: produced}]
states:
- name: A
  type: event
  onEvents:
  - eventRefs:
    - in
    - inn
  end: {produceEvents: [{eventRef: outt}]}
""",
        [
            "10:7 error state 'A' refers to the event 'inn', which is not defined | did you mean 'in'?",
            "11:36 error state 'A' refers to the event 'outt', which is not defined | did you mean 'out'?",
        ],
    ),
    "in an action": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: operation
  actions:
  - eventRef: {triggerEventRef: a, resultEventRef: b}
  end: true
""",
        [
            "7:33 error state 'A' refers to the event 'a', which is not defined",
            "7:52 error state 'A' refers to the event 'b', which is not defined",
        ],
    ),
    "in a switch": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: switch
  eventConditions:
  - {name: yes, eventRef: x, end: true}
""",
        [
            "7:27 error condition 'yes' of state 'A' refers to the event 'x', which is not defined",
        ],
    ),
    "in a callback": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: callback, action: {subFlowRef: s}, eventRef: x, end: true}
""",
        [
            "4:64 error state 'A' refers to the event 'x', which is not defined",
        ],
    ),
    "elsewhere, in a file that is not there": (
        """
id: a
specVersion: "0.8"
events: file://events.json
states:
- {name: A, type: callback, action: {subFlowRef: s}, eventRef: x, end: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_events_defined(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Events that are awaited or produced are defined."""
    assert found("event-undefined", text.lstrip()) == expected
