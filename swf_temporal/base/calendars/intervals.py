"""Reads the text of an interval, and of the length after which it repeats (section "Schedule Definition").

`R/<start>/<duration>`, `R/<duration>/<end>` and `R/<duration>` repeat; the specification has no more than these.
`R5/…`, which ISO 8601 has, repeats five times. Without an `R` there is one interval, from a start to an end, either of
which may be given by a duration; but a duration alone can only be meant to repeat.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from swf_temporal.base.calendars.moments import InvalidTime, parse_time
from swf_temporal.base.durations import duration_parts

_REPEATS = re.compile(r"R(?P<count>\d{0,9})", re.IGNORECASE | re.ASCII)
_TWO = 2
_HINT = "such as R/PT15M"

DAY, WEEK = 1, 7

_DAY = 86400
_SECONDS = {
    "weeks": WEEK * _DAY,
    "tweeks": WEEK * _DAY,
    "days": _DAY,
    "tdays": _DAY,
    "hours": 3600,
    "minutes": 60,
    "seconds": 1,
}
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


@dataclass(frozen=True, slots=True)
class Interval:
    """Two of start, length and end, or just a length. *count* is how often it repeats, if not for ever."""

    repeats: bool
    start: datetime | None = None
    length: Length | None = None
    end: datetime | None = None
    count: int | None = None


def parse_interval(text: str) -> Interval:
    """Return what the interval *text* says. Raises Unreadable if it says nothing."""
    parts = _parts(text)
    repetition = _REPEATS.fullmatch(parts[0][0])
    count = None
    if repetition is not None:
        del parts[0]
        count = int(repetition["count"]) if repetition["count"] else None
        if count == 0:
            raise InvalidTime(f"the interval {text!r} repeats no time at all", 0, _HINT)
    if not 1 <= len(parts) <= _TWO:
        raise _unreadable(text)
    is_length = [part[:1].upper() == "P" for part, _ in parts]
    if is_length == [True]:
        return Interval(repeats=True, length=parse_length(*parts[0]), count=count)
    if is_length == [True, False]:
        start, length, end = None, parse_length(*parts[0]), _time(text, *parts[1])
    elif is_length == [False, True]:
        start, length, end = _time(text, *parts[0]), parse_length(*parts[1]), None
    elif is_length == [False, False] and repetition is None:
        start, length, end = _time(text, *parts[0]), None, _time(text, *parts[1])
    elif is_length == [False, False]:
        _time(text, *parts[0]), _time(text, *parts[1])
        what = f"the interval {text!r} repeats from a start to an end, and the specification has no such form"
        raise InvalidTime(what, 0, "write R/START/DURATION, or without the R what is to take place once")
    else:
        raise _unreadable(text)
    return Interval(repetition is not None, start, length, end, count)


def parse_length(text: str, offset: int = 0) -> Length:
    """Return the length of an ISO 8601 duration of at least a second, and at most a hundred years.

    Raises Unreadable for anything else, and for months mixed with anything shorter: no calendar can hold that.
    """
    numbers = _numbers(text)
    if not numbers:
        raise InvalidTime(f"{text!r} is not an ISO 8601 duration", offset, "such as PT15M")
    whole = numbers.get("years", 0) * 12 + numbers.get("months", Fraction())
    seconds = sum((numbers.get(unit, 0) * size for unit, size in _SECONDS.items()), Fraction())
    if whole.denominator != 1 or seconds.denominator != 1:
        raise InvalidTime(f"{text!r} is not a whole number of months or of seconds", offset)
    if whole and seconds:
        raise InvalidTime(f"{text!r} mixes months with days or hours, which no calendar can hold", offset)
    if not whole and not seconds:
        raise InvalidTime(f"{text!r} has no length: the shortest is a second", offset)
    if whole > _MAX_MONTHS or seconds > _MAX_SECONDS:
        raise InvalidTime(f"{text!r} is more than a hundred years", offset)
    by_the_clock = any(numbers.get(unit) for unit in ("hours", "minutes", "seconds"))
    days = 0 if by_the_clock else int(seconds // _DAY)
    return Length(int(whole), int(seconds), days)


def _parts(text: str) -> list[tuple[str, int]]:
    """Return what stands between the slashes, each with where it starts."""
    return [(match[0].strip(), match.start()) for match in re.finditer(r"[^/]+", text)] or [("", 0)]


def _time(whole: str, text: str, offset: int) -> datetime:
    try:
        return parse_time(text, offset)
    except InvalidTime:
        if text[:1].isdecimal():
            raise
        raise _unreadable(whole) from None


def _unreadable(text: str) -> InvalidTime:
    return InvalidTime(f"the interval {text!r} is not an ISO 8601 interval", 0, _HINT)


def _numbers(text: str) -> dict[str, Fraction]:
    """Return the numbers of a duration by their units: none if it is not one, has a sign, or blanks around it."""
    if not text.isascii() or not text.startswith(("P", "p")) or text[-1].isspace():
        return {}
    try:
        return {unit: Fraction(number) for unit, number in duration_parts(text.upper())[1].items()}
    except ValueError:
        return {}
