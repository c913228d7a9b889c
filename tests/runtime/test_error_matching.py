"""Which errors of a definition cover which faults."""

import pytest

from swf_temporal.base.errors import (
    CallFailed,
    ExpressionFailed,
    ExpressionLimitExceeded,
    FatalFault,
    TimedOut,
    WorkflowFault,
)
from swf_temporal.languages.serverless_workflow.execution.retries import handler_of, handler_of_timeout
from swf_temporal.languages.serverless_workflow.model.states import OperationState
from swf_temporal.runtime.retrying import ErrorName, RetryRule, covers, is_named, no_jitter

STATE = OperationState.model_validate(
    {"name": "S", "type": "operation",
     "onErrors": [{"errorRefs": ["gone"]}, {"errorRefs": ["late", "busy"]}, {"errorRefs": ["any"]}]}
)  # fmt: skip
ERRORS: dict[str, tuple[str, str | None]] = {
    "gone": ("gone", "404"),
    "late": ("late", "TimedOut"),
    "busy": ("busy", "503"),
    "any": ("any", "*"),
}


@pytest.mark.parametrize(("name", "code", "fault"), [
    ("gone", "404", CallFailed(status=404)),
    ("gone", "HTTP:404", CallFailed(status=404)),
    ("gone", "HTTP 404", CallFailed(status=404)),
    ("gone", "E1", CallFailed(code="E1")),
    ("E1", None, CallFailed(code="E1")),
    ("OutOfStock", None, CallFailed(name="OutOfStock")),
    ("CallFailed", None, CallFailed(code="E1")),
    ("x", "OutOfStock", CallFailed(name="OutOfStock")),
    ("late", "TimedOut", TimedOut()),
    ("TimedOut", None, TimedOut()),
    ("wrong", "ExpressionFailed", ExpressionFailed()),
    ("missing", "NOT_FOUND", CallFailed(code="5")),
    ("missing", "5", CallFailed(code="5")),
    ("any", "*", CallFailed()),
    ("*", None, CallFailed()),
    ("DefaultErrorRef", None, CallFailed()),
    ("any", "java.lang.Exception", CallFailed()),
    ("any", "java.lang.RuntimeException", CallFailed()),
    ("text", "out of .+", CallFailed("we are out of paper")),
    ("text", "not (a regex", CallFailed("this is not (a regex")),
])  # fmt: skip
def test_covers(name: str, code: str | None, fault: WorkflowFault) -> None:
    """An error covers a fault by status, code, name, type, or a pattern in the message."""
    assert covers((name, code), fault)


@pytest.mark.parametrize(("name", "code", "fault"), [
    ("gone", "404", CallFailed(status=500)), ("gone", "40", CallFailed(status=404)), ("gone", None, CallFailed("gone")),
    ("gone", "paper", CallFailed("out of paper")), ("gone", "4..", CallFailed(status=404)),
    ("missing", "NOT_FOUND", CallFailed(code="404")), ("text", "out of ink", CallFailed("out of paper")),
])  # fmt: skip
def test_does_not_cover(name: str, code: str | None, fault: WorkflowFault) -> None:
    assert not covers((name, code), fault)


def test_takes_the_first_entry_that_covers() -> None:
    assert handler_of(STATE, ERRORS, CallFailed(status=404)) is STATE.on_errors[0]
    assert handler_of(STATE, ERRORS, CallFailed(status=503)) is STATE.on_errors[1]
    assert handler_of(STATE, ERRORS, CallFailed(status=500)) is STATE.on_errors[2]


def test_a_fatal_fault_is_never_caught() -> None:
    assert handler_of(STATE, ERRORS, FatalFault()) is None


def test_a_missed_event_needs_an_entry_that_names_it() -> None:
    assert handler_of_timeout(STATE, ERRORS, TimedOut()) is STATE.on_errors[1]
    assert handler_of_timeout(STATE, {"any": ("any", "*")}, TimedOut()) is None


def test_a_pattern_that_takes_for_ever_describes_nothing() -> None:
    assert covers(("slow", "(a|aa)+c"), CallFailed("aac"))
    assert not covers(("slow", "(a|aa)+c"), CallFailed("a" * 60 + "!"))
    rule = RetryRule(only=(("slow", "(a|aa)+c"),))
    assert rule.after(1, CallFailed("aac"), no_jitter) is not None
    assert rule.after(1, CallFailed("a" * 60 + "!"), no_jitter) is None


def test_a_pattern_that_takes_for_ever_is_fatal_in_a_workflow() -> None:
    """How busy the machine is decides nothing there: what cannot be told in time fails the run."""
    with pytest.raises(ExpressionLimitExceeded, match="whether an error is covered: it takes too long"):
        covers(("slow", "(a|aa)+c"), CallFailed("a" * 60 + "!"), slow_is_fatal=True)
    with pytest.raises(ExpressionLimitExceeded):
        RetryRule(only=(("slow", "(a|aa)+c"),)).covers(CallFailed("a" * 60 + "!"), slow_is_fatal=True)


def test_patterns_together_have_one_limit() -> None:
    """Once the time for all of them is over no pattern describes a fault; a run that is held up for long hangs."""
    errors: list[ErrorName] = [("slow", "(a|aa)+$")] * 40
    fault = CallFailed("a" * 60 + "!")
    assert is_named(fault, [("quick", "a!$"), *errors], slow_is_fatal=False)
    assert not is_named(fault, [*errors, ("quick", "a!$")], slow_is_fatal=False)
