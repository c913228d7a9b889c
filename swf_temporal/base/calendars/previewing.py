"""The next times of a schedule.

The result is Temporal's, computed without it. That matters for daylight saving time. A time that clocks skip does not
occur. In the hour that clocks show twice, Temporal converts a local time as its language's library does, which takes
the first or the second occurrence depending on whether the zone is west or east of Greenwich; if it takes the first, it
goes through the hour once more. So a time in that hour occurs once in Berlin and twice in New York; of several in
Berlin, all but the first are moved an hour later. And a day whose midnight is skipped counts, during the search, as the
weekday before. We must not correct any of this: the preview would no longer be that of the server.

Croniter differs, though it reads most cron expressions as we do (`tests/calendars/test_against_croniter.py` compares
both, and shows each difference). For `30 2 * * *` in Berlin it has 03:00 on the day on which that time is skipped,
where Temporal leaves the day out, and two times on the day in autumn, where Temporal starts one instance. It does not
support the numbers of Quartz (`0 0 9 ? * 2` is Tuesday for croniter, and Monday for Quartz), `LW` or `L-2`;
`13 * FRI#3` is a 13th that is also a third Friday, which never comes, instead of either day; it continues after 2100,
where Temporal ends; and it has no intervals. Here, a schedule is previewed from what Temporal stores, calendars and
periods without the text, so the same code handles intervals and expressions. With a server, commands show its own next
times.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from itertools import islice, pairwise

from swf_temporal.base.calendars.moments import (
    FIRST_YEAR,
    LAST_YEAR,
    CalendarSpec,
    IntervalSpec,
    Ranges,
    ScheduleSpec,
    zone_of,
)

_SECOND, _HOUR, _DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MIN_WINDOW, _MAX_WINDOW = timedelta(minutes=1), _DAY
_GAPS = 50


def preview(spec: ScheduleSpec, after: datetime, count: int) -> list[datetime]:
    """Return the next *count* times after *after*, in UTC: fewer if there are no more until the end of 2100."""
    count = count if spec.limit is None else min(count, spec.limit)
    return list(islice(_times(spec, after), count))


def ever_comes(calendars: Iterable[CalendarSpec]) -> bool:
    """Return whether any of *calendars* has any day."""
    first = datetime(FIRST_YEAR, 1, 1)  # noqa: DTZ001 - a day on any clock
    return any(next(_days(calendar, first, UTC), None) is not None for calendar in calendars)


def distance(spec: ScheduleSpec) -> timedelta:
    """Return the time after which a missed start is superseded by the next one.

    It is the shortest of the distances between the schedule's first times, but at least a minute and at most a day.
    """
    unbounded = ScheduleSpec(spec.calendars, spec.intervals, spec.start_at, None, spec.timezone)
    times = preview(unbounded, datetime(FIRST_YEAR, 1, 1, tzinfo=UTC), _GAPS)
    shortest = min((later - earlier for earlier, later in pairwise(times)), default=_MAX_WINDOW)
    return max(_MIN_WINDOW, min(shortest, _MAX_WINDOW))


def _times(spec: ScheduleSpec, after: datetime) -> Iterator[datetime]:
    zone = zone_of(spec.timezone)
    time = max(after, _EPOCH).astimezone(UTC).replace(microsecond=0)
    if spec.start_at is not None and after < spec.start_at:
        time = spec.start_at.astimezone(UTC) - _SECOND
    while time.year <= LAST_YEAR:
        candidates = [_next_in_calendar(calendar, time, zone) for calendar in spec.calendars]
        candidates += [_next_in_interval(interval, time) for interval in spec.intervals]
        coming = min((one for one in candidates if one is not None), default=None)
        if coming is None or coming.year > LAST_YEAR or (spec.end_at is not None and coming > spec.end_at):
            return
        yield coming
        time = coming


def _next_in_interval(interval: IntervalSpec, after: datetime) -> datetime:
    passed = (after - _EPOCH - interval.phase) // interval.every
    return _EPOCH + interval.phase + (passed + 1) * interval.every


def _next_in_calendar(calendar: CalendarSpec, after: datetime, zone: tzinfo) -> datetime | None:
    clock = _clock(after, zone)
    hour = clock.replace(minute=0, second=0)
    again = _clock(after - _HOUR, zone).hour == clock.hour
    if clock.hour in _numbers(calendar.hour) and _has_day(calendar, clock):
        later = _in_hour(calendar, hour, clock)
        if later is not None:
            return _instant(later, zone) + (_HOUR if again else timedelta())
        if not again and _instant(hour + _HOUR, zone) - _instant(hour, zone) > _HOUR:
            first = _in_hour(calendar, hour, None)
            return None if first is None else _instant(first, zone) + _HOUR
    return _in_later_hours(calendar, hour, zone)


def _in_later_hours(calendar: CalendarSpec, hour: datetime, zone: tzinfo) -> datetime | None:
    for day in _days(calendar, hour, zone):
        for number in _numbers(calendar.hour):
            coming = day.replace(hour=number)
            time = _in_hour(calendar, coming, None) if coming > hour else None
            if time is None:
                continue
            instant = _instant(time, zone)
            if _clock(instant, zone).hour == number:
                return instant
            if not _has_day(calendar, day):
                break
    return None


def _days(calendar: CalendarSpec, first: datetime, zone: tzinfo) -> Iterator[datetime]:
    """Yield the days of *calendar*, as midnights, from that of *first* on."""
    days, months, years = map(_numbers, (calendar.day_of_month, calendar.month, calendar.year))
    day = today = first.replace(hour=0, minute=0, second=0)
    while day.year <= LAST_YEAR:
        if years and day.year not in years:
            day = day.replace(year=day.year + 1, month=1, day=1)
        elif day.month not in months:
            day = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
        else:
            if day.day in days and _has_weekday(calendar, first if day == today else _clock(_instant(day, zone), zone)):
                yield day
            day += _DAY


def _has_day(calendar: CalendarSpec, day: datetime) -> bool:
    fields = ((calendar.day_of_month, day.day), (calendar.month, day.month), (calendar.year or None, day.year))
    return all(ranges is None or number in _numbers(ranges) for ranges, number in fields) and _has_weekday(
        calendar, day
    )


def _has_weekday(calendar: CalendarSpec, day: datetime) -> bool:
    return day.isoweekday() % 7 in _numbers(calendar.day_of_week)


def _in_hour(calendar: CalendarSpec, hour: datetime, after: datetime | None) -> datetime | None:
    """Return the first time of *calendar* in an hour; with *after*, the first one after it."""
    for minute in _numbers(calendar.minute):
        if after is not None and minute < after.minute:
            continue
        for second in _numbers(calendar.second):
            time = hour.replace(minute=minute, second=second)
            if after is None or time > after:
                return time
    return None


@lru_cache(maxsize=1024)
def _numbers(ranges: Ranges) -> tuple[int, ...]:
    return tuple(sorted({number for one in ranges for number in one}))


def _clock(instant: datetime, zone: tzinfo) -> datetime:
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


def _instant(clock: datetime, zone: tzinfo) -> datetime:
    """Return the time when the clocks of *zone* show *clock*; if that is ambiguous, the one that Temporal takes.

    Temporal uses the zone's offset at the same time in UTC, and corrects it once.
    """
    there = clock.replace(tzinfo=UTC)
    offset = _offset(there, zone)
    if offset:
        offset = _offset(there - offset, zone)
    return there - offset


def _offset(instant: datetime, zone: tzinfo) -> timedelta:
    return instant.astimezone(zone).utcoffset() or timedelta()
