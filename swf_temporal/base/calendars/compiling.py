"""Compiles a schedule into calendars and periods, from when and until when (section "Schedule Definition").

An interval that repeats and says when it starts or ends is counted from there. One that says neither is counted from
the first of January 2001, a Monday, by the clocks of its timezone: so `R/PT2H` comes at even hours and `R/P1W` at the
beginning of Mondays, however often a schedule is applied.

A single interval, which has no `R`, is the time in which a cron expression counts. Without a cron expression it is a
series of one interval, and one instance is started at its start.

Hours, minutes and seconds are counted by the clock, as a period. Days, weeks, months and years that a calendar can
hold keep to the time of day. A month that is too short for the day has its last day instead.

`R/<start>/<duration>`, `R/<duration>/<end>` and `R/<duration>` repeat; the specification has no other forms. `R5/…`,
from ISO 8601, repeats five times. Without an `R` there is one interval, from a start to an end, either of which may be
given by a duration; a duration alone always repeats.
"""

import calendar
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from math import lcm

from swf_temporal.base.calendars.cron import MONTHS_BY_LENGTH, Days, parse_cron
from swf_temporal.base.calendars.moments import (
    DAYS_OF_MONTH,
    DAYS_OF_WEEK,
    FIRST_YEAR,
    LAST_YEAR,
    MONTHS,
    CalendarSpec,
    IntervalSpec,
    InvalidTime,
    Range,
    ScheduleSpec,
    in_zone,
    keeps_whole_hours,
    parse_time,
    ranges_of,
    zone_of,
)
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
        """Whether its length depends on the calendar: months, years, one day or one week."""
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
    """Return the interval in *text*. Raises InvalidTime if it is not valid."""
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

    Raises InvalidTime for anything else, and for months mixed with anything shorter: no calendar can hold that.
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
    """Return the parts between slashes, each with its offset."""
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
    """Return the numbers of a duration by their units: empty if it is invalid, has a sign, or blanks around it."""
    if not text.isascii() or not text.startswith(("P", "p")) or text[-1].isspace():
        return {}
    try:
        return {unit: Fraction(number) for unit, number in duration_parts(text.upper())[1].items()}
    except ValueError:
        return {}


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR = 12
"""The number of months."""


def every(anchor: datetime, length: Length) -> tuple[tuple[CalendarSpec, ...], tuple[IntervalSpec, ...]]:
    """Return calendars and periods that contain *anchor* and all times at whole multiples of *length* from it."""
    if length.months:
        return tuple(_at(anchor, days) for days in _by_months(anchor, length.months)), ()
    if length.follows_calendar:
        weekday = frozenset({anchor.isoweekday() % 7})
        return (_at(anchor, Days(of_week=DAYS_OF_WEEK if length.days == DAY else weekday)),), ()
    period = timedelta(seconds=length.seconds)
    return (), (IntervalSpec(period, (anchor - _EPOCH) % period),)


def later(anchor: datetime, length: Length, times: int) -> datetime:
    """Return the time *times* times *length* after *anchor*, or before it if *times* is negative."""
    if length.months:
        year, month = divmod(anchor.year * _YEAR + anchor.month - 1 + times * length.months, _YEAR)
        last = calendar.monthrange(year, month + 1)[1]
        return anchor.replace(year=year, month=month + 1, day=min(anchor.day, last))
    distance = times * timedelta(seconds=length.seconds)
    # Arithmetic on a time of a zone goes by its clocks, on one of UTC by what really passes.
    return anchor + distance if length.follows_calendar else (anchor.astimezone(UTC) + distance)


def once(time: datetime) -> CalendarSpec:
    """Return a calendar that contains *time* alone."""
    day = Days(frozenset({time.day}), months=frozenset({time.month}), years=frozenset({time.year}))
    return _at(time, day)


