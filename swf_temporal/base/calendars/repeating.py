"""The times that lie a given length apart from a given one, before it and after it.

Hours, minutes and seconds are counted by the clock, as a period. Days, weeks, months and years that a calendar can
hold keep to the time of day. A month that is too short for the day has its last day instead.
"""

import calendar
from datetime import UTC, datetime, timedelta
from math import lcm

from swf_temporal.base.calendars.days import MONTHS_BY_LENGTH, Days
from swf_temporal.base.calendars.intervals import DAY, Length
from swf_temporal.base.calendars.specs import (
    DAYS_OF_WEEK,
    FIRST_YEAR,
    LAST_YEAR,
    CalendarSpec,
    IntervalSpec,
    Range,
    ranges_of,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR = 12
"""Months."""


def every(anchor: datetime, length: Length) -> tuple[tuple[CalendarSpec, ...], tuple[IntervalSpec, ...]]:
    """Return calendars and periods that have the time *anchor*, and all that lie whole *length*s from it."""
    if length.months:
        return tuple(_at(anchor, days) for days in _by_months(anchor, length.months)), ()
    if length.follows_calendar:
        weekday = frozenset({anchor.isoweekday() % 7})
        return (_at(anchor, Days(of_week=DAYS_OF_WEEK if length.days == DAY else weekday)),), ()
    period = timedelta(seconds=length.seconds)
    return (), (IntervalSpec(period, (anchor - _EPOCH) % period),)


def later(anchor: datetime, length: Length, times: int) -> datetime:
    """Return the time that lies *times* *length*s after *anchor*, or before it if *times* is negative."""
    if length.months:
        year, month = divmod(anchor.year * _YEAR + anchor.month - 1 + times * length.months, _YEAR)
        last = calendar.monthrange(year, month + 1)[1]
        return anchor.replace(year=year, month=month + 1, day=min(anchor.day, last))
    distance = times * timedelta(seconds=length.seconds)
    # Arithmetic on a time of a zone goes by its clocks, on one of UTC by what really passes.
    return anchor + distance if length.follows_calendar else (anchor.astimezone(UTC) + distance)


def once(time: datetime) -> CalendarSpec:
    """Return a calendar that has nothing but *time*."""
    day = Days(frozenset({time.day}), months=frozenset({time.month}), years=frozenset({time.year}))
    return _at(time, day)


def _by_months(anchor: datetime, months: int) -> list[Days]:
    """Return the days on which the months fall: those of one name recur after *cycle* years."""
    cycle = lcm(months, _YEAR) // _YEAR
    found: list[Days] = []
    for step in range(lcm(months, _YEAR) // months):
        year, month = divmod(anchor.year * _YEAR + anchor.month - 1 + step * months, _YEAR)
        years = frozenset(range(FIRST_YEAR + (year - FIRST_YEAR) % cycle, LAST_YEAR + 1, cycle))
        found += _in_month(anchor.day, month + 1, None if cycle == 1 else years)
    return _joined(found)


def _in_month(day: int, month: int, years: frozenset[int] | None) -> list[Days]:
    """Return the *day* of a month, or its last day where it has no such day."""
    lengths = [(last, only) for last, months, only in MONTHS_BY_LENGTH if month in months]
    if all(last >= day for last, _ in lengths):
        return [Days(frozenset({day}), months=frozenset({month}), years=years)]
    return [
        Days(frozenset({min(day, last)}), months=frozenset({month}), years=_both(years, only)) for last, only in lengths
    ]


def _both(one: frozenset[int] | None, other: frozenset[int] | None) -> frozenset[int] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _joined(days: list[Days]) -> list[Days]:
    """Return the same days in fewer records: months that have the same days in the same years are put together."""
    together: dict[tuple[frozenset[int], frozenset[int] | None], frozenset[int]] = {}
    for one in days:
        key = one.of_month, one.years
        together[key] = together.get(key, frozenset()) | one.months
    kept = ((of_month, months, years) for (of_month, years), months in together.items() if years != frozenset())
    return [Days(of_month, months=months, years=years) for of_month, months, years in kept]


def _at(time: datetime, days: Days) -> CalendarSpec:
    return CalendarSpec(
        second=(Range(time.second, time.second),),
        minute=(Range(time.minute, time.minute),),
        hour=(Range(time.hour, time.hour),),
        day_of_month=ranges_of(days.of_month),
        month=ranges_of(days.months),
        year=() if days.years is None else ranges_of(days.years),
        day_of_week=ranges_of(days.of_week),
    )
