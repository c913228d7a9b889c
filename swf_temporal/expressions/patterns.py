"""Regular expressions that are matched with time limits.

Some patterns take years on certain texts, and the author of the text may not be that of the pattern. Python's own
library can neither detect this nor be stopped, and blocks the whole process meanwhile.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from time import thread_time  # noqa: TID251 - how long it takes decides nothing in a workflow: it fails the run
from typing import TYPE_CHECKING, Final

from swf_temporal.base.accounting import current_account
from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.base.strict_json import write_json
from swf_temporal.expressions.guarding.deferring import Bound, MachineTooSlow, ask, is_deferring, pattern_bound
from swf_temporal.expressions.guarding.guard import SCHEMAS

if TYPE_CHECKING:
    import regex

_AT_ONCE: Final = 0.02
"""The time limit, in seconds, of matching in this process. Matches that take longer are made in a helper process."""
_TOGETHER: Final = 1.0
"""The limit of processor time, in seconds, for many matches together."""
_MAX_CACHED = 1024
_end: ContextVar[float | None] = ContextVar("end", default=None)


class BadPattern(ValueError):  # noqa: N818 - named for what it is about
    """A text that is not a regular expression."""


class PatternTooSlow(Exception):  # noqa: N818 - as above
    """Matching a text against a pattern exceeded the time limit."""

    def __init__(self, pattern: str) -> None:
        super().__init__(f"it takes too long to match the pattern {pattern!r}")


def matches_somewhere(pattern: str, text: str) -> bool:
    """Return whether *pattern* is found in *text*. Raises PatternTooSlow, and BadPattern if it is not valid."""
    ready = compiled(pattern)
    bound = pattern_bound(pattern, text)
    if is_deferring():
        return _matched_in_time(ready, text) if bound.holds(0) else _matched_apart(pattern, text, bound)
    end = _end.get()
    if end is not None and _used() > end:
        raise PatternTooSlow(pattern)
    try:
        return ready.search(text, timeout=_AT_ONCE) is not None
    except TimeoutError:
        return _matched_apart(pattern, text, bound)


def _matched_in_time(pattern: "regex.Pattern[str]", text: str) -> bool:
    try:
        return pattern.search(text, timeout=_TOGETHER) is not None
    except TimeoutError:
        raise MachineTooSlow(f"the pattern {pattern.pattern!r} took long: is this machine too busy?") from None


def _matched_apart(pattern: str, text: str, bound: Bound) -> bool:
    """Match in a helper process, whose processor time is limited, however busy this process is."""
    try:
        answer = ask(write_json({"pattern": pattern}), write_json(text), bound, SCHEMAS)
    except ExpressionLimitExceeded:
        raise PatternTooSlow(pattern) from None
    return answer.text == "true"


@contextmanager
def one_limit() -> Iterator[None]:
    """Limit the time of all matches within the context to a few times that of one match."""
    token = _end.set(_used() + _TOGETHER)
    try:
        yield
    finally:
        _end.reset(token)


def _used() -> float:
    """Return the processor time of this thread, and that of helpers on its behalf."""
    return thread_time() + current_account().seconds


@lru_cache(maxsize=_MAX_CACHED)
def compiled(pattern: str) -> "regex.Pattern[str]":
    """Return the compiled *pattern*. Raises BadPattern if it is not valid."""
    import regex  # noqa: PLC0415 - most definitions have no pattern

    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise BadPattern(str(error)) from None
    except RecursionError:
        raise BadPattern("it is nested too deeply") from None
