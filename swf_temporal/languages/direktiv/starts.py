"""The starts of instances: the events that a definition consumes, its schedule, and the inputs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, identity
from swf_temporal.base.durations import parse_duration
from swf_temporal.base.strict_json import write_json
from swf_temporal.languages.direktiv import model
from swf_temporal.languages.direktiv.execution.lane import attributes_match
from swf_temporal.languages.direktiv.execution.states import by_type
from swf_temporal.languages.direktiv.model import (
    EventsAndStart,
    EventsXorStart,
    Start,
    StartEvent,
    Structured,
    Workflow,
    kinds_awaited,
)
from swf_temporal.languages.triggers import ConsumedEvent, CorrelationRule, EventStart
from swf_temporal.runtime.correlation import Taken, assigned, usable
from swf_temporal.text.origin import plain

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


def inputs_of_starts(start: Start | None, events: Iterable[CloudEvent]) -> list[JSON]:
    """Return the input of each instance that *events* start, in order."""
    match start:
        case model.EventStart():
            return [{event.type: event.to_json()} for event in events if _fits(start.event, event)]
        case EventsXorStart():
            return [{event.type: event.to_json()} for event in events if any(_fits(one, event) for one in start.events)]
        case EventsAndStart():
            return _together(start, events)
        case _:
            return []


def event_start(workflow: Workflow) -> EventStart | None:
    start = workflow.start
    if not isinstance(start, model.EventStart | EventsXorStart | EventsAndStart):
        return None
    if not isinstance(start, EventsAndStart):
        return EventStart(tuple(map(_starting, workflow.start_events)), gathers_itself=False)
    rules = tuple(CorrelationRule(name) for name in start.correlate)
    events = tuple(replace(_starting(one), correlation=rules) for one in start.events)
    window = parse_duration(start.lifespan) if start.lifespan else None
    return EventStart(events, "all", gathers_itself=False, window=window)


def consumed_events(workflow: Workflow) -> tuple[ConsumedEvent, ...]:
    """Return the events that states of *workflow* wait for, each with its type and required context."""
    kinds = [kind for state in workflow.states for kind in kinds_awaited(state)]
    return tuple(ConsumedEvent(type_, type_, filters=_written(context)) for type_, context, _ in kinds)


def _starting(kind: StartEvent) -> ConsumedEvent:
    filters = {**(plain(kind.filters) or {}), **(plain(kind.context) or {})}
    return ConsumedEvent(kind.type, kind.type, filters=filters, is_awaited=False)


def _written(context: Structured) -> dict[str, JSON]:
    """Return the static part of a context, which is not calculated from an instance's data."""
    found = plain(context)
    if not isinstance(found, dict):
        return {}
    return {
        name: value for name, value in found.items() if "jq(" not in (text := identity(value)) and "js(" not in text
    }


def _fits(kind: StartEvent, event: CloudEvent) -> bool:
    wanted: dict[str, Any] = {**(plain(kind.filters) or {}), **(plain(kind.context) or {})}
    return event.type == kind.type and attributes_match(wanted, event)


def _together(start: EventsAndStart, events: Iterable[CloudEvent]) -> list[JSON]:
    """Return the inputs of the instances for which there is an event of every kind.

    Events with equal correlation attributes belong together. Each is assigned to the first kind that has no event yet,
    or whose event can be reassigned to such a kind; otherwise it replaces the earlier event of its kind.
    """
    refs = [str(index) for index in range(len(start.events))]
    groups: dict[str, Taken] = {}
    inputs: list[JSON] = []

    def fits(ref: str, event: JSON) -> bool:
        return isinstance(event, dict) and _fits(start.events[int(ref)], CloudEvent.from_record(event))

    for event in events:
        key, record = _correlation(start.correlate, event), event.to_json()
        like = [ref for ref in refs if fits(ref, record)]
        if key is None or not like:
            continue
        waiting = groups.setdefault(key, {})
        _expire(waiting, record, start.lifespan)
        ref = next((one for one in usable(refs, waiting, fits) if one in like), like[0])
        groups[key] = waiting = assigned(record, ref, refs, waiting, fits)
        if len(waiting) == len(refs):
            inputs.append(by_type([one for each in refs if isinstance(one := waiting[each], dict)]))
            del groups[key]
    return inputs


def _correlation(keys: Sequence[str], event: CloudEvent) -> str | None:
    """Return the correlation key of *event*; None if it lacks one of the attributes."""
    values = [event.attribute(key) for key in keys]
    if any(value is None for value in values):
        return None
    return write_json([value if isinstance(value, str) else write_json(value) for value in values])


def _expire(waiting: Taken, event: Mapping[str, JSON], lifespan: str | None) -> None:
    """Remove the events that are older than *lifespan* at the time of *event*."""
    now = _time(event)
    if not lifespan or now is None:
        return
    longest = parse_duration(lifespan)
    for ref, kept in list(waiting.items()):
        then = _time(kept) if isinstance(kept, dict) else None
        if then is not None and now - then > longest:
            del waiting[ref]


def _time(attributes: Mapping[str, JSON]) -> datetime | None:
    try:
        time = datetime.fromisoformat(str(attributes.get("time")))
    except ValueError:
        return None
    return time if time.tzinfo is not None else None
