"""A definition's schedule as Temporal stores it: its times, its action, and its memo.

Imported only to apply a schedule: what lists or pauses them reads no definitions.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from temporalio import client as engine
from temporalio.client import (
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleCalendarSpec,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleRange,
    ScheduleState,
)

from swf_temporal.base.calendars.moments import CalendarSpec, Ranges, ScheduleSpec
from swf_temporal.base.calendars.previewing import distance
from swf_temporal.base.data import JSON, identity
from swf_temporal.base.strict_json import write_json
from swf_temporal.languages.port import Definition
from swf_temporal.temporal import summaries
from swf_temporal.temporal.constants import MEMO, NOTE
from swf_temporal.temporal.records import pin_of, pinned
from swf_temporal.temporal.schedules import ScheduleFacts

_SHORT = 12
"""The number of characters of a digest to show."""


def facts_about(spec: ScheduleSpec, workflows: Sequence[Definition], data: JSON, task_queue: str) -> ScheduleFacts:
    """Return the facts for a memo: the definition, and a digest of everything that the schedule is made from."""
    first = workflows[0]
    everything = [repr(spec), [one.digest for one in workflows], identity(data), task_queue]
    made_from = sha256(write_json(everything).encode()).hexdigest()
    return ScheduleFacts(first.id, first.version, first.digest, made_from, spec.limit)


def pinned_by(workflows: Sequence[Definition]) -> dict[str, Any]:
    """Return the record of definitions with which a schedule starts instances."""
    return pin_of(pinned(workflows), workflows[0].version).to_json()


def schedule_of(
    spec: ScheduleSpec,
    workflows: Sequence[Definition],
    arguments: Sequence[object],
    task_queue: str,
    facts: ScheduleFacts,
) -> Schedule:
    """Return the schedule that starts the first of *workflows* with *arguments* at the times of *spec*."""
    first = workflows[0]
    named = first.id if first.version is None else f"{first.id} {first.version}"
    return Schedule(
        action=ScheduleActionStartWorkflow(
            first.id,
            args=arguments,
            id=first.id,
            task_queue=task_queue,
            memo={MEMO: facts.to_json()},
            static_summary=summaries.of_instance(first),
        ),
        spec=_spec(spec),
        # Each time starts an instance, even if earlier ones are still running.
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.ALLOW_ALL, catchup_window=distance(spec)),
        state=ScheduleState(
            note=f"{NOTE}{named}, sha256 {first.digest[:_SHORT]}",
            limited_actions=spec.limit is not None,
            remaining_actions=spec.limit or 0,
        ),
    )


def _spec(spec: ScheduleSpec) -> engine.ScheduleSpec:
    return engine.ScheduleSpec(
        calendars=[_calendar(one) for one in spec.calendars],
        intervals=[ScheduleIntervalSpec(one.every, one.phase or None) for one in spec.intervals],
        start_at=spec.start_at,
        end_at=spec.end_at,
        time_zone_name=spec.timezone,
    )


def _calendar(spec: CalendarSpec) -> ScheduleCalendarSpec:
    return ScheduleCalendarSpec(
        second=_ranges(spec.second),
        minute=_ranges(spec.minute),
        hour=_ranges(spec.hour),
        day_of_month=_ranges(spec.day_of_month),
        month=_ranges(spec.month),
        year=_ranges(spec.year),
        day_of_week=_ranges(spec.day_of_week),
    )


def _ranges(ranges: Ranges) -> tuple[ScheduleRange, ...]:
    return tuple(ScheduleRange(one.start, one.end, one.step) for one in ranges)
