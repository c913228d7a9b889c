"""Lists of errors are for the way of retrying that asks for them."""

from collections.abc import Callable

import pytest

DOCUMENT = """\
id: a
specVersion: "0.8"
autoRetries: {automatic}
functions: [{{name: f, type: custom}}]
errors: [{{name: E, code: e}}]
retries: [{{name: r, delay: PT1S}}]
states:
- {{name: A, type: operation, actions: [{{functionRef: f, {action}}}], end: true}}
"""


@pytest.mark.parametrize(
    ("automatic", "action", "told"),
    [
        ("false", "retryRef: r, retryableErrors: [E]", None),
        ("false", "retryableErrors: [E]", "retryableErrors has no effect without a retryRef"),
        ("false", "nonRetryableErrors: [E]", "nonRetryableErrors has no effect, as without autoRetries"),
        ("false", "retryRef: r, nonRetryableErrors: [E]", "nonRetryableErrors is for autoRetries: true"),
        ("true", "nonRetryableErrors: [E]", None),
        ("true", "retryRef: r, nonRetryableErrors: [E]", None),
        ("true", "retryableErrors: [E]", "retryableErrors has no effect with autoRetries"),
        ("true", "retryRef: r, retryableErrors: [E]", "retryableErrors has no effect with autoRetries"),
    ],
)
def test_retried_errors(found: Callable[[str, str], list[str]], automatic: str, action: str, told: str | None) -> None:
    """What has no effect, or has one only here, is told of once."""
    problems = found("retried-errors", DOCUMENT.format(automatic=automatic, action=action))
    assert [told in one and " warning state 'A': " in one for one in problems if told] == ([True] if told else [])
    assert bool(problems) is (told is not None)
