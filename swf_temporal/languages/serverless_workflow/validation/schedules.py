"""Problems of a schedule (sections "Schedule Definition" and "Cron Definition")."""

from collections.abc import Callable, Iterator

from swf_temporal.base.calendars.compiling import compile_schedule, parse_interval
from swf_temporal.base.calendars.cron import parse_cron
from swf_temporal.base.calendars.moments import InvalidTime, ScheduleSpec, parse_time, zone_of
from swf_temporal.base.calendars.wording import pitfall_of_days, pitfall_of_zone
from swf_temporal.base.durations import parse_duration
from swf_temporal.base.errors import Position, Problem
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.workflow import Schedule
from swf_temporal.languages.serverless_workflow.validation.context import Context

_CODE = "schedule"


def check_schedule(context: Context, schedule: Schedule) -> Iterator[Problem]:
    """Yield a problem for each text of *schedule* that cannot be read, and for contradictions."""
    unreadable = list(_unreadable(context, schedule))
    yield from unreadable
    if unreadable:
        return
    contradictory = list(_contradictory(context, schedule))
    yield from contradictory
    if not contradictory:
        yield from _pitfalls(context, schedule)
    if schedule.cron is None and schedule.interval is not None:
        yield from _single(context, schedule, schedule.interval)


def _unreadable(context: Context, schedule: Schedule) -> Iterator[Problem]:
    yield from _checked(context, schedule, "interval", schedule.interval, parse_interval)
    yield from _checked(context, schedule, "timezone", schedule.timezone, zone_of)
    cron = schedule.cron
    if cron is None:
        return
    yield from _checked(context, cron, "expression", cron.expression, parse_cron)
    if cron.valid_until is not None and _is_duration(cron.valid_until):
        message = (
            f"validUntil {cron.valid_until!r} is a duration and not a point in time: the schedule cannot be applied"
        )
        where = cron.where.value("validUntil")
        yield context.warning(_CODE, message, where, "such as 2030-12-31T23:59:59Z")
    else:
        yield from _checked(context, cron, "validUntil", cron.valid_until, parse_time)


def _checked(
    context: Context, node: Node, key: str, text: str | None, read: Callable[[str], object]
) -> Iterator[Problem]:
    try:
        if text is not None:
            read(text)
    except InvalidTime as error:
        position = _position(context, node.where.value(key), text or "", error.offset)
        yield context.error(_CODE, error.message, position, error.hint)


def compiled(schedule: Schedule) -> ScheduleSpec:
    """Return the times of *schedule*. Raises InvalidTime."""
    cron = schedule.cron
    return compile_schedule(
        interval=schedule.interval,
        cron=None if cron is None else cron.expression,
        valid_until=None if cron is None else cron.valid_until,
        timezone=schedule.timezone,
    )


def _contradictory(context: Context, schedule: Schedule) -> Iterator[Problem]:
    try:
        compiled(schedule)
    except InvalidTime as error:
        yield context.error(_CODE, error.message, schedule.where.key("interval"), error.hint)


def _pitfalls(context: Context, schedule: Schedule) -> Iterator[Problem]:
    cron = schedule.cron
    days = None if cron is None else pitfall_of_days(cron.expression)
    if cron is not None and days is not None:
        position = _position(context, cron.where.value("expression"), cron.expression, days.offset)
        yield context.warning(_CODE, days.message, position, days.hint)
    if cron is None and schedule.interval is not None and schedule.timezone is not None:
        zone = pitfall_of_zone(schedule.interval, schedule.timezone)
        if zone is not None:
            yield context.warning(_CODE, zone.message, schedule.where.value("timezone"), zone.hint)


def _single(context: Context, schedule: Schedule, interval: str) -> Iterator[Problem]:
    if not parse_interval(interval).repeats:
        message = f"the interval {interval!r} does not repeat: one instance is started, at its start"
        yield context.warning(
            _CODE, message, schedule.where.value("interval"), "a repeating one begins with R/, such as R/PT1H"
        )


def _position(context: Context, value: Position, text: str, offset: int) -> Position:
    """Return the position of a character of *text*, allowing for a quote; that of *value* if it is not found."""
    lines = context.workflow.source.text.splitlines()
    line = lines[value.line - 1] if value.line <= len(lines) else ""
    start = line.find(text, value.column - 1)
    return value if start < 0 or not offset else Position(value.line, start + 1 + offset)


def _is_duration(text: str) -> bool:
    try:
        parse_duration(text)
    except ValueError:
        return False
    return True
