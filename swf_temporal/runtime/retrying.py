"""Retry rules: when a failed action is tried again, and after how long.

A rule is plain data, so that it can be passed to where attempts are counted. Its only random part is jitter. The jitter
of an attempt is derived from the call's key and the attempt's number, so that the worker that makes a later attempt
knows the jitter of the earlier ones.

An error is known by its name and, if it has one, its code (section "Defining Errors"). The specification leaves open
what a code is, so all usual forms are accepted: an HTTP status (`404`, `HTTP:404`), a gRPC status by name or
number, the name of one of our own faults, the type of an application error, or, if the code is not a single word,
a regular expression that is searched for in the message.

Whether a pattern matches in time depends on how busy the machine is. In workflow code that must not decide the course
of a run: there *slow_is_fatal*, and the run fails with ExpressionLimitExceeded. In an activity, where attempts are
counted, the decision is recorded, and a pattern that takes too long covers nothing.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeAlias, TypeVar

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionLimitExceeded, WorkflowFault
from swf_temporal.base.records import Record
from swf_temporal.expressions.patterns import BadPattern, PatternTooSlow, matches_somewhere, one_limit

ErrorName: TypeAlias = tuple[str, str | None]
"""An error's name and its code."""

CATCH_ALL = frozenset(
    {"*", "DefaultErrorRef", "java.lang.Throwable", "java.lang.Exception", "java.lang.RuntimeException"}
)
"""The names that stand for any error; all but the first come from other runtimes."""

