"""The engine's policy says what the definition says, or there is none; no attempt comes before its time."""

import asyncio
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.serverless_workflow.execution.retries import rule_of
from swf_temporal.languages.serverless_workflow.model.definitions import Retry
from swf_temporal.runtime.external_activities import ExternalRetryPolicy
from swf_temporal.runtime.retrying import RetryRule, jitter_of
from swf_temporal.temporal.local_calls import policy_for, policy_of
from tests.temporal.building import operation
from tests.temporal.conftest import Bench, define

RULES = st.builds(
    RetryRule, delay=st.floats(0.001, 1000), multiplier=st.floats(1, 5), max_delay=st.none() | st.floats(0.001, 2000),
    max_attempts=st.none() | st.integers(1, 9),
)  # fmt: skip


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


TICK = 0.002
"""In seconds: how far the clocks of the server and of this process may be apart."""


RETRIES: list[tuple[dict[str, Any], list[float] | None]] = [
    ({"delay": "PT0.10S", "increment": "PT0.02S"}, [0.10, 0.12, 0.14, 0.16]),
    ({"delay": "PT0.10S", "multiplier": 2}, [0.10, 0.20, 0.40, 0.80]),
    ({"delay": "PT0.10S", "increment": "PT0.02S", "multiplier": 2}, [0.1, 0.24, 0.52, 1.08]),
    ({"delay": "PT0.10S", "multiplier": 4, "jitter": "PT0.01S", "maxDelay": "PT1S"}, None),
]


async def test_delays_as_the_service_sees_them(bench: Bench) -> None:
    """No attempt comes before its time: the specification's examples, a hundred times as fast."""
    times: dict[int, list[float]] = {number: [] for number in range(len(RETRIES))}
    definitions = [
        define(
            operation("Work", {"functionRef": {"refName": "work", "arguments": number}, "retryRef": "again"}),
            functions=("work",), retries=[{"name": "again", "maxAttempts": 5, **retry}], id=f"retry-{number}",
        )
        for number, (retry, _) in enumerate(RETRIES)
    ]  # fmt: skip

    def work(number: Any) -> JSON:
        times[number].append(asyncio.get_running_loop().time())
        raise CallFailed("still busy", code=503)

    async with bench.worker(*definitions, work=work) as worker:
        await asyncio.gather(*(worker.failure(definition=number) for number in times))

    keys = {number: key for _, number, key, _ in worker.scripted.calls if isinstance(number, int)}
    for number, (retry, delays) in enumerate(RETRIES):
        gaps = [later - earlier for earlier, later in pairwise(times[number])]
        expected = delays or _jittered({"name": "again", "maxAttempts": 5, **retry}, key=keys[number])
        assert all(gap >= least - TICK for gap, least in zip(gaps, expected, strict=True))


def _jittered(written: dict[str, Any], key: str) -> list[float]:
    rule = rule_of(Retry.model_validate(written), auto_retries=False, retryable=(), non_retryable=())
    assert rule is not None
    delays = [rule.delay_after(attempt, jitter_of(key)) for attempt in range(1, 5)]
    return [delay.total_seconds() for delay in delays if delay is not None]
