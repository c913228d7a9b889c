"""The retry rule for a definition's retry strategy (sections "Retry Definition" and "Action retries")."""

from collections.abc import Iterable, Sequence

from swf_temporal.base.durations import parse_duration
from swf_temporal.base.errors import TimedOut, WorkflowFault
from swf_temporal.languages.serverless_workflow.model.definitions import Retry
from swf_temporal.languages.serverless_workflow.model.states import OnError, StateBase
from swf_temporal.runtime.retrying import (
    DEFAULT_DELAY,
    DEFAULT_MULTIPLIER,
    ErrorName,
    RetryRule,
    covers,
    describes,
    is_called,
)


def rule_of(
    retry: Retry | None,
    *,
    auto_retries: bool,
    retryable: Sequence[ErrorName],
    non_retryable: Iterable[ErrorName],
) -> RetryRule | None:
    """Return the rule for an action, or None if it is not retried.

    Without autoRetries an action is retried only if it names a retry definition: on its retryableErrors if it names
    any, else on every error. With autoRetries every action is retried, except on its nonRetryableErrors.
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


def handler_of(
    state: StateBase, errors: dict[str, ErrorName], fault: WorkflowFault, *, closest: bool = False
) -> OnError | None:
    """Return the first onErrors entry of *state* that covers *fault*, in the order written.

    With *closest*, an entry with its name or code comes first, then one with a pattern. Raises ExpressionLimitExceeded
    if matching takes too long.
    """
    if not fault.catchable:
        return None
    named = [(entry, _names(entry, errors)) for entry in state.on_errors]
    if closest:
        for is_close in (is_called, describes):
            for entry, names in named:
                if any(is_close(name, fault) for name in names):
                    return entry
    return next((one for one, names in named if any(covers(name, fault, slow_is_fatal=True) for name in names)), None)


def handler_of_timeout(state: StateBase, errors: dict[str, ErrorName], fault: TimedOut) -> OnError | None:
    """Return the onErrors entry that names the timeout.

    A missed event is an error only if the author says so; an entry that merely catches everything does not say so.
    """
    return next((one for one in state.on_errors if any(fault.name in name for name in _names(one, errors))), None)


def _names(entry: OnError, errors: dict[str, ErrorName]) -> list[ErrorName]:
    return [(ref, entry.code) if entry.code is not None else errors.get(ref, (ref, None)) for ref in entry.error_refs]
