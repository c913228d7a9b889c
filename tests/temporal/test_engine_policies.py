"""The engine's policy says what the definition says, or there is none."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.errors import CallFailed
from swf_temporal.runtime.external_activities import ExternalRetryPolicy
from swf_temporal.runtime.retrying import RetryRule
from swf_temporal.temporal.local_calls import policy_for, policy_of

RULES = st.builds(
    RetryRule,
    delay=st.floats(0.001, 1000),
    multiplier=st.floats(1, 5),
    max_delay=st.none() | st.floats(0.001, 2000),
    max_attempts=st.none() | st.integers(1, 9),
)


@given(RULES, st.integers(1, 12))
def test_a_policy_has_the_rules_delays(rule: RetryRule, attempt: int) -> None:
    """What the engine reckons after each attempt is what the rule says, or neither tries again."""
    policy = policy_for(rule)

    assert policy is not None
    delay = rule.delay_after(attempt)
    if policy.maximum_attempts and attempt >= policy.maximum_attempts:
        assert delay is None
    else:
        assert delay is not None
        assert policy.maximum_interval is not None
        reckoned = policy.initial_interval.total_seconds() * policy.backoff_coefficient ** (attempt - 1)
        longest = policy.maximum_interval.total_seconds()
        assert min(reckoned, longest) == pytest.approx(delay.total_seconds(), rel=1e-3)


@pytest.mark.parametrize(
    "rule",
    [
        RetryRule(increment=1),
        RetryRule(jitter=0.1),
        RetryRule(multiplier=0.5),
        RetryRule(only=(("busy", None),)),
        RetryRule(never=(("busy", "is .* busy"),)),
    ],
)
def test_what_the_engine_cannot_say_has_no_policy(rule: RetryRule) -> None:
    assert policy_for(rule) is None


@pytest.mark.parametrize(
    "rule", [None, RetryRule(never=(("any", "*"),))], ids=["no rule", "an error that is all errors"]
)
def test_one_attempt(rule: RetryRule | None) -> None:
    """The engine's own default would try without end."""
    policy = policy_for(rule)
    assert policy is not None
    assert policy.maximum_attempts == 1


def test_no_delay_stays_none() -> None:
    """The engine takes no delay for its own default, and would let it grow."""
    policy = policy_for(RetryRule(delay=0, multiplier=3))

    assert policy is not None
    assert policy.initial_interval == policy.maximum_interval == timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("name", "code", "types"),
    [
        ("busy", None, {"busy"}),
        ("busy", "Busy", {"busy", "Busy"}),
        ("gone", "HTTP:410", {"gone", "HTTP:410", "410"}),
        ("missing", "NOT_FOUND", {"missing", "NOT_FOUND", "5"}),
        ("missing", "5", {"missing", "NOT_FOUND", "5"}),
        ("late", "Timeout", {"late", "Timeout", "TemporalTimeout:StartToClose"}),
        ("lost", "Lost", {"lost", "Lost", "TemporalTimeout:Heartbeat"}),
    ],
)
def test_errors_that_are_not_tried_again(name: str, code: str | None, types: set[str]) -> None:
    """Each way in which an error may be known is told to the engine, and all of them are the rule's."""
    rule = RetryRule(never=((name, code),))
    policy = policy_for(rule)

    assert policy is not None
    assert set(policy.non_retryable_error_types or ()) == types
    assert not any(rule.covers(CallFailed(name=one, code=one)) for one in types if not one.startswith("Temporal"))


def test_a_policy_of_ones_own_has_the_engines_defaults() -> None:
    policy = policy_of(ExternalRetryPolicy(maximum_attempts=2, never=("Declined",)))

    assert policy.initial_interval == timedelta(seconds=1)
    assert (policy.backoff_coefficient, policy.maximum_interval, policy.maximum_attempts) == (2.0, None, 2)
    assert policy.non_retryable_error_types == ["Declined"]
    assert policy_of(ExternalRetryPolicy(maximum_interval=timedelta(seconds=0.5))).initial_interval == timedelta(
        seconds=0.5
    )
