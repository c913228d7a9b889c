"""Reads how far apart the times of a repeating interval are: by the clock, or by the calendar."""

from dataclasses import dataclass
from fractions import Fraction

from swf_temporal.calendars.unreadable import Unreadable
from swf_temporal.durations import duration_parts

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


def parse_length(text: str, offset: int = 0) -> Length:
    """Return the length of an ISO 8601 duration of at least a second, and at most a hundred years.

    Raises Unreadable for anything else, and for months mixed with anything shorter: no calendar can hold that.
    """
    numbers = _numbers(text)
    if not numbers:
        raise Unreadable(f"{text!r} is not an ISO 8601 duration", offset, "such as PT15M")
    whole = numbers.get("years", 0) * 12 + numbers.get("months", Fraction())
    seconds = sum((numbers.get(unit, 0) * size for unit, size in _SECONDS.items()), Fraction())
    if whole.denominator != 1 or seconds.denominator != 1:
        raise Unreadable(f"{text!r} is not a whole number of months or of seconds", offset)
    if whole and seconds:
        raise Unreadable(f"{text!r} mixes months with days or hours, which no calendar can hold", offset)
    if not whole and not seconds:
        raise Unreadable(f"{text!r} has no length: the shortest is a second", offset)
    if whole > _MAX_MONTHS or seconds > _MAX_SECONDS:
        raise Unreadable(f"{text!r} is more than a hundred years", offset)
    by_the_clock = any(numbers.get(unit) for unit in ("hours", "minutes", "seconds"))
    days = 0 if by_the_clock else int(seconds // _DAY)
    return Length(int(whole), int(seconds), days)


def _numbers(text: str) -> dict[str, Fraction]:
    """Return the numbers of a duration by their units: none if it is not one, has a sign, or blanks around it."""
    if not text.isascii() or not text.startswith(("P", "p")) or text[-1].isspace():
        return {}
    try:
        return {unit: Fraction(number) for unit, number in duration_parts(text.upper())[1].items()}
    except ValueError:
        return {}
