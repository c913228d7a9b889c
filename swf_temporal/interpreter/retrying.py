"""When is a failed action tried again, and after how long?

A rule is plain data, so that it can travel to where attempts are counted. Jitter is the only chance in it, and it
is drawn where the attempt is made, never inside a workflow.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from swf_temporal.durations import parse_duration
from swf_temporal.errors import WorkflowFault
from swf_temporal.interpreter.catching import ErrorName, is_named
from swf_temporal.model.definitions import Retry

DEFAULT_DELAY = 1.0
DEFAULT_MULTIPLIER = 2.0


@dataclass(frozen=True, slots=True)
class RetryRule:
    """How one action is tried again (sections "Retry Definition" and "Action retries"). Times are in seconds."""

    delay: float = DEFAULT_DELAY
    increment: float = 0.0
    multiplier: float = 1.0
    max_delay: float | None = None
    max_attempts: int | None = None
    """Counts the first attempt; None means no limit."""
    jitter: float = 0.0
    jitter_is_fraction: bool = False
    only: tuple[ErrorName, ...] = ()
    """retryableErrors, where given: nothing else is tried again."""
    never: tuple[ErrorName, ...] = ()
    """nonRetryableErrors."""

    def covers(self, fault: WorkflowFault) -> bool:
        """Tell whether this kind of fault is tried again at all."""
        if not (fault.catchable and fault.retryable) or is_named(fault, self.never):
            return False
        return not self.only or is_named(fault, self.only)

    def delay_after(self, attempt: int, draw: Callable[[], float] = random.random) -> timedelta | None:
        """Return how long to wait after the failure of *attempt* (counted from 1), or None to give up.

        Each delay is the one before plus the increment, times the multiplier. Jitter is added to the result and not
        carried on; the limit comes last. *draw* yields a number from 0 to 1.
        """
        if self.max_attempts is not None and attempt >= max(1, self.max_attempts):
            return None
        delay = self._unjittered(attempt)
        spread = delay * self.jitter if self.jitter_is_fraction else self.jitter
        if spread:
            delay += spread * (2 * draw() - 1)
        if self.max_delay is not None:
            delay = min(delay, self.max_delay)
        return timedelta(seconds=max(0.0, delay))

    def after(self, attempt: int, fault: WorkflowFault) -> timedelta | None:
        """Return how long to wait after *attempt* met *fault*, or None if it is not tried again."""
        return self.delay_after(attempt) if self.covers(fault) else None

    def to_json(self) -> dict[str, Any]:
        """Return the rule as JSON, without what says nothing."""
        facts = {
            "delay": self.delay, "increment": self.increment, "multiplier": self.multiplier,
            "max_delay": self.max_delay, "max_attempts": self.max_attempts, "jitter": self.jitter,
            "jitter_is_fraction": self.jitter_is_fraction, "only": list(self.only), "never": list(self.never),
        }  # fmt: skip
        said = {key: value for key, value in facts.items() if value not in (None, [], 0.0, False)}
        return said if self.max_delay is None else {**said, "max_delay": self.max_delay}

    @staticmethod
    def from_json(facts: dict[str, Any]) -> "RetryRule":
        """Return the rule that `to_json` wrote."""
        names = {key: tuple((name, code) for name, code in facts.get(key, ())) for key in ("only", "never")}
        numbers = {key: value for key, value in facts.items() if key not in names}
        return RetryRule(**{"delay": 0.0, "multiplier": 0.0, **numbers, **names})

    def _unjittered(self, attempt: int) -> float:
        delay = self.delay
        limit = self.max_delay
        for _ in range(attempt - 1):
            delay = (delay + self.increment) * self.multiplier
            if limit is not None and delay >= limit and self.multiplier >= 1:
                return limit
        return delay


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
        max_attempts=None if attempts is None else max(1, int(attempts)),
        jitter=jitter,
        jitter_is_fraction=is_fraction,
        only=() if auto_retries else tuple(retryable),
        never=tuple(non_retryable),
    )


def _growth(retry: Retry) -> tuple[float, float]:
    """Return increment and multiplier; a multiplier written as a duration is an increment, as in older texts."""
    increment = 0.0 if retry.increment is None else parse_duration(retry.increment).total_seconds()
    if isinstance(retry.multiplier, str) and retry.multiplier.lstrip("+").startswith("P"):
        return increment + parse_duration(retry.multiplier).total_seconds(), 1.0
    return increment, 1.0 if retry.multiplier is None else float(retry.multiplier)


def _jitter(jitter: float | str | None) -> tuple[float, bool]:
    if jitter is None:
        return 0.0, False
    if isinstance(jitter, str) and jitter.lstrip("+").startswith("P"):
        return parse_duration(jitter).total_seconds(), False
    return float(jitter), True
