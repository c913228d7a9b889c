"""A schedule says when (sections "Schedule Definition" and "Cron Definition")."""

import re
from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

from swf_temporal.durations import parse_duration
from swf_temporal.errors import Problem
from swf_temporal.model.schedules import Cron, Schedule
from swf_temporal.validation.context import Context

_CODE = "schedule"
_REPEATS = re.compile(r"R\d*")
_FIELD = re.compile(r"[\w*?/,#-]+")
_SHORTHANDS = {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each schedule that says nothing, or whose times cannot be read."""
    for schedule, _ in context.nodes.each(Schedule):
        if schedule.interval is None and schedule.cron is None:
            message = "the schedule has neither an interval nor a cron expression"
            yield context.error(_CODE, message, schedule.where.position)
        elif schedule.interval is not None and schedule.cron is not None:
            message = "the schedule has an interval and a cron expression: it can have only one of them"
            yield context.error(_CODE, message, schedule.where.key("cron"))
        if schedule.interval is not None and not _is_interval(schedule.interval):
            message = f"the interval {schedule.interval!r} is not an ISO 8601 interval"
            yield context.error(_CODE, message, schedule.where.value("interval"), "such as R/PT15M")
        if schedule.timezone is not None and not _is_timezone(schedule.timezone):
            message = f"the timezone {schedule.timezone!r} is not known"
            yield context.error(_CODE, message, schedule.where.value("timezone"), "such as Europe/Berlin")
    for cron, _ in context.nodes.each(Cron):
        if not _is_cron(cron.expression):
            message = f"the cron expression {cron.expression!r} does not have five to seven fields"
            yield context.error(_CODE, message, cron.where.value("expression"), "such as 0 0/15 * * * ?")
        if cron.valid_until is not None and not (_is_time(cron.valid_until) or _is_duration(cron.valid_until)):
            message = f"validUntil {cron.valid_until!r} is not a time in ISO 8601"
            yield context.error(_CODE, message, cron.where.value("validUntil"), "such as 2030-12-31T23:59:59Z")


def _is_interval(text: str) -> bool:
    """Tell whether *text* repeats (`R5/…`), or is a window from a start to an end as in examples."""
    parts = text.strip().split("/")
    if _REPEATS.fullmatch(parts[0]):
        parts = parts[1:]
    durations = sum(map(_is_duration, parts))
    return 1 <= len(parts) <= 2 and durations <= 1 and durations + sum(map(_is_time, parts)) == len(parts)  # noqa: PLR2004 - from, to


def _is_duration(text: str) -> bool:
    try:
        return parse_duration(text).total_seconds() > 0
    except (ValueError, OverflowError):
        return False


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_timezone(text: str) -> bool:
    try:
        ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        return False
    return True


def _is_cron(text: str) -> bool:
    fields = text.split()
    return text in _SHORTHANDS or (5 <= len(fields) <= 7 and all(map(_FIELD.fullmatch, fields)))  # noqa: PLR2004 - with seconds, and years
