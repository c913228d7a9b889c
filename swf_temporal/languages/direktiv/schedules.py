"""The times of a `scheduled` start: a cron expression in Direktiv's syntax."""

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from swf_temporal.base.calendars.moments import ScheduleSpec

_ZONE: Final = re.compile(r"(?:CRON_)?TZ=(\S+)\s+(.*)", re.DOTALL)
_EVERY: Final = re.compile(r"@every\s+((?:\d+h)?(?:\d+m)?(?:\d+s)?)")
"""A duration in Go's syntax, in whole seconds."""


def parts_of(cron: str) -> tuple[str | None, str | None, str | None]:
    """Return the cron expression in *cron*, or the interval of `@every`, and the time zone before it."""
    zone = _ZONE.fullmatch(cron.strip())
    text, timezone = (cron, None) if zone is None else (zone[2], zone[1])
    every = _EVERY.fullmatch(text.strip())
    return (text, None, timezone) if every is None else (None, f"R/PT{every[1].upper()}", timezone)


def compiled(cron: str) -> "ScheduleSpec":
    """Return the schedule of *cron*. Raises InvalidTime."""
    from swf_temporal.base.calendars.compiling import compile_schedule  # noqa: PLC0415 - heavy

    text, interval, timezone = parts_of(cron)
    return compile_schedule(cron=text, interval=interval, timezone=timezone)
