"""Schedules in words, and the parts of them that may not mean what their author intended."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from swf_temporal.base.calendars.compiling import Interval, compile_schedule, parse_interval
from swf_temporal.base.calendars.cron import days_of_cron, is_unrestricted, parse_cron
from swf_temporal.base.calendars.moments import (
    DAYS_OF_MONTH,
    DAYS_OF_WEEK,
    MONTHS,
    CalendarSpec,
    InvalidTime,
    Ranges,
    zone_of,
)
from swf_temporal.base.durations import format_duration
from swf_temporal.base.grammar import counted

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


_FEW = 4
"""The maximum number of times of a day that are listed individually."""
_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def schedule_words(
    *, interval: str | None = None, cron: str | None = None, valid_until: str | None = None, timezone: str | None = None
) -> str:
    """Describe in words when the schedule with these texts starts instances. Raises InvalidTime."""
    parts = []
    if cron is not None:
        parts.append("; and ".join(map(_calendar, parse_cron(cron))))
    if interval is not None:
        parts.append(_interval(parse_interval(interval), is_alone=cron is None))
    if cron is not None and valid_until is not None:
        parts.append(f"until {valid_until}")
    return f"{', '.join(parts)} ({timezone or 'UTC'})"


def _interval(interval: Interval, *, is_alone: bool) -> str:
    bounds = [("from", interval.start), ("until", interval.end)]
    times = " ".join(f"{word} {time.isoformat()}" for word, time in bounds if time is not None)
    length = "" if interval.length is None else _length(interval.length.months, interval.length.seconds)
    if interval.repeats:
        count = "" if interval.count is None else f", {counted(interval.count, 'time')}"
        return f"every {length}{count}{times and f', {times}'}"
    within = f"{times} for {length}" if length else times
    return f"once, at the start of the time {within}" if is_alone else within


def _length(months: int, seconds: int) -> str:
    return counted(months, "month") if months else format_duration(timedelta(seconds=seconds))


def _calendar(calendar: CalendarSpec) -> str:
    days, weekdays, months = (_numbers(one) for one in (calendar.day_of_month, calendar.day_of_week, calendar.month))
    parts = [_time_of_day(*(_numbers(one) for one in (calendar.second, calendar.minute, calendar.hour)))]
    if set(weekdays) != DAYS_OF_WEEK:
        # People begin the week with Monday.
        ordered = sorted(weekdays, key=lambda day: day or len(_WEEKDAYS))
        parts.append(f"on {_listed([day or len(_WEEKDAYS) for day in ordered], [*_WEEKDAYS, _WEEKDAYS[0]])}")
    if set(days) != DAYS_OF_MONTH:
        parts.append(f"on {'days' if len(days) > 1 else 'day'} {_listed(days)} of the month")
    if set(months) != MONTHS:
        parts.append(f"in {_listed(months, ['', *_MONTHS])}")
    if calendar.year:
        parts.append(f"in {_listed(_numbers(calendar.year))}")
    return " ".join(parts)


def _time_of_day(seconds: list[int], minutes: list[int], hours: list[int]) -> str:
    if seconds != [0]:
        first = "every second" if len(seconds) == 60 else f"at second {_listed(seconds)}"  # noqa: PLR2004 - of a minute
        return f"{first} of minute {_listed(minutes)} of hour {_listed(hours)}"
    if len(minutes) * len(hours) <= _FEW:
        return f"at {', '.join(f'{hour:02}:{minute:02}' for hour in hours for minute in minutes)}"
    step = _step(minutes, 60)
    often = f"at minute {_listed(minutes)}" if step is None else f"every {_of(step, 'minute')}"
    if len(hours) == 24:  # noqa: PLR2004 - of a day
        return often if step is not None else f"{often} of every hour"
    apart = _step(hours, 24)
    return f"{often} of hours {_listed(hours)}" if apart is None else f"{often} of every {_of(apart, 'hour')}"


def _step(numbers: list[int], whole: int) -> int | None:
    """Return the step of *numbers*, if they divide the *whole* evenly, starting from zero."""
    step = whole // len(numbers)
    return step if numbers == list(range(0, whole, step)) and len(numbers) > 1 and whole % step == 0 else None


def _of(number: int, thing: str) -> str:
    return thing if number == 1 else counted(number, thing)


def _numbers(ranges: Ranges) -> list[int]:
    return sorted({number for one in ranges for number in one})


def _listed(numbers: Iterable[int], names: Sequence[str] | None = None) -> str:
    """Return *numbers*, or their *names*, with consecutive ones shown as ranges."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] + 1 == number:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(_run([str(one) if names is None else names[one] for one in run]) for run in runs)


def _run(names: list[str]) -> str:
    return ", ".join(names) if len(names) < 3 else f"{names[0]} to {names[-1]}"  # noqa: PLR2004 - two are not a range
