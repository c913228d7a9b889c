"""The schedules of definitions: `every` and `cron` (section "Schedule")."""

from dataclasses import replace
from typing import TYPE_CHECKING

from swf_temporal.base.errors import UsageError
from swf_temporal.languages.dsl.model.node import DurationParts
from swf_temporal.languages.dsl.model.workflow import Schedule

if TYPE_CHECKING:
    from swf_temporal.base.calendars.moments import ScheduleSpec


def compiled(schedule: Schedule) -> "ScheduleSpec":
    """Return the times of *schedule*. Raises InvalidTime."""
    from swf_temporal.base.calendars.compiling import compile_schedule  # noqa: PLC0415 - heavy

    if schedule.every is not None:
        every = compile_schedule(cron=None, interval=f"R/{written(schedule.every)}", timezone=None)
        if schedule.cron is None:
            return every
        # Only zigflow documents have both.
        by_cron = compile_schedule(cron=schedule.cron, interval=None, timezone=None)
        calendars = (*by_cron.calendars, *every.calendars)
        return replace(by_cron, calendars=calendars, intervals=(*by_cron.intervals, *every.intervals))
    return compile_schedule(cron=schedule.cron, interval=None, timezone=None)


def spec_of(schedule: Schedule, id_: str) -> "ScheduleSpec":
    """Return the times of *schedule*. Raises UsageError for invalid ones."""
    from swf_temporal.base.calendars.moments import InvalidTime  # noqa: PLC0415 - heavy

    try:
        return compiled(schedule)
    except InvalidTime as error:
        raise UsageError(f"the schedule of {id_!r} cannot be understood: {error}") from None


def written(duration: str | DurationParts) -> str:
    """Return *duration* by ISO 8601."""
    if isinstance(duration, str):
        return duration
    seconds = duration.seconds + duration.milliseconds / 1000
    parts = (("D", duration.days), ("H", duration.hours), ("M", duration.minutes), ("S", seconds))
    days = f"{duration.days}D" if duration.days else ""
    time = "".join(f"{number:g}{letter}" for letter, number in parts[1:] if number)
    return f"P{days}T{time}" if time else f"P{days}" if days else "PT0S"
