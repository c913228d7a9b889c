"""The retry rule that a definition's retry strategy asks for (sections "Retry Definition" and "Action retries")."""

from collections.abc import Iterable, Sequence

from swf_temporal.base.durations import parse_duration
from swf_temporal.languages.serverless_workflow.model.definitions import Retry
from swf_temporal.runtime.error_matching import ErrorName
from swf_temporal.runtime.retrying import DEFAULT_DELAY, DEFAULT_MULTIPLIER, RetryRule


def rule_of(
    retry: Retry | None,
    *,
    auto_retries: bool,
    retryable: Sequence[ErrorName],
    non_retryable: Iterable[ErrorName],
) -> RetryRule | None:
    """Return the rule for an action, or None if nothing is tried again.

    Without autoRetries an action is tried again only if it names a retry definition: on its retryableErrors if it
    names any, else on every error. With autoRetries every action is, except on its nonRetryableErrors.
    """
    if retry is None:
        return RetryRule(multiplier=DEFAULT_MULTIPLIER, never=tuple(non_retryable)) if auto_retries else None
    jitter, is_fraction = _jitter(retry.jitter)
    increment, multiplier = _growth(retry)
    attempts = retry.max_attempts
    return RetryRule(
        delay=DEFAULT_DELAY if retry.delay is None else parse_duration(retry.delay).total_seconds(),
        increment=increment,
        multiplier=multiplier,
        max_delay=None if retry.max_delay is None else parse_duration(retry.max_delay).total_seconds(),
        max_attempts=None if attempts is None else max(1, int(attempts) + retry.counts_retries),
        jitter=jitter,
        jitter_is_fraction=is_fraction,
        only=() if auto_retries else tuple(retryable),
        never=tuple(non_retryable),
    )


def _growth(retry: Retry) -> tuple[float, float]:
    """Return increment and multiplier; a multiplier written as a duration is an increment, as in older texts."""
    increment = 0.0 if retry.increment is None else parse_duration(retry.increment).total_seconds()
    if isinstance(retry.multiplier, str) and retry.multiplier.startswith(("P", "+P")):
        return increment + parse_duration(retry.multiplier).total_seconds(), 1.0
    return increment, 1.0 if retry.multiplier is None else float(retry.multiplier)


def _jitter(jitter: float | str | None) -> tuple[float, bool]:
    if jitter is None:
        return 0.0, False
    if isinstance(jitter, str) and jitter.startswith(("P", "+P")):
        return parse_duration(jitter).total_seconds(), False
    return float(jitter), True
