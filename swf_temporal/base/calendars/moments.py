"""Times and time zones in texts, the records of schedules, and the error of an invalid text of a schedule.

The records can express what Temporal's schedules can, without its library. All ranges are inclusive. A time belongs to
a calendar if every field matches; it belongs to a schedule if it belongs to any of its calendars or intervals.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

FIRST_YEAR, LAST_YEAR = 2000, 2100
"""The years for which Temporal computes schedules."""

DAYS_OF_MONTH = frozenset(range(1, 32))
DAYS_OF_WEEK = frozenset(range(7))
"""Sunday is 0."""
MONTHS = frozenset(range(1, 13))


@dataclass(frozen=True, slots=True)
class Range:
    """Whole numbers from *start* to *end*, every *step*-th."""

    start: int
    end: int
    step: int = 1

    def __iter__(self) -> Iterator[int]:
        """Yield the numbers."""
        return iter(range(self.start, self.end + 1, self.step))

    def __len__(self) -> int:
        return len(range(self.start, self.end + 1, self.step))


Ranges = tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class CalendarSpec:
    """Times that match fields of the calendar. No years means every year."""

    second: Ranges
    minute: Ranges
    hour: Ranges
    day_of_month: Ranges
    month: Ranges
    year: Ranges
    day_of_week: Ranges


@dataclass(frozen=True, slots=True)
class IntervalSpec:
    """Times at a fixed distance: whole multiples of *every* since 1970 in UTC, each *phase* later."""

    every: timedelta
    phase: timedelta


@dataclass(frozen=True, slots=True)
class ScheduleSpec:
    """The times at which instances are started.

    Calendars are read in *timezone*. Times before *start_at* and after *end_at* do not count. *limit* is the total
    number of starts, if the times themselves do not bound it.
    """

    calendars: tuple[CalendarSpec, ...] = ()
    intervals: tuple[IntervalSpec, ...] = ()
    start_at: datetime | None = None
    end_at: datetime | None = None
    timezone: str = "UTC"
    limit: int | None = None


def ranges_of(values: Iterable[int]) -> Ranges:
    """Return a small number of ranges that hold exactly *values*, the one with the lowest number first."""
    rest = set(values)
    ranges: list[Range] = []
    while rest:
        start = min(rest)
        possible = (_from(start, other - start, rest) for other in sorted(rest) if other > start)
        longest = max(possible, key=len, default=Range(start, start))
        chosen = longest if longest.step == 1 or len(longest) >= _PROGRESSION else Range(start, start)
        ranges.append(chosen)
        rest -= set(chosen)
    return tuple(ranges)


_PROGRESSION = 3
"""Fewer numbers than this are not a progression, unless they follow each other."""


def _from(start: int, step: int, values: set[int]) -> Range:
    """Return the longest progression in *values* with this start and step."""
    end = start
    while end + step in values:
        end += step
    return Range(start, end, step)


_HOUR = timedelta(hours=1)


class InvalidTime(ValueError):  # noqa: N818 - an adjective, said of a text
    """A text is not a valid time or schedule; says where in the text.

    `offset` counts characters from zero. `hint` shows a valid text.
    """

    def __init__(self, message: str, offset: int = 0, hint: str | None = None) -> None:
        self.message = message
        self.offset = offset
        self.hint = hint
        super().__init__(message)


@lru_cache(maxsize=64)
def zone_of(name: str) -> tzinfo:
    """Return the time zone *name* of the IANA database. Raises InvalidTime."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InvalidTime(f"the timezone {name!r} is not known", 0, "such as Europe/Berlin") from None


def parse_time(text: str, offset: int = 0) -> datetime:
    """Return the date and time that *text* writes in ISO 8601, with its offset from UTC if it has one.

    Raises InvalidTime.
    """
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        hint = "such as 2030-12-31T23:59:59Z"
        raise InvalidTime(f"{text!r} is not an ISO 8601 date and time", offset, hint) from None


def in_zone(time: datetime, zone: tzinfo) -> datetime:
    """Return *time* in *zone*; a time without an offset is taken as local time there.

    Schedules have a resolution of a second, so fractions are rounded up.
    """
    instant = (time.replace(tzinfo=zone) if time.tzinfo is None else time).astimezone(UTC)
    whole = instant.replace(microsecond=0)
    return (whole if whole == instant else whole + timedelta(seconds=1)).astimezone(zone)


@lru_cache(maxsize=64)
def keeps_whole_hours(name: str) -> bool:
    """Return whether the clocks of the zone *name* always show the same minutes and seconds as those of UTC."""
    zone = zone_of(name)
    days = (datetime(year, month, 1, tzinfo=UTC) for year in range(FIRST_YEAR, LAST_YEAR + 1) for month in range(1, 13))
    return not any((day.astimezone(zone).utcoffset() or timedelta()) % _HOUR for day in days)
