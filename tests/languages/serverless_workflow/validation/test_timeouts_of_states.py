"""What a state may limit, and by how much."""

from collections.abc import Callable

import pytest

TEXT = """
id: a
specVersion: "0.8"
functions: [{name: f, operation: "api#f"}]
states:
- {name: A, type: operation, actions: [{functionRef: f}], timeouts: {TIMEOUTS}, end: true}
""".lstrip()


def _with(timeouts: str) -> str:
    return TEXT.replace("TIMEOUTS", timeouts)


def test_a_state_can_limit_what_is_in_it(found: Callable[[str, str], list[str]]) -> None:
    nap = (
        "{name: A, type: sleep, duration: PT1M, timeouts: {stateExecTimeout: PT1M, actionExecTimeout: PT1S}, end: true}"
    )
    (told,) = found("unknown-property", f'id: a\nspecVersion: "0.8"\nstates: [{nap}]')
    assert told.split(" | ") == [
        "3:84 warning state 'A': 'actionExecTimeout' limits nothing in a state of the type sleep",
        "there is stateExecTimeout",
    ]


@pytest.mark.parametrize(
    ("body", "times", "told"),
    [
        ("type: event, onEvents: [{eventRefs: [e]}], end: true", "stateExecTimeout actionExecTimeout eventTimeout", []),
        ("type: callback, action: {functionRef: f}, eventRef: e, end: true", "actionExecTimeout eventTimeout", []),
        ("type: foreach, inputCollection: .l, actions: [{functionRef: f}], end: true", "actionExecTimeout", []),
        ("type: parallel, branches: [{name: B, actions: []}], end: true", "actionExecTimeout branchExecTimeout", []),
        ("type: switch, eventConditions: [{eventRef: e, end: true}]", "stateExecTimeout eventTimeout", []),
        ("type: switch, dataConditions: [{condition: .a, end: true}]", "stateExecTimeout eventTimeout",
         ["state 'A': 'eventTimeout' limits nothing in a switch without eventConditions"]),
        ("type: parallel, end: true, branches: [{name: B, actions: [], timeouts: {stateExecTimeout: PT1S}}]",
         "stateExecTimeout eventTimeout",
         ["branch 'B' of state 'A': 'stateExecTimeout' limits nothing in a branch",
          "state 'A': 'eventTimeout' limits nothing in a state of the type parallel"]),
    ],
)  # fmt: skip
def test_times_by_type(found: Callable[[str, str], list[str]], body: str, times: str, told: list[str]) -> None:
    """A time that limits something in a state of its type, or in a branch, is nothing to warn of."""
    timeouts = ", ".join(f"{time}: PT1M" for time in times.split())
    text = f'id: a\nspecVersion: "0.8"\nstates: [{{name: A, {body}, timeouts: {{{timeouts}}}}}]'
    messages = [one.partition(" | ")[0] for one in found("unknown-property", text)]
    assert [one.partition(" warning ")[2] for one in messages] == told


def test_a_state_needs_some_time(found: Callable[[str, str], list[str]]) -> None:
    """A moment is some time, and an action may have none."""
    assert found("duration", _with("stateExecTimeout: PT0.001S, actionExecTimeout: PT0S")) == []
