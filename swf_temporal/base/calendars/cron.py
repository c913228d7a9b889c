"""The calendar times that a cron expression names (section "Cron Definition").

The specification cites crontab, with five fields, and shows Quartz, with six or seven, without saying so. The number
of fields decides: five begin with the minute and have Sunday as 0 or 7; six begin with the second and have Sunday as
1; seven end with the year.
"""

import re

from swf_temporal.base.calendars.days import Days, days_of
from swf_temporal.base.calendars.fields import (
    HOUR,
    MINUTE,
    MONTH,
    QUARTZ_WEEKDAY,
    SECOND,
    UNIX_WEEKDAY,
    YEAR,
    Field,
    numbers,
)
from swf_temporal.base.calendars.moments import InvalidTime
from swf_temporal.base.calendars.previewing import ever_comes
from swf_temporal.base.calendars.specs import FIRST_YEAR, LAST_YEAR, CalendarSpec, Ranges, ranges_of

_UNIX, _QUARTZ, _QUARTZ_WITH_YEAR = 5, 6, 7
_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_HINT = "such as 0 0/15 * * * ?"


def parse_cron(text: str) -> tuple[CalendarSpec, ...]:
    """Return calendars that have the times of the cron expression *text* between them.

    Raises Unreadable if it is none, or names no day that ever comes.
    """
    weekday, fields = _fields(text)
    second, minute, hour, day_of_month, month, day_of_week, *year = fields
    at = ranges_of(numbers(SECOND, *second)), ranges_of(numbers(MINUTE, *minute)), ranges_of(numbers(HOUR, *hour))
    within = Days(months=numbers(MONTH, *month), years=_years(*year[0]) if year else None)
    days = days_of(day_of_month, day_of_week, weekday)
    calendars = tuple(spec for one in days if (spec := _calendar(at, one, within)) is not None)
    if not ever_comes(calendars):
        raise InvalidTime(f"the cron expression {text!r} names a day that never comes", day_of_month[1])
    return calendars


def days_of_cron(text: str) -> tuple[tuple[str, int], tuple[str, int]]:
    """Return the fields for the day of the month and for the day of the week, each with its offset in *text*."""
    _, fields = _fields(text)
    return fields[3], fields[5]


def _fields(text: str) -> tuple[Field, list[tuple[str, int]]]:
    """Return how days of the week are written in *text*, and its fields with their offsets, from the second on."""
    fields = [(match[0], match.start()) for match in re.finditer(r"\S+", text)]
    if len(fields) == 1 and fields[0][0].startswith("@"):
        macro, offset = fields[0]
        if macro.lower() not in _MACROS:
            raise InvalidTime(f"{macro!r} is not one of {', '.join(_MACROS)}", offset, "such as @daily")
        return _fields(_MACROS[macro.lower()])
    if not _UNIX <= len(fields) <= _QUARTZ_WITH_YEAR:
        raise InvalidTime(f"the cron expression {text!r} does not have five to seven fields", 0, _HINT)
    if len(fields) == _UNIX:
        return UNIX_WEEKDAY, [("0", 0), *fields]
    return QUARTZ_WEEKDAY, fields


def _calendar(at: tuple[Ranges, Ranges, Ranges], days: Days, within: Days) -> CalendarSpec | None:
    months = days.months & within.months
    years = days.years if within.years is None else within.years & (days.years or within.years)
    if not months or years == frozenset():
        return None
    second, minute, hour = at
    return CalendarSpec(
        second=second,
        minute=minute,
        hour=hour,
        day_of_month=ranges_of(days.of_month),
        month=ranges_of(months),
        year=() if years is None else ranges_of(years),
        day_of_week=ranges_of(days.of_week),
    )


def _years(text: str, offset: int) -> frozenset[int] | None:
    if text in {"*", "?", "*/1"}:
        return None
    return numbers(YEAR, text, offset) & frozenset(range(FIRST_YEAR, LAST_YEAR + 1))
