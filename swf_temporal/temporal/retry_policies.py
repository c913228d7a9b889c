"""Temporal's retry policies: of activities of other workers, and of attempts of ours that were lost."""

import re
from collections.abc import Iterator
from datetime import timedelta
from functools import lru_cache
from typing import Any

from temporalio.api.common.v1 import RetryPolicy as RetryPolicyRecord
from temporalio.common import RetryPolicy

from swf_temporal.base.errors import CallFailed
from swf_temporal.runtime.error_matching import CATCH_ALL, GRPC_STATUSES, ErrorName
from swf_temporal.runtime.external_activities import ExternalRetryPolicy
from swf_temporal.runtime.retrying import MAX_DELAY, RetryRule

ONCE = RetryPolicy(maximum_attempts=1)

_MIN_INTERVAL = 0.001
"""Seconds. The engine takes a delay of nothing for none at all, and falls back on its own."""

_MAX_PAUSE = 100.0
"""Seconds before a lost attempt is made again where the definition sets no limit."""

_TIMEOUTS = {"Timeout": "TemporalTimeout:StartToClose", "Lost": "TemporalTimeout:Heartbeat"}
"""The server's kinds of timeouts, by the codes of the faults that they cause."""


def policy_of(policy: ExternalRetryPolicy) -> RetryPolicy:
    """Return the policy that a function's own metadata asks for."""
    maximum = policy.maximum_interval
    usual = timedelta(seconds=1)
    return RetryPolicy(
        # The engine refuses a first pause that is longer than the longest.
        initial_interval=policy.initial_interval or min(usual, maximum or usual),
        backoff_coefficient=2.0 if policy.backoff_coefficient is None else policy.backoff_coefficient,
        maximum_interval=maximum,
        maximum_attempts=policy.maximum_attempts or 0,
        non_retryable_error_types=list(policy.never),
    )


class _Policy(RetryPolicy):
    """A retry policy that is written once, and not anew for every call."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._written = RetryPolicyRecord()
        super().apply_to_proto(self._written)

    def apply_to_proto(self, proto: RetryPolicyRecord) -> None:
        proto.CopyFrom(self._written)


def policy_of_lost(retry: RetryRule | None) -> RetryPolicy:
    """Return what the engine goes by where an attempt was lost and could not say itself when the next is due."""
    return _policy_of_lost(retry.delay if retry else 1.0, (retry and retry.max_delay) or _MAX_PAUSE)


@lru_cache(maxsize=512)
def _policy_of_lost(delay: float, longest: float) -> RetryPolicy:
    first = max(_MIN_INTERVAL, delay)
    return _Policy(
        initial_interval=timedelta(seconds=first),
        # The engine refuses a policy whose first pause is longer than its longest.
        maximum_interval=timedelta(seconds=max(first, longest)),
        non_retryable_error_types=["PayloadsTooLarge"],
    )


def policy_for(rule: RetryRule | None) -> RetryPolicy | None:
    """Return the policy with the same delays, for the same errors, as *rule*; None if there is none."""
    if rule is None:
        return ONCE
    if any(name in CATCH_ALL or code in CATCH_ALL for name, code in rule.never):
        return ONCE
    names_too_little = rule.only or rule.condition is not None or any(map(_is_by_message, rule.never))
    if rule.increment or rule.jitter or rule.multiplier < 1 or names_too_little:
        return None
    longest = MAX_DELAY if rule.max_delay is None else min(rule.max_delay, MAX_DELAY)
    first = min(rule.delay, longest)
    # Nothing grows to nothing, and so must what stands for it.
    is_nothing = first < _MIN_INTERVAL
    return RetryPolicy(
        initial_interval=timedelta(seconds=_MIN_INTERVAL if is_nothing else first),
        backoff_coefficient=1.0 if is_nothing else rule.multiplier,
        maximum_interval=timedelta(seconds=_MIN_INTERVAL if is_nothing else longest),
        maximum_attempts=rule.max_attempts or 0,
        non_retryable_error_types=list(dict.fromkeys(_types(rule))),
    )


def _is_by_message(error: ErrorName) -> bool:
    """Tell whether an error is known by its message, since its code is not a single word."""
    code = error[1]
    return code is not None and re.fullmatch(r"[\w.:-]+", code) is None


def _types(rule: RetryRule) -> Iterator[str]:
    """Yield the types of errors that *rule* does not try again."""
    for word in (word for error in rule.never for word in error if word is not None):
        yield word
        yield word.removeprefix("HTTP:")
        if word in GRPC_STATUSES:
            yield str(GRPC_STATUSES.index(word))
        elif word.isdecimal() and int(word) < len(GRPC_STATUSES):
            yield GRPC_STATUSES[int(word)]
    for code, name in _TIMEOUTS.items():
        if not rule.covers(CallFailed(code=code)):
            yield name
