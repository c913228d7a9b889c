"""Durations are in ISO 8601, wherever one stands."""

from collections.abc import Callable

import pytest

SLEEP = 'id: a\nspecVersion: "0.8"\nstates:\n- {{name: A, type: sleep, duration: {duration}, end: true}}\n'

EVERYWHERE = """\
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
"""


@pytest.mark.parametrize(
    ("duration", "meant"),
    [("10s", "PT10S"), ("5 minutes", "PT5M"), ("2d", "P2D"), ("pt5m", "PT5M"), ("3 weeks", "P3W")],
)
def test_what_is_meant(found: Callable[[str, str], list[str]], duration: str, meant: str) -> None:
    """One that is written in another way is refused with the way in which it is written here."""
    assert found("duration", SLEEP.format(duration=duration)) == [
        f"4:36 error state 'A': duration {duration!r} is not a duration in ISO 8601 | did you mean {meant!r}?"
    ]


def test_one_too_long(found: Callable[[str, str], list[str]]) -> None:
    [problem] = found("duration", SLEEP.format(duration="PT99999999999H"))
    assert "duration 'PT99999999999H' is longer than 999,999,999 days" in problem


def test_an_expression(found: Callable[[str, str], list[str]]) -> None:
    assert found("duration", SLEEP.format(duration='"${ .wait }"')) == []


def test_everywhere(found: Callable[[str, str], list[str]]) -> None:
    assert [one.partition(" is not a duration")[0] for one in found("duration", EVERYWHERE)] == [
        "3:33 error the workflow: duration 'a'", "3:54 error the workflow: stateExecTimeout 'b'",
        "3:71 error the workflow: eventTimeout 'c'", "4:28 error retry 'r': delay 'd'",
        "4:41 error retry 'r': maxDelay 'e'", "4:55 error retry 'r': increment 'f'",
        "9:33 error state 'A': actionExecTimeout 'g'", "11:21 error state 'A': before 'h'",
        "11:31 error state 'A': after 'i'", "13:77 error state 'A': consumeEventTimeout 'j'",
        "14:58 error state 'A': workflowExecTimeout 'k'",
    ]  # fmt: skip
