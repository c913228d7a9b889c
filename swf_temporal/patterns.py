"""Regular expressions that are matched within limits of time.

There are patterns that take years on texts made for them, and who writes the text need not be who wrote the pattern.
Python's own library can neither tell nor be stopped, and while it works, nothing else does in the whole process.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from time import perf_counter  # noqa: TID251 - how long it takes decides nothing in a workflow: it fails the run
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import regex

LIMIT: Final = 0.25
"""Seconds. Several of these must fit into the two that a workflow may hold up its worker."""
_TOGETHER: Final = 1.0
"""Seconds for many of them."""
_MAX_CACHED = 1024
_end: ContextVar[float | None] = ContextVar("end", default=None)


class BadPattern(ValueError):  # noqa: N818 - named for what it is about
    """A text that is not a regular expression."""


class PatternTooSlow(Exception):  # noqa: N818 - as above
    """Whether a text matches cannot be told in time."""

    def __init__(self, pattern: str) -> None:
        super().__init__(f"it takes too long to tell what matches the pattern {pattern!r}")


def matches_somewhere(pattern: str, text: str) -> bool:
    """Tell whether *pattern* is found in *text*. Raises PatternTooSlow, and BadPattern for what is not a pattern."""
    end = _end.get()
    left = LIMIT if end is None else min(LIMIT, end - perf_counter())
    if left <= 0:
        raise PatternTooSlow(pattern)
    try:
        return compiled(pattern).search(text, timeout=left) is not None
    except TimeoutError:
        raise PatternTooSlow(pattern) from None


@contextmanager
def one_limit() -> Iterator[None]:
    """Let all that is matched within take no more than a few times as long as one match may."""
    token = _end.set(perf_counter() + _TOGETHER)
    try:
        yield
    finally:
        _end.reset(token)


@lru_cache(maxsize=_MAX_CACHED)
def compiled(pattern: str) -> "regex.Pattern[str]":
    """Return *pattern*, ready to be used. Raises BadPattern if it is none."""
    import regex  # noqa: PLC0415 - most definitions have no pattern

    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise BadPattern(str(error)) from None
    except RecursionError:
        raise BadPattern("it is nested too deeply") from None
