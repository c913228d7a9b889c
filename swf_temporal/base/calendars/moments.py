"""Moments and time zones, as texts write them, and the error of a text of a schedule that says no time."""

from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from swf_temporal.base.calendars.specs import FIRST_YEAR, LAST_YEAR

_HOUR = timedelta(hours=1)


class InvalidTime(ValueError):  # noqa: N818 - an adjective, said of a text
    """A text that says no time, and where in it the trouble begins.

    `offset` counts characters from zero. `hint` shows a text that would do.
    """

    def __init__(self, message: str, offset: int = 0, hint: str | None = None) -> None:
        self.message = message
        self.offset = offset
        self.hint = hint
        super().__init__(message)


@lru_cache(maxsize=64)
def zone_of(name: str) -> tzinfo:
    """Return the time zone *name* of the IANA database. Raises Unreadable."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InvalidTime(f"the timezone {name!r} is not known", 0, "such as Europe/Berlin") from None


def parse_time(text: str, offset: int = 0) -> datetime:
    """Return the date and time that *text* writes in ISO 8601, with its offset from UTC if it has one.

    Raises Unreadable.
    """
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        hint = "such as 2030-12-31T23:59:59Z"
        raise InvalidTime(f"{text!r} is not an ISO 8601 date and time", offset, hint) from None


def in_zone(time: datetime, zone: tzinfo) -> datetime:
    """Return *time* by the clocks of *zone*; without an offset of its own it was written by them.

    Schedules know nothing shorter than a second, so a part of one is rounded up.
    """
    instant = (time.replace(tzinfo=zone) if time.tzinfo is None else time).astimezone(UTC)
    whole = instant.replace(microsecond=0)
    return (whole if whole == instant else whole + timedelta(seconds=1)).astimezone(zone)


@lru_cache(maxsize=64)
def keeps_whole_hours(name: str) -> bool:
    """Tell whether the clocks of the zone *name* always show the same minutes and seconds as those of UTC."""
    zone = zone_of(name)
    days = (datetime(year, month, 1, tzinfo=UTC) for year in range(FIRST_YEAR, LAST_YEAR + 1) for month in range(1, 13))
    return not any((day.astimezone(zone).utcoffset() or timedelta()) % _HOUR for day in days)
