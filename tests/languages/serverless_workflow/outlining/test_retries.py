"""Do the words and delays of a retry say what the interpreter does?"""

import pytest

from swf_temporal.languages.serverless_workflow.outlining import facts_of_retries
from tests.languages.serverless_workflow.models import load_model


def told(retry: str, more: str = "") -> list[tuple[str | None, list[float] | None, str]]:
    """Return name, delays and words of what is told of a workflow with *retry*."""
    workflow = load_model(
        f"id: a\nretries: [{retry}]\n{more}\nstates: [{{name: S, type: inject, data: {{}}, end: true}}]\n"
    )
    return [(one["name"], one.get("delays"), one["words"]) for one in facts_of_retries(workflow)]


@pytest.mark.parametrize(
    ("written", "delays", "words"),
    [
        ("delay: PT0.5S, maxAttempts: 3", [0.5, 0.5], "3 attempts in all, after 500 ms, 500 ms"),
        ("maxAttempts: 1", [], "not retried"),
        ("delay: PT1M, multiplier: 3", [60, 180, 540, 1620, 4860],
         "without limit, after 1 min, 3 min, 9 min, 27 min, 1 h 21 min …"),
        ("delay: PT1S, increment: PT2S, maxAttempts: 9, maxDelay: PT6S", [1, 3, 5, 6, 6],
         "9 attempts in all, after 1 s, 3 s, 5 s, 6 s, 6 s …, never more than 6 s"),
        ("delay: PT1S, jitter: 0.2, maxAttempts: 2", [1],
         "2 attempts in all, after 1 s, each up to 20% sooner or later"),
        ("delay: PT1S, jitter: PT0.5S, maxAttempts: 2", [1],
         "2 attempts in all, after 1 s, each up to 500 ms sooner or later"),
    ],
)  # fmt: skip
def test_retry(written: str, delays: list[float], words: str) -> None:
    """A retry is told by its attempts and first delays, without the chance in them."""
    assert told(f"{{name: r, {written}}}") == [("r", delays, words)]


def test_auto_retries() -> None:
    assert told("", "autoRetries: true") == [
        (None, [1, 2, 4, 8, 16], "without limit, after 1 s, 2 s, 4 s, 8 s, 16 s …")
    ]
