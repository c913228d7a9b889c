"""When a failed action is tried again, and after how long."""

import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.errors import CallFailed, StepLimitExceeded, WorkflowFault
from swf_temporal.languages.serverless_workflow.execution.error_data import public
from swf_temporal.languages.serverless_workflow.execution.retries import rule_of
from swf_temporal.languages.serverless_workflow.model.workflow import Retry
from swf_temporal.runtime.retrying import JitterSource, RetryRule, jitter_of, no_jitter


def _rule(**fields: object) -> RetryRule:
    retry = Retry.model_validate({"name": "r", **fields})
    rule = rule_of(retry, auto_retries=False, retryable=(), non_retryable=())
    assert rule is not None
    return rule


def _delays(rule: RetryRule, count: int = 4, draw: JitterSource = no_jitter) -> list[float]:
    delays = [rule.delay_after(attempt, draw) for attempt in range(1, count + 1)]
    return [delay.total_seconds() for delay in delays if delay is not None]


def _dealt(*numbers: float) -> JitterSource:
    return lambda attempt: numbers[attempt - 1]


@pytest.mark.parametrize(("fields", "delays"), [
    ({"delay": "PT10S", "increment": "PT2S"}, [10, 12, 14, 16]),
    ({"delay": "PT10S", "multiplier": 2}, [10, 20, 40, 80]),
    ({"delay": "PT10S", "multiplier": "2"}, [10, 20, 40, 80]),
    ({"delay": "PT10S", "increment": "PT5S", "multiplier": 2}, [10, 30, 70, 150]),
    ({"delay": "PT10S", "multiplier": "PT2S"}, [10, 12, 14, 16]),
    ({"delay": "PT10S", "multiplier": "+PT2S"}, [10, 12, 14, 16]),
    ({"delay": "PT10S", "multiplier": 10, "maxDelay": "PT1M"}, [10, 60, 60, 60]),
    ({"delay": "PT10S", "increment": "PT2S", "maxDelay": "PT15S"}, [10, 12, 14, 15]),
    ({"delay": "PT8S", "multiplier": 0.5}, [8, 4, 2, 1]),
    ({}, [1, 1, 1, 1]),
])  # fmt: skip
def test_delays(fields: dict[str, object], delays: list[float]) -> None:
    assert _delays(_rule(**fields)) == delays


@pytest.mark.parametrize(("attempts", "retries"), [(0, 0), (1, 0), (2, 1), ("3", 2), (None, 4)])
def test_max_attempts_counts_the_first(attempts: int | str | None, retries: int) -> None:
    assert len(_delays(_rule(maxAttempts=attempts))) == retries


def test_jitter_is_carried_on() -> None:
    rule = _rule(delay="PT10S", multiplier=4, jitter="PT1S", maxDelay="PT100S", maxAttempts=5)
    assert _delays(rule, draw=_dealt(1, 0, 0.5, 0)) == [11, 43, 100, 100]


@given(st.integers(1, 40), st.integers())
def test_jitter_never_wears_delays_down(attempt: int, seed: int) -> None:
    """However often a fraction was taken away before, a delay is as long as if it was taken away once."""
    delay = _rule(delay="PT10S", jitter=0.2).delay_after(attempt, jitter_of(str(seed)))
    assert delay is not None
    assert delay >= timedelta(seconds=8)


@given(st.text(), st.integers(1, 1000))
def test_jitter_is_deterministic(key: str, attempt: int) -> None:
    """The jitter of an attempt follows from the call's key and its number, and is between 0 and 1."""
    assert jitter_of(key)(attempt) == jitter_of(key)(attempt)
    assert 0 <= jitter_of(key)(attempt) < 1


def test_jitter_differs_between_calls() -> None:
    """No two calls, and no two attempts of a call, have the same jitter: retries are not synchronized."""
    jitter = {jitter_of(key)(attempt) for key in ("a", "b", "a 1") for attempt in range(1, 12)}
    assert len(jitter) == 33
    assert min(jitter) < 0.1
    assert max(jitter) > 0.9


def test_no_jitter_changes_nothing() -> None:
    assert _rule(delay="PT10S", jitter=0.5).delay_after(1) == timedelta(seconds=10)


def test_jitter_may_be_a_duration() -> None:
    for jitter in ("PT3S", "+PT3S"):
        rule = _rule(delay="PT10S", jitter=jitter)
        assert rule.delay_after(1, _dealt(0)) == timedelta(seconds=7)
        assert rule.delay_after(1, _dealt(1)) == timedelta(seconds=13)


