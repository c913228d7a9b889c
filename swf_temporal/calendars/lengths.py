"""How far apart are the times of a repeating interval: by the clock, or by the calendar?"""

import re
from dataclasses import dataclass
from fractions import Fraction

from swf_temporal.calendars.unreadable import Unreadable

_NUMBER = r"(\d{1,12}(?:[.,]\d{1,12})?)"
_LENGTH = re.compile(
    rf"P(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(?:T(?:{_NUMBER}W)?(?:{_NUMBER}D)?(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?",
    re.IGNORECASE | re.ASCII,
)
_SECONDS = (7 * 86400, 86400, 7 * 86400, 86400, 3600, 60, 1)
"""Of a week and a day before the T and, where official examples have them, after it; an hour, a minute, a second."""

DAY, WEEK = 1, 7

_MAX_MONTHS, _MAX_SECONDS = 100 * 12, 100 * 366 * 86400


@dataclass(frozen=True, slots=True)
class Length:
    """A number of months, or a number of seconds; *days* is how many days, if whole ones were meant."""

    months: int = 0
    seconds: int = 0
    days: int = 0

    @property
    def follows_calendar(self) -> bool:
        """Whether it is as long as the calendar makes it: months, years, one day or one week."""
        return self.months > 0 or self.days in (DAY, WEEK)


def parse_length(text: str, offset: int = 0) -> Length:
    """Return the length of an ISO 8601 duration of at least a second, and at most a hundred years.

    Raises Unreadable for anything else, and for months mixed with anything shorter: no calendar can hold that.
    """
    match = _LENGTH.fullmatch(text)
    if match is None or not any(match.groups()):
        raise Unreadable(f"{text!r} is no duration of ISO 8601", offset, "such as PT15M")
    years, months, *others = (Fraction((part or "0").replace(",", ".")) for part in match.groups())
    whole = years * 12 + months
    seconds = sum((part * size for part, size in zip(others, _SECONDS, strict=True)), Fraction())
    if whole.denominator != 1 or seconds.denominator != 1:
        raise Unreadable(f"{text!r} is not a whole number of months or of seconds", offset)
    if whole and seconds:
        raise Unreadable(f"{text!r} mixes months with days or hours, which no calendar can hold", offset)
    if not whole and not seconds:
        raise Unreadable(f"{text!r} is no time at all: the shortest is a second", offset)
    if whole > _MAX_MONTHS or seconds > _MAX_SECONDS:
        raise Unreadable(f"{text!r} is more than a hundred years", offset)
    by_the_clock = any(others[4:])
    days = 0 if by_the_clock else int(seconds // _SECONDS[1])
    return Length(int(whole), int(seconds), days)
