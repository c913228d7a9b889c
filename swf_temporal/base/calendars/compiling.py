"""Compiles a schedule into calendars and periods, from when and until when (section "Schedule Definition").

An interval that repeats and says when it starts or ends is counted from there. One that says neither is counted from
the first of January 2001, a Monday, by the clocks of its timezone: so `R/PT2H` comes at even hours and `R/P1W` at the
beginning of Mondays, however often a schedule is applied.

A single interval, which has no `R`, is the time in which a cron expression counts. Without a cron expression it is a
series of one interval, and one instance is started at its start.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo

from swf_temporal.base.calendars.cron import parse_cron
from swf_temporal.base.calendars.intervals import Interval, Length, parse_interval
from swf_temporal.base.calendars.moments import InvalidTime, in_zone, keeps_whole_hours, parse_time, zone_of
from swf_temporal.base.calendars.repeating import every, later, once
from swf_temporal.base.calendars.specs import DAYS_OF_MONTH, DAYS_OF_WEEK, MONTHS, CalendarSpec, ScheduleSpec, ranges_of

_SECOND = timedelta(seconds=1)
_FIRST = datetime(2001, 1, 1)  # noqa: DTZ001 - by the clocks of any timezone


def compile_schedule(
    *,
    interval: str | None = None,
    cron: str | None = None,
    valid_until: str | None = None,
    timezone: str | None = None,
) -> ScheduleSpec:
    """Return when the schedule with these texts starts instances. Raises Unreadable."""
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
    """Return the start and the end of a single interval. Raises Unreadable if the end comes first."""
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
