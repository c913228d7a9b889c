"""States that compensate stand apart from the control flow."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "the target is not marked": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: inject, data: {}, compensatedBy: B, transition: Z}
- {name: B, type: inject, data: {}}
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "4:52 error state 'A' is compensated by 'B', which is not usedForCompensation",
        ],
    ),
    "the control flow leads into it": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: inject, data: {}, compensatedBy: B, transition: B}
- {name: B, type: inject, data: {}, usedForCompensation: true}
""",
        [
            "4:67 error state 'A' leads to 'B', which is used for compensation only",
        ],
    ),
    "it leads out, ends, and is compensated itself": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: inject, data: {}, compensatedBy: B, end: true}
- name: B
  type: operation
  actions: []
  usedForCompensation: true
  compensatedBy: A
  transition: Z
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "9:3 error state 'B' is used for compensation and cannot be compensated itself",
            "9:18 error state 'B' is compensated by 'A', which is not usedForCompensation",
            "10:15 error state 'B' is used for compensation and cannot lead to 'Z', which is not",
        ],
    ),
    "it is an event state": (
        """
id: a
specVersion: "0.8"
events: [{name: e, type: t}]
states:
- {name: A, type: inject, data: {}, compensatedBy: B, end: true}
- name: B
  type: event
  usedForCompensation: true
  onEvents: [{eventRefs: [e]}]
""",
        [
            "7:9 error state 'B' is used for compensation and cannot be an event state",
        ],
    ),
    "the workflow starts in it": (
        """
id: a
specVersion: "0.8"
start: B
states:
- {name: A, type: inject, data: {}, compensatedBy: B, end: true}
- {name: B, type: inject, data: {}, usedForCompensation: true}
""",
        [
            "3:8 error the workflow starts in 'B', which is used for compensation only",
        ],
    ),
    "it has an end, which is ignored": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: inject, data: {}, compensatedBy: B, end: true}
- {name: B, type: inject, data: {}, usedForCompensation: true, end: true}
""",
        [
            "5:64 warning state 'B' is used for compensation: its end is ignored",
        ],
    ),
    "a chain of them": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: inject, data: {}, compensatedBy: B, end: {compensate: true}}
- {name: B, type: inject, data: {}, usedForCompensation: true, transition: C}
- {name: C, type: inject, data: {}, usedForCompensation: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_compensation(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """States that compensate stand apart from the control flow."""
    assert found("compensation", text.lstrip()) == expected
