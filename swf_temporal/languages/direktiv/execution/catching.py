"""Matching of errors by catches and retry policies."""

from collections.abc import Iterable

from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.expressions.patterns import BadPattern, PatternTooSlow, matches_somewhere
from swf_temporal.languages.direktiv.model.workflow import Catch

_ALL = "*"


def catch_for(code: str, catches: Iterable[Catch]) -> Catch | None:
    """Return the first of *catches* that covers errors with *code*."""
    return next((one for one in catches if covers(one.error, code)), None)


def covers(pattern: str, code: str) -> bool:
    """Return True if *pattern* matches *code*: all of it as a glob, or a part of it as a regular expression."""
    if pattern in (_ALL, code) or is_glob_of(pattern, code):
        return True
    try:
        return matches_somewhere(pattern, code)
    except BadPattern:
        return False
    except PatternTooSlow as slow:
        # Whether it matches in time depends on the machine, which must not decide the course of a run.
        raise ExpressionLimitExceeded(f"whether an error is covered: {slow}") from None


def is_glob_of(pattern: str, text: str) -> bool:
    """Return True if *text* matches *pattern*, in which every `*` stands for any characters."""
    parts = pattern.split(_ALL)
    if len(parts) == 1:
        return pattern == text
    first, *middle, last = parts
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
