"""Durations are in ISO 8601."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "seconds in short": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: sleep, duration: 10s, end: true}
""",
        [
            "4:36 error state 'A': duration '10s' is not a duration in ISO 8601 | did you mean 'PT10S'?",
        ],
    ),
    "in words": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: sleep, duration: 5 minutes, end: true}
""",
        [
            "4:36 error state 'A': duration '5 minutes' is not a duration in ISO 8601 | did you mean 'PT5M'?",
        ],
    ),
    "days": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: sleep, duration: 2d, end: true}
""",
        [
            "4:36 error state 'A': duration '2d' is not a duration in ISO 8601 | did you mean 'P2D'?",
        ],
    ),
    "in lower case": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: sleep, duration: pt5m, end: true}
""",
        [
            "4:36 error state 'A': duration 'pt5m' is not a duration in ISO 8601 | did you mean 'PT5M'?",
        ],
    ),
    "nothing like one": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: sleep, duration: soon, end: true}
""",
        [
            "4:36 error state 'A': duration 'soon' is not a duration in ISO 8601 | such as PT15M or P1DT12H",
        ],
    ),
    "negative": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: sleep, duration: -PT5M, end: true}
""",
        [
            "4:36 error state 'A': duration '-PT5M' is negative",
        ],
    ),
    "an expression": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: sleep, duration: "${ .wait }", end: true}
""",
        [],
    ),
    "everywhere": (
        """
id: a
specVersion: "0.8"
timeouts: {workflowExecTimeout: a, stateExecTimeout: b, eventTimeout: c}
retries: [{name: r, delay: d, maxDelay: e, increment: f}]
events: [{name: e, type: t, kind: produced}, {name: g, type: t}]
states:
- name: A
  type: operation
  timeouts: {actionExecTimeout: g}
  actions:
  - sleep: {before: h, after: i}
    retryRef: r
    eventRef: {produceEventRef: e, consumeEventRef: g, consumeEventTimeout: j}
  end: {continueAs: {workflowId: w, workflowExecTimeout: {duration: k}}}
""",
        [
            "3:33 error the workflow: duration 'a' is not a duration in ISO 8601 | such as PT15M or P1DT12H",
            ("3:54 error the workflow: stateExecTimeout 'b' is not a duration in ISO 8601 | such as PT15M or P1DT12H"),
            "3:71 error the workflow: eventTimeout 'c' is not a duration in ISO 8601 | such as PT15M or P1DT12H",
            "4:28 error retry 'r': delay 'd' is not a duration in ISO 8601 | such as PT15M or P1DT12H",
            "4:41 error retry 'r': maxDelay 'e' is not a duration in ISO 8601 | such as PT15M or P1DT12H",
            "4:55 error retry 'r': increment 'f' is not a duration in ISO 8601 | such as PT15M or P1DT12H",
            ("9:33 error state 'A': actionExecTimeout 'g' is not a duration in ISO 8601 | such as PT15M or P1DT12H"),
            "11:21 error state 'A': before 'h' is not a duration in ISO 8601 | such as PT15M or P1DT12H",
            "11:31 error state 'A': after 'i' is not a duration in ISO 8601 | such as PT15M or P1DT12H",
            ("13:77 error state 'A': consumeEventTimeout 'j' is not a duration in ISO 8601 | such as PT15M or P1DT12H"),
            ("14:58 error state 'A': workflowExecTimeout 'k' is not a duration in ISO 8601 | such as PT15M or P1DT12H"),
        ],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_durations(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Durations are in ISO 8601."""
    assert found("duration", text.lstrip()) == expected