def _by_months(anchor: datetime, months: int) -> list[Days]:
    """Return the days of *anchor* and every *months* months from it: the same month recurs after *cycle* years."""
    cycle = lcm(months, _YEAR) // _YEAR
    found: list[Days] = []
    for step in range(lcm(months, _YEAR) // months):
        year, month = divmod(anchor.year * _YEAR + anchor.month - 1 + step * months, _YEAR)
        years = frozenset(range(FIRST_YEAR + (year - FIRST_YEAR) % cycle, LAST_YEAR + 1, cycle))
        found += _in_month(anchor.day, month + 1, None if cycle == 1 else years)
    return _joined(found)


def _in_month(day: int, month: int, years: frozenset[int] | None) -> list[Days]:
    """Return the *day* of a month, or its last day if it is shorter."""
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
    """Return the same days in fewer records: months with the same days in the same years are combined."""
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


_SECOND = timedelta(seconds=1)
_FIRST = datetime(2001, 1, 1)  # noqa: DTZ001 - by the clocks of any timezone


def compile_schedule(
    *,
    interval: str | None = None,
    cron: str | None = None,
    valid_until: str | None = None,
    timezone: str | None = None,
) -> ScheduleSpec:
    """Return the times at which the schedule with these texts starts instances. Raises InvalidTime."""
    try:
        return _compiled(interval, cron, valid_until, timezone or "UTC")
    except (OverflowError, ValueError) as error:
        if isinstance(error, InvalidTime):
            raise
        raise InvalidTime("the schedule has times that lie before the year 1, or after 9999") from None


def _compiled(interval: str | None, cron: str | None, valid_until: str | None, name: str) -> ScheduleSpec:
    zone = zone_of(name)
    parsed = None if interval is None else parse_interval(interval)
    if cron is not None:
        return _by_cron(parse_cron(cron), parsed, None if valid_until is None else parse_time(valid_until), name)
    if parsed is None:
        message = "the schedule has neither an interval nor a cron expression"
        hint = "write 'interval: R/PT1H' for every hour, or 'cron: 0 9 * * *' for nine o'clock"
        raise InvalidTime(message, hint=hint)
    if parsed.repeats and parsed.length is not None:
        return replace(_repeating(parsed, parsed.length, zone), timezone=name)
    start, _ = _window(parsed, zone)
    if start is None:
        raise InvalidTime(f"the interval {interval!r} has no start")
    return ScheduleSpec(calendars=(once(start.astimezone(UTC)),))


def _by_cron(
    calendars: tuple[CalendarSpec, ...], interval: Interval | None, valid_until: datetime | None, name: str
) -> ScheduleSpec:
    zone = zone_of(name)
    if interval is not None and interval.repeats:
        message = "the schedule has an interval that repeats and a cron expression: it can have only one of them"
        raise InvalidTime(message)
    start, end = (None, None) if interval is None else _window(interval, zone)
    ends = [end, None if valid_until is None else in_zone(valid_until, zone)]
    last = min((one.astimezone(UTC) - _SECOND for one in ends if one is not None), default=None)
    if all(map(_is_any_hour, calendars)) and keeps_whole_hours(name):
        # Every hour is every hour in UTC, too, where no hour is skipped or comes twice.
        name = "UTC"
    return ScheduleSpec(calendars, start_at=_utc(start), end_at=last, timezone=name)


def _repeating(interval: Interval, length: Length, zone: tzinfo) -> ScheduleSpec:
    count = interval.count
    start: datetime | None
    last: datetime | None
    if interval.start is not None:
        anchor = start = in_zone(interval.start, zone)
        last = None if count is None else later(anchor, length, count - 1)
    elif interval.end is not None:
        anchor = in_zone(interval.end, zone)
        start = None if count is None else later(anchor, length, -count)
        last = later(anchor, length, -1)
    else:
        calendars, intervals = every(in_zone(_FIRST, zone), length)
        return ScheduleSpec(calendars, intervals, limit=count)
    calendars, intervals = every(anchor, length)
    return ScheduleSpec(calendars, intervals, _utc(start), _utc(last))


def _window(interval: Interval, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    """Return the start and the end of a single interval. Raises InvalidTime if the end comes first."""
    start = None if interval.start is None else in_zone(interval.start, zone)
    end = None if interval.end is None else in_zone(interval.end, zone)
    if interval.length is not None:
        start = later(end, interval.length, -1) if start is None and end is not None else start
        end = later(start, interval.length, 1) if end is None and start is not None else end
    if start is not None and end is not None and end <= start:
        raise InvalidTime(f"the interval ends at {end.isoformat()}, before it starts")
    return start, end


def _is_any_hour(calendar: CalendarSpec) -> bool:
    whole = (range(24), DAYS_OF_MONTH, MONTHS, DAYS_OF_WEEK)
    fields = (calendar.hour, calendar.day_of_month, calendar.month, calendar.day_of_week)
    return not calendar.year and all(field == ranges_of(all_) for field, all_ in zip(fields, whole, strict=True))


def _utc(time: datetime | None) -> datetime | None:
    return None if time is None else time.astimezone(UTC)
