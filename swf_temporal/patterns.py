"""Does a text match a regular expression? Found out within limits.

There are patterns that take years on texts made for them, and who writes the text need not be who wrote the pattern.
Python's own library can neither tell nor be stopped, and while it works, nothing else does in the whole process.
"""

from functools import lru_cache
from typing import Final

import regex

LIMIT: Final = 0.25
"""Seconds. Several of these must fit into the two that a workflow may hold up its worker."""
_KEPT = 1024


class BadPattern(ValueError):  # noqa: N818 - named for what it is about
    """A text that is no regular expression."""


class PatternTooSlow(Exception):  # noqa: N818 - as above
    """Whether a text matches cannot be told in time."""

    def __init__(self, pattern: str) -> None:
        super().__init__(f"it takes too long to tell what matches the pattern {pattern!r}")


def matches_somewhere(pattern: str, text: str) -> bool:
    """Tell whether *pattern* is found in *text*. Raises PatternTooSlow, and BadPattern for what is no pattern."""
    try:
        return compiled(pattern).search(text, timeout=LIMIT) is not None
    except TimeoutError:
        raise PatternTooSlow(pattern) from None


@lru_cache(maxsize=_KEPT)
def compiled(pattern: str) -> "regex.Pattern[str]":
    """Return *pattern*, ready to be used. Raises BadPattern if it is none."""
    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise BadPattern(str(error)) from None
