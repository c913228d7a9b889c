"""Parts of a schedule that may not mean what its author intended."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from swf_temporal.base.calendars.compiling import compile_schedule
from swf_temporal.base.calendars.cron import days_of_cron, is_unrestricted
from swf_temporal.base.calendars.moments import InvalidTime, zone_of

_SUMMER, _WINTER = datetime(2030, 7, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pitfall:
    """A warning to the author, and the place in the text: *offset* counts characters from zero."""

    message: str
    hint: str
    offset: int = 0


def pitfall_of_days(cron: str) -> Pitfall | None:
    """Warn that either field of days suffices in *cron*, a valid expression, although crontab(5) requires both.

    There, a field that begins with `*` further restricts the days of the other one, even if a step follows.
    """
    days = [field for field in days_of_cron(cron) if not is_unrestricted(field[0])]
    starred = next((field for field in days if field[0].startswith("*")), None)
    if len(days) == 1 or starred is None:
        return None
    text, offset = starred
    message = (
        f"the cron expression {cron!r} restricts the day of the month and the day of the week: a day that matches "
        f"either of them counts, where some runtimes ask for both, because {text!r} begins with '*'"
    )
    hint = f"replace {text!r} by a range, such as 1-31/2, if either is meant; if both are, test one in a state"
    return Pitfall(message, hint, offset)


def pitfall_of_zone(interval: str, timezone: str) -> Pitfall | None:
    """Warn if *timezone* has no effect on the times of *interval*; both are valid."""
    zone = zone_of(timezone)
    if not any(day.astimezone(zone).utcoffset() for day in (_SUMMER, _WINTER)):
        return None
    try:
        here, in_utc = (compile_schedule(interval=interval, timezone=one) for one in (timezone, "UTC"))
    except InvalidTime:  # it ends before it starts, by the clocks of UTC
        return None
    if (here.timezone != "UTC" and here.calendars) or replace(here, timezone="UTC") != in_utc:
        return None
    message = f"the timezone {timezone!r} has no effect on the times of the interval {interval!r}"
    hint = "remove it, or write a cron expression if hours are to follow the clocks of the timezone"
    return Pitfall(message, hint)