GRPC_STATUSES = (
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
    "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip
_GRPC_NUMBER = {name: str(number) for number, name in enumerate(GRPC_STATUSES)}


def covers(error: ErrorName, fault: WorkflowFault, *, slow_is_fatal: bool = False) -> bool:
    name, code = error
    if name in CATCH_ALL or code in CATCH_ALL:
        return True
    return _is(name, fault) or (
        code is not None and (_is(code, fault) or _describes(code, fault, slow_is_fatal=slow_is_fatal))
    )


def is_called(error: ErrorName, fault: WorkflowFault) -> bool:
    """Return whether *fault* has the name or the code of *error*."""
    name, code = error
    return _is(name, fault) or (code is not None and _is(code, fault))


def describes(error: ErrorName, fault: WorkflowFault) -> bool:
    """Return whether the code of *error* is a pattern that matches in the message of *fault*."""
    code = error[1]
    return code is not None and code not in CATCH_ALL and _describes(code, fault, slow_is_fatal=True)


def is_named(fault: WorkflowFault, errors: Iterable[ErrorName], *, slow_is_fatal: bool) -> bool:
    with one_limit():
        return any(covers(error, fault, slow_is_fatal=slow_is_fatal) for error in errors)


def names_of(refs: Sequence[str], errors: dict[str, ErrorName]) -> tuple[ErrorName, ...]:
    return tuple(errors.get(ref, (ref, None)) for ref in refs)


def _is(word: str, fault: WorkflowFault) -> bool:
    if word in (fault.name, fault.code):
        return True
    plain = word.removeprefix("HTTP:").removeprefix("HTTP ")
    if plain in (fault.code, str(fault.status)):
        return True
    number, code = _GRPC_NUMBER.get(word), fault.code
    return (number is not None and number == code) or _GRPC_NUMBER.get(code) == word


def _describes(code: str, fault: WorkflowFault, *, slow_is_fatal: bool) -> bool:
    if re.fullmatch(r"[\w.:-]+", code):
        return False
    try:
        return matches_somewhere(code, fault.message)
    except BadPattern:
        return code in fault.message
    except PatternTooSlow as slow:
        if slow_is_fatal:
            raise ExpressionLimitExceeded(f"whether an error is covered: {slow}") from None
        return False


DEFAULT_DELAY = 1.0
DEFAULT_MULTIPLIER = 2.0
MAX_DELAY = 100 * 365 * 86_400.0
"""In seconds. A multiplier that is applied often enough would exceed the range of any clock."""
MAX_RETRY_AFTER = 86_400.0
"""The maximum delay, in seconds, that a service can request if the definition sets no limit."""
MAX_CARRIED = 64
"""The number of latest attempts whose jitter is accumulated: computing it for a call retried for days stays cheap."""

JitterSource: TypeAlias = Callable[[int], float]
"""The random number of each attempt, from 0 to 1, always the same for the same attempt."""
Holds: TypeAlias = Callable[[JSON, WorkflowFault], bool]
"""A function that evaluates a condition on a fault, in the language of the condition."""


def jitter_of(key: str) -> JitterSource:
    """Return the deterministic jitter of the call *key*."""

    def jitter(attempt: int) -> float:
        digest = hashlib.sha256(f"{key} {attempt}".encode()).digest()
        return int.from_bytes(digest[:7]) / 2**56

    return jitter


def no_jitter(_attempt: int) -> float:
    """Return the middle of the range, with which jitter changes nothing."""
    return 0.5


@dataclass(slots=True)
class RetryRule(Record):
    """The retry rule of one action (sections "Retry Definition" and "Action retries"). Times are in seconds."""

    delay: float = DEFAULT_DELAY
    increment: float = 0.0
    multiplier: float = 1.0
    max_delay: float | None = None
    max_attempts: int | None = None
    """Includes the first attempt; None means no limit."""
    jitter: float = 0.0
    jitter_is_fraction: bool = False
    only: Sequence[ErrorName] = ()
    """retryableErrors, if given: no other errors are retried."""
    never: Sequence[ErrorName] = ()
    """nonRetryableErrors."""
    condition: JSON = None
    """A further condition on the error, in the form of the language; None means none."""

    def covers(self, fault: WorkflowFault, *, slow_is_fatal: bool = False, holds: Holds | None = None) -> bool:
        """Return whether this kind of fault is retried at all; the module's docstring explains *slow_is_fatal*.

        *holds* evaluates the rule's condition, if it has one.
        """
        if self.condition is not None and not (holds is not None and holds(self.condition, fault)):
            return False
        if not (fault.catchable and fault.retryable) or is_named(fault, self.never, slow_is_fatal=slow_is_fatal):
            return False
        return not self.only or is_named(fault, self.only, slow_is_fatal=slow_is_fatal)

    def delay_after(self, attempt: int, jitter: JitterSource = no_jitter) -> timedelta | None:
        """Return how long to wait after the failure of *attempt* (counted from 1), or None to give up.

        Each delay is the one before, with its jitter, plus the increment, times the multiplier. Then *jitter* is
        applied, and last the limit.
        """
        if self.max_attempts is not None and attempt >= max(1, self.max_attempts):
            return None
        first = max(1, attempt - MAX_CARRIED) if self.jitter else attempt
        plain = self._unjittered(first)
        delay = self._jittered(plain, plain, jitter(first))
        for number in range(first + 1, attempt + 1):
            plain = self._grown(min(plain, self._limit))
            delay = self._jittered(self._grown(delay), plain, jitter(number))
        return timedelta(seconds=delay)

    def after(
        self,
        attempt: int,
        fault: WorkflowFault,
        jitter: JitterSource,
        *,
        slow_is_fatal: bool = False,
        holds: Holds | None = None,
    ) -> timedelta | None:
        """Return how long to wait after *attempt* failed with *fault*, or None if it is not retried.

        A service can request a longer delay, up to the limit of the rule, or up to a day if there is none.
        """
        is_covered = self.covers(fault, slow_is_fatal=slow_is_fatal, holds=holds)
        delay = self.delay_after(attempt, jitter) if is_covered else None
        if delay is None or fault.retry_after is None:
            return delay
        longest = MAX_RETRY_AFTER if self.max_delay is None else self._limit
        return max(delay, timedelta(seconds=min(fault.retry_after, longest)))

    @property
    def _limit(self) -> float:
        return MAX_DELAY if self.max_delay is None else min(self.max_delay, MAX_DELAY)

    def _grown(self, delay: float) -> float:
        return min((delay + self.increment) * self.multiplier, MAX_DELAY)

    def _unjittered(self, attempt: int) -> float:
        """Return the delay without jitter and without the limit, which is applied after jitter."""
        delay = min(self.delay, MAX_DELAY)
        if self.multiplier == 1.0 and attempt > 1:
            # There may be many attempts if they are not limited, and each would take as many steps.
            return min(delay + (attempt - 1) * self.increment, self._limit + self.increment, MAX_DELAY)
        for _ in range(attempt - 1):
            before, delay = delay, self._grown(min(delay, self._limit))
            if delay == before:
                break
        return delay

    def _jittered(self, delay: float, plain: float, jitter: float) -> float:
        """Return *delay* with *jitter* (0 to 1), up to the limit.

        It is never shorter than *plain*, the delay without any jitter, reduced by jitter once: a fraction that is
        subtracted again and again would reduce the delays of a long series to nothing.
        """
        shortest = max(0.0, plain - self._spread(plain))
        return min(max(delay + self._spread(delay) * (2 * jitter - 1), shortest), self._limit)

    def _spread(self, delay: float) -> float:
        return delay * self.jitter if self.jitter_is_fraction else self.jitter


T = TypeVar("T")


@dataclass(slots=True)
class AttemptsFrame(Record):
    number: int = 1
    """The attempt that is in progress or will be next, counted from 1."""
    again: float | None = None
    """When the next attempt begins, in seconds since the epoch, during the wait for it."""
    counts: dict[str, int] = field(default_factory=dict)
    """If there are several reasons to retry: how often each of them applied, by its number."""


async def repeat(
    frame: AttemptsFrame,
    attempt: Callable[[], Awaitable[T]],
    again_at: Callable[[T | WorkflowFault], Awaitable[float | None]],
    pause: Callable[[float], Awaitable[None]],
) -> T:
    """Return the result of the first *attempt* that is not retried; raise its fault, if it failed.

    *again_at* returns when the next attempt begins, for a result or a fault, in seconds since the epoch; None is never.
    *pause* waits until then.
    """
    while True:
        if frame.again is not None:
            await pause(frame.again)
            frame.again = None
        try:
            result = await attempt()
        except WorkflowFault as fault:
            again = await again_at(fault)
            if again is None:
                raise
        else:
            again = await again_at(result)
            if again is None:
                return result
        frame.number += 1
        frame.again = again
