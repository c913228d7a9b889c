"""Custom functions that begin with a known word go on as it demands."""

from collections.abc import Callable

import pytest

FUNCTION = """
id: a
specVersion: "0.8"
functions:
- {{name: f, type: custom, operation: "{operation}"{more}}}
states:
- {{name: A, type: operation, actions: [{{functionRef: f}}], end: true}}
"""

FINE = [
    ("greet", ""),
    ("module:function", ""),
    ("sysout", ""),
    ("sysout:info", ""),
    ("script:python", ""),
    ("service:python:shop::charge", ""),
    ("rest:GET:https://example.com", ""),
    ("script:python:1 + 1", ""),
    ("temporal:ChargeCard", ""),
    ("temporal:workflow:Ship@warehouse", ", metadata: {startToCloseTimeout: PT1M}"),
    ("temporal:Charge@Card@payments", ", metadata: {startToCloseTimeout: PT1M, owner: shop}"),
    ("temporal:a@b", ", metadata: {retryPolicy: {initialInterval: PT1S, maximumAttempts: 0, backoffCoefficient: 1}}"),
]

WRONG = [
    ("temporal:", "", "4:38 error function 'f': the operation 'temporal:' names no activity"),
    ("temporal:@q", "", "names no activity: it is temporal:ACTIVITY@QUEUE"),
    ("temporal:workflow:@q", "", "names no workflow: it is temporal:workflow:NAME@QUEUE"),
    ("temporal:workflow:A", ", metadata: {heartbeatTimeout: PT1S}", "heartbeatTimeout is of activities, and 'A' is a"),
    ("temporal:a", ", metadata: {startToCloseTimeout: PT0S}", "startToCloseTimeout is 'PT0S', and must be"),
    ("temporal:a", ", metadata: {retryPolicy: often}", "retryPolicy must be an object with some of initial"),
    ("temporal:a", ", metadata: {retryPolicy: {attempts: 1}}", "retryPolicy has no 'attempts'; it has initial"),
    ("temporal:a", ", metadata: {retryPolicy: {maximumAttempts: -1}}", "maximumAttempts is -1, and must be a"),
    ("temporal:a", ", metadata: {retryPolicy: {backoffCoefficient: 0.5}}", "backoffCoefficient is 0.5, and"),
    ("temporal:a", ", metadata: {retryPolicy: {nonRetryableErrorTypes: A}}", "must be an array of texts"),
    ("temporal:a", ", metadata: {retryPolicy: {initialInterval: PT2S, maximumInterval: PT1S}}",
     "maximumInterval is shorter than initialInterval"),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "more"), FINE)
def test_operations_that_are_fine(found: Callable[[str, str], list[str]], operation: str, more: str) -> None:
    assert found("custom-operation", FUNCTION.format(operation=operation, more=more).lstrip()) == []


@pytest.mark.parametrize(("operation", "more", "told"), WRONG)
def test_operations_that_are_not(found: Callable[[str, str], list[str]], operation: str, more: str, told: str) -> None:
    [problem] = found("custom-operation", FUNCTION.format(operation=operation, more=more).lstrip())

    assert told in problem


@pytest.mark.parametrize("operation", ["knative:services/x", "camel:direct:x"])
def test_what_is_for_other_runtimes(found: Callable[[str, str], list[str]], operation: str) -> None:
    """It may still be the name of a Python function, so it is a warning, with what to do."""
    told = found("foreign-operation", FUNCTION.format(operation=operation, more=""))
    assert len(told) == 1
    assert told[0].startswith(f"5:38 warning function 'f': '{operation}' is a ")
    assert "'temporal:ACTIVITY@QUEUE'" in told[0]
