"""The days on which a cron expression falls.

A calendar can hold days of the month, days of the week, months and years, and a day is in it if all of them agree.
`L`, `W` and `#` are spelled out with these: the last day of the month is the 31st of seven months, the 30th of four,
and the 28th or 29th of February by the year; the weekday nearest to the 15th is the 15th if that is one, the 14th if
it is a Friday, the 16th if it is a Monday.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from swf_temporal.base.calendars.fields import DAY_OF_MONTH, Field, entries, number, numbers_of_entry
from swf_temporal.base.calendars.moments import InvalidTime
from swf_temporal.base.calendars.specs import DAYS_OF_MONTH, DAYS_OF_WEEK, FIRST_YEAR, LAST_YEAR, MONTHS

_LAST_DAY = re.compile(r"L(?:-(?P<before>\d{1,9}))?(?P<weekday>W)?", re.IGNORECASE | re.ASCII)
_NEAREST = re.compile(r"(?P<day>\d{1,9})W", re.IGNORECASE | re.ASCII)
_LAST_WEEKDAY = re.compile(r"(?P<day>\w+)L", re.IGNORECASE | re.ASCII)
_NTH = re.compile(r"(?P<day>\w+)#(?P<nth>\w+)", re.ASCII)

_MIN_DAYS, _WEEK = 28, 7
_WEEKS = frozenset("12345")
_WORKDAYS = frozenset({1, 2, 3, 4, 5})
_MONDAY, _FRIDAY, _SATURDAY = frozenset({1}), frozenset({5}), frozenset({6})

_LEAP = frozenset(range(FIRST_YEAR, LAST_YEAR, 4))
"""2100 is none."""
_COMMON = frozenset(range(FIRST_YEAR, LAST_YEAR + 1)) - _LEAP


@dataclass(frozen=True, slots=True)
class Days:
    """The days on which all of this agrees. No years means every year."""

    of_month: frozenset[int] = DAYS_OF_MONTH
    of_week: frozenset[int] = DAYS_OF_WEEK
    months: frozenset[int] = MONTHS
    years: frozenset[int] | None = None


MONTHS_BY_LENGTH: tuple[tuple[int, frozenset[int], frozenset[int] | None], ...] = (
    (31, frozenset({1, 3, 5, 7, 8, 10, 12}), None),
    (30, frozenset({4, 6, 9, 11}), None),
    (29, frozenset({2}), _LEAP),
    (28, frozenset({2}), _COMMON),
)
"""The number of days in months of years."""


def days_of(day_of_month: tuple[str, int], day_of_week: tuple[str, int], weekday: Field) -> tuple[Days, ...]:
    """Return the days that two fields name, each given with its offset. Any of the result will do.

    Where both are restricted a day needs to be in one of them only, as cron has it.
    """
    in_month, in_week = _in_month(*day_of_month), _in_week(*day_of_week, weekday)
    if in_month is None and in_week is None:
        return (Days(),)
    return (*(in_month or ()), *(in_week or ()))


def at_end_of_month(before: int = 0) -> list[Days]:
    """Return the days that lie *before* days before the last of their month."""
    return _by_length(lambda last: [(last - before, DAYS_OF_WEEK)] if last > before else [])


def _in_month(text: str, offset: int) -> list[Days] | None:
    if is_unrestricted(text):
        return None
    found: list[Days] = []
    plain: frozenset[int] = frozenset()
    for entry, at in entries(DAY_OF_MONTH, text, offset):
        if match := _LAST_DAY.fullmatch(entry):
            found += _from_the_end(match, at)
        elif match := _NEAREST.fullmatch(entry):
            found += _by_length(_nearest(number(DAY_OF_MONTH, match["day"], at)))
        else:
            plain |= numbers_of_entry(DAY_OF_MONTH, entry, at)
    return [Days(of_month=plain), *found] if plain else found


def _in_week(text: str, offset: int, weekday: Field) -> list[Days] | None:
    if is_unrestricted(text):
        return None
    found: list[Days] = []
    plain: frozenset[int] = frozenset()
    for entry, at in entries(weekday, text, offset):
        if entry.upper() == "L":
            plain |= _SATURDAY
        elif match := _NTH.fullmatch(entry):
            nth = match["nth"]
            if nth not in _WEEKS:
                raise InvalidTime(f"{nth} is not a week of a month: it goes from 1 to 5", at + match.start("nth"))
            last = _WEEK * int(nth)
            of_week = _weekdays(weekday, frozenset({number(weekday, match["day"], at)}))
            found.append(Days(frozenset(range(last - _WEEK + 1, min(last, 31) + 1)), of_week))
        elif match := _LAST_WEEKDAY.fullmatch(entry):
            found += _last_weekday(_weekdays(weekday, frozenset({number(weekday, match["day"], at)})))
        else:
            plain |= _weekdays(weekday, numbers_of_entry(weekday, entry, at))
    return [Days(of_week=plain), *found] if plain else found


def is_unrestricted(text: str) -> bool:
    return text in {"*", "?", "*/1"}


def _weekdays(weekday: Field, written: frozenset[int]) -> frozenset[int]:
    """Return days of the week as calendars number them, Sunday being 0."""
    return frozenset((value - weekday.names["SUN"]) % _WEEK for value in written)


def _from_the_end(match: re.Match[str], offset: int) -> list[Days]:
    before = int(match["before"] or 0)
    if before >= DAY_OF_MONTH.high:
        raise InvalidTime(f"no month has a day {before} days before its last", offset)
    if not match["weekday"]:
        return at_end_of_month(before)
    return _by_length(lambda last: _nearest(last - before)(last) if last > before else [])


Alternatives = list[tuple[int, frozenset[int]]]
"""Days of the month, each if it is one of these days of the week."""


def _nearest(day: int) -> Callable[[int], Alternatives]:
    """Return which day is the workday nearest to *day* in a month of a given length, without leaving the month."""

    def alternatives(last: int) -> Alternatives:
        if day > last:
            return []
        from_saturday = (day - 1, _FRIDAY) if day > 1 else (day + 2, _MONDAY)
        from_sunday = (day + 1, _MONDAY) if day < last else (day - 2, _FRIDAY)
        return [(day, _WORKDAYS), from_saturday, from_sunday]

    return alternatives


def _last_weekday(of_week: frozenset[int]) -> list[Days]:
    return [
        Days(frozenset(range(last - _WEEK + 1, last + 1)), of_week, months, years)
        for last, months, years in MONTHS_BY_LENGTH
    ]


def _by_length(alternatives: Callable[[int], Alternatives]) -> list[Days]:
    """Return the days that *alternatives* gives for each length of a month; as one where all have the same."""
    if all(alternatives(last) == alternatives(_MIN_DAYS) for last, _, _ in MONTHS_BY_LENGTH):
        return [Days(frozenset({day}), of_week) for day, of_week in alternatives(_MIN_DAYS)]
    return [
        Days(frozenset({day}), of_week, months, years)
        for last, months, years in MONTHS_BY_LENGTH
        for day, of_week in alternatives(last)
    ]
