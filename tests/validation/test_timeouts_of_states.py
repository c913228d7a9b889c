"""What a state may limit, and by how much."""

from collections.abc import Callable

TEXT = """
id: a
specVersion: "0.8"
functions: [{name: f, operation: "api#f"}]
states:
- {name: A, type: operation, actions: [{functionRef: f}], timeouts: {TIMEOUTS}, end: true}
""".lstrip()


def _with(timeouts: str) -> str:
    return TEXT.replace("TIMEOUTS", timeouts)


def test_a_state_cannot_limit_the_workflow(found: Callable[[str, str], list[str]]) -> None:
    """The time of the whole workflow is none of the properties of a state."""
    assert found("unknown-property", _with("workflowExecTimeout: PT1S")) == [
        "5:70 warning state 'A': 'workflowExecTimeout' is not a property that is known here"
    ]


def test_a_state_needs_some_time(found: Callable[[str, str], list[str]]) -> None:
    """The time of a state is longer than nothing."""
    assert found("duration", _with("stateExecTimeout: PT0S")) == [
        "5:88 error state 'A': stateExecTimeout 'PT0S' is no time at all"
    ]
    assert found("duration", _with("stateExecTimeout: PT0.001S, actionExecTimeout: PT0S")) == []