def test_the_limit_comes_after_the_jitter() -> None:
    assert _rule(delay="PT10S", jitter=1, maxDelay="PT12S").delay_after(1, _dealt(1)) == timedelta(seconds=12)
    # Jitter comes before the limit: 10 s, four of them taken away, are still more than 5.
    assert _rule(delay="PT10S", jitter=0.4, maxDelay="PT5S").delay_after(1, _dealt(0)) == timedelta(seconds=5)
    assert _rule(delay="PT10S", jitter=0.4, maxDelay="PT5S").delay_after(2, _dealt(0, 0)) == timedelta(seconds=3)


def test_an_endless_series_does_not_overflow() -> None:
    assert _rule(delay="PT1S", multiplier=2, maxDelay="PT1H").delay_after(100_000) == timedelta(hours=1)
    assert _rule(delay="PT1S", multiplier=2).delay_after(100_000) == timedelta(days=36_500)


def test_without_auto_retries_only_a_retry_ref_retries() -> None:
    assert rule_of(None, auto_retries=False, retryable=(), non_retryable=()) is None


def test_auto_retries_double_without_end() -> None:
    rule = rule_of(None, auto_retries=True, retryable=(), non_retryable=())
    assert rule is not None
    assert _delays(rule) == [1, 2, 4, 8]
    assert rule.delay_after(20) is not None


def test_covers_what_is_listed() -> None:
    """RetryableErrors limit what is tried again, nonRetryableErrors exclude; fatal faults are never tried again."""
    rule = RetryRule(only=(("busy", "503"),), never=(("busy now", "busy"),))
    assert rule.covers(CallFailed(status=503))
    assert not rule.covers(CallFailed(status=503, code="busy"))
    assert not rule.covers(CallFailed(status=400))
    assert not rule.covers(CallFailed(status=503, retryable=False))
    assert not RetryRule().covers(StepLimitExceeded())


@pytest.mark.parametrize(("asked", "max_delay", "seconds"), [
    (None, None, 10), (5, None, 10), (60.5, None, 60.5), (60, "PT20S", 20), (1e300, None, 86_400),
    (172_800, "P3D", 172_800),
])  # fmt: skip
def test_a_service_is_left_alone(asked: float | None, max_delay: str | None, seconds: float) -> None:
    """What a service asks for makes a delay longer and never shorter, up to maxDelay or a day."""
    rule = _rule(delay="PT10S", maxDelay=max_delay)
    delay = rule.after(1, CallFailed(status=503, retry_after=asked), no_jitter)
    assert delay == timedelta(seconds=seconds)


def test_asking_for_time_is_not_asking_for_another_attempt() -> None:
    rule = _rule(maxAttempts=2)
    assert rule.after(2, CallFailed(status=503, retry_after=1), no_jitter) is None
    assert rule.after(1, CallFailed(status=503, retry_after=1, retryable=False), no_jitter) is None


def test_what_a_service_asks_for_travels_with_the_fault() -> None:
    fault = CallFailed(status=503, retry_after=2.5)
    assert WorkflowFault.from_json(fault.to_json()).retry_after == 2.5
    assert "retry_after" not in CallFailed(status=503).to_json()
    assert "retry_after" not in public(fault)


@given(
    st.builds(
        RetryRule,
        delay=st.floats(0, 1e6),
        increment=st.floats(0, 1e6),
        multiplier=st.floats(0, 10),
        max_delay=st.none() | st.floats(0, 1e6),
        max_attempts=st.none() | st.integers(1, 9),
        jitter=st.floats(0, 1),
        jitter_is_fraction=st.booleans(),
        only=st.just((("a", "1"), ("b", None))),
        never=st.just((("c", None),)),
    )
)
def test_travels_as_json(rule: RetryRule) -> None:
    """A rule is the same after it was written as JSON and read again, and is for the same errors."""
    written = json.loads(json.dumps(rule.to_json()))
    read = RetryRule.from_json(written)
    assert read.to_json() == written
    for fault in (CallFailed(name="a"), CallFailed(code="1"), CallFailed(name="c"), CallFailed()):
        assert read.covers(fault) == rule.covers(fault)
        assert read.delay_after(1) == rule.delay_after(1)


def test_travels_without_what_says_nothing() -> None:
    assert _rule(delay="PT2S").to_json() == {"delay": 2.0}
