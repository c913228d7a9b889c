"""Are definitions started by the server when their schedules say so?"""

import asyncio
import os
from collections.abc import Awaitable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

import pytest
from temporalio.client import (
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    ScheduleRange,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)

from swf_temporal.base.calendars.compiling import compile_schedule
from swf_temporal.base.calendars.previewing import preview
from swf_temporal.base.errors import UsageError
from swf_temporal.languages.port import Definition
from swf_temporal.temporal import schedules
from swf_temporal.temporal.client import result
from swf_temporal.temporal.schedules import Outcome
from tests.temporal.building import inject
from tests.temporal.conftest import Bench, define, until

NUMBERS = count(1)
FAR = "R/2090-01-01T00:00:00Z/P1D"
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
END = (datetime(2100, 12, 31, 23, 59, tzinfo=UTC) - NEW_YEAR) // timedelta(minutes=1)
"""In minutes: the last that the server knows of."""


def scheduled(schedule: Any, *, id_: str | None = None, **rest: Any) -> Definition:
    """Return a definition of an id of its own, with *schedule*."""
    own = id_ or f"timed-{os.getpid()}-{next(NUMBERS)}"
    start = {"stateName": "Note", "schedule": schedule}
    return define(inject("Note", {"noted": True}), id=own, start=start, **{"version": "1.0", **rest})


async def test_applied(bench: Bench) -> None:
    workflow = scheduled({"cron": {"expression": "0 15,30,45 9 ? * MON-FRI", "validUntil": "2090-01-01"}})
    applied = await schedules.apply(bench.client, workflow, data={"a": 1}, task_queue="some")
    found = await schedules.describe(bench.client, workflow.id)
    assert (applied.id, applied.outcome, applied.paused) == (f"swf-{workflow.id}", Outcome.CREATED, False)
    assert applied.next_time == found.info.next_action_times[0]
    [calendar] = found.schedule.spec.calendars
    assert calendar.minute == (ScheduleRange(15, 45, 15),)
    assert calendar.hour == (ScheduleRange(9),)
    assert calendar.day_of_week == (ScheduleRange(1, 5),)
    assert found.schedule.spec.end_at == datetime(2089, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert found.schedule.policy.overlap is ScheduleOverlapPolicy.ALLOW_ALL
    assert found.schedule.policy.catchup_window == timedelta(minutes=15)
    facts = await schedules.facts_of(found)
    assert facts is not None
    assert (facts.definition, facts.version, facts.digest) == (workflow.id, "1.0", workflow.digest)
    assert found.schedule.state.note == f"definition {workflow.id} 1.0, sha256 {workflow.digest[:12]}"


async def test_unchanged(bench: Bench) -> None:
    workflow = scheduled("R/2090-01-01T08:30:15+02:00/PT7H")
    outcomes = [
        (await schedules.apply(bench.client, workflow)).outcome,
        (await schedules.apply(bench.client, workflow)).outcome,
        (await schedules.apply(bench.client, workflow, data={"a": 1})).outcome,
        (await schedules.apply(bench.client, workflow, data={"a": 1}, task_queue="other")).outcome,
        (await schedules.apply(bench.client, workflow, data={"a": 1}, task_queue="other")).outcome,
    ]
    assert outcomes == [Outcome.CREATED, Outcome.UNCHANGED, Outcome.UPDATED, Outcome.UPDATED, Outcome.UNCHANGED]


async def test_updated_in_place(bench: Bench) -> None:
    first = scheduled(FAR)
    await schedules.apply(bench.client, first)
    before = await schedules.describe(bench.client, first.id)
    await schedules.pause(bench.client, first.id, "until the audit is over")
    second = scheduled({"cron": "0 0 1 1 *"}, id_=first.id, version="2.0")
    applied = await schedules.apply(bench.client, second)
    after = await schedules.describe(bench.client, first.id)
    assert (applied.outcome, applied.paused) == (Outcome.UPDATED, True)
    assert after.info.created_at == before.info.created_at
    assert (after.schedule.state.paused, after.schedule.state.note) == (True, "until the audit is over")
    facts = await schedules.facts_of(after)
    assert facts is not None
    assert facts.version == "2.0"
    assert after.schedule.spec.start_at is None


async def test_note_of_ours(bench: Bench) -> None:
    first = scheduled(FAR)
    await schedules.apply(bench.client, first)
    await schedules.apply(bench.client, scheduled(FAR, id_=first.id, version="2.0"))
    note = (await schedules.describe(bench.client, first.id)).schedule.state.note
    assert note is not None
    assert note.startswith(f"definition {first.id} 2.0, ")


async def test_changed_by_hand(bench: Bench) -> None:
    workflow = scheduled(FAR)
    await schedules.apply(bench.client, workflow)

    def earlier(found: ScheduleUpdateInput) -> ScheduleUpdate:
        found.description.schedule.spec.start_at = None
        return ScheduleUpdate(found.description.schedule)

    await bench.client.get_schedule_handle(schedules.schedule_id(workflow.id)).update(earlier)
    assert (await schedules.apply(bench.client, workflow)).outcome is Outcome.UPDATED
    found = await schedules.describe(bench.client, workflow.id)
    assert found.schedule.spec.start_at == datetime(2090, 1, 1, tzinfo=UTC)


async def test_starts_instances(bench: Bench) -> None:
    workflow = scheduled("R/PT1S")
    async with bench.worker(workflow) as running:
        await schedules.apply(bench.client, workflow, data={"from": "schedule"}, task_queue=running.queue)
        described = await until(
            lambda: schedules.describe(bench.client, workflow.id), lambda one: len(one.info.recent_actions) > 1
        )
        actions = described.info.recent_actions
        await schedules.delete(bench.client, workflow.id)
        for action in actions:
            started: Any = action.action
            handle = bench.handle(started.workflow_id)
            assert started.workflow_id.startswith(f"{workflow.id}-")
            assert (await handle.describe()).workflow_type == workflow.id
            assert await result(handle) == {"from": "schedule", "noted": True}
        assert all(action.scheduled_at.microsecond == 0 for action in actions)


async def test_number_of_starts(bench: Bench) -> None:
    workflow = scheduled("R2/PT1S")
    async with bench.worker(workflow) as running:
        await schedules.apply(bench.client, workflow, task_queue=running.queue)
        ask = partial(schedules.describe, bench.client, workflow.id)
        found = await until(ask, lambda one: not one.schedule.state.remaining_actions)
        assert found.info.num_actions == 2
        again = await schedules.apply(bench.client, workflow, data={"a": 1}, task_queue=running.queue)
        assert (again.outcome, again.next_time) == (Outcome.UPDATED, None)
        state = (await schedules.describe(bench.client, workflow.id)).schedule.state
        assert (state.limited_actions, state.remaining_actions) == (True, 0)


@pytest.mark.parametrize(("number", "left"), [(5, 4), (2, 1), (1, 0)])
async def test_another_number_of_starts(bench: Bench, number: int, left: int) -> None:
    first = scheduled("R3/P1D")
    await schedules.apply(bench.client, first)

    def once_started(found: ScheduleUpdateInput) -> ScheduleUpdate:
        found.description.schedule.state.remaining_actions -= 1
        return ScheduleUpdate(found.description.schedule)

    await bench.client.get_schedule_handle(schedules.schedule_id(first.id)).update(once_started)
    applied = await schedules.apply(bench.client, scheduled(f"R{number}/P1D", id_=first.id))
    state = (await schedules.describe(bench.client, first.id)).schedule.state
    assert (applied.outcome, state.limited_actions, state.remaining_actions) == (Outcome.UPDATED, True, left)


async def test_paused_and_triggered(bench: Bench) -> None:
    workflow = scheduled("R/PT1S")
    async with bench.worker(workflow) as running:
        applied = await schedules.apply(bench.client, workflow, task_queue=running.queue, paused=True)
        assert applied.paused
        await schedules.trigger(bench.client, workflow.id)
        ask = partial(schedules.describe, bench.client, workflow.id)
        found = await until(ask, lambda one: one.info.recent_actions)
        assert found.schedule.state.paused
        await schedules.resume(bench.client, workflow.id)
        assert not (await schedules.describe(bench.client, workflow.id)).schedule.state.paused
        await schedules.pause(bench.client, workflow.id)
        state = (await schedules.describe(bench.client, workflow.id)).schedule.state
        assert (state.paused, state.note) == (True, "paused by swf")
        await schedules.delete(bench.client, workflow.id)


async def test_listed(bench: Bench) -> None:
    workflow = scheduled(FAR)
    await schedules.apply(bench.client, workflow)
    async with asyncio.timeout(30):
        while schedules.schedule_id(workflow.id) not in [one.id async for one in schedules.list_all(bench.client)]:
            await asyncio.sleep(0.1)


async def test_of_somebody_else(bench: Bench) -> None:
    workflow = scheduled(FAR)
    action = ScheduleActionStartWorkflow("Backup", id="backup", task_queue="some")
    own = Schedule(action=action, spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(timedelta(days=1))]))
    handle = await bench.client.create_schedule(schedules.schedule_id(workflow.id), own)
    for refused in (schedules.apply(bench.client, workflow), *_changes(bench, workflow)):
        with pytest.raises(UsageError, match="is not one of a definition"):
            await refused
    found = (await handle.describe()).schedule
    assert isinstance(found.action, ScheduleActionStartWorkflow)
    assert (found.action.workflow, found.state.paused, found.spec.intervals) == ("Backup", False, own.spec.intervals)
    await handle.delete()


def _changes(bench: Bench, workflow: Definition) -> Iterator[Awaitable[None]]:
    for change in (schedules.pause, schedules.resume, schedules.trigger, schedules.delete):
        yield change(bench.client, workflow.id)


async def test_without_schedule(bench: Bench) -> None:
    workflow = define(inject("A"), id="plain")
    with pytest.raises(UsageError, match="the definition 'plain' has no schedule"):
        await schedules.apply(bench.client, workflow)
    for ask in (schedules.describe, schedules.pause, schedules.resume, schedules.trigger, schedules.delete):
        with pytest.raises(UsageError, match="the definition 'never-applied' has no schedule on the server"):
            await ask(bench.client, "never-applied")


async def test_one_that_the_definition_has_no_more(bench: Bench) -> None:
    """It goes on: who applies the definition is told how to end it."""
    hourly = scheduled("R/PT1H")
    plain = define(inject("A"), id=hourly.id)
    await schedules.apply(bench.client, hourly)
    with pytest.raises(UsageError, match=f"has no schedule\n.*`swf schedule delete {hourly.id}`"):
        await schedules.apply(bench.client, plain)
    await schedules.delete(bench.client, hourly.id)
    with pytest.raises(UsageError, match="it is written under start: schedule:"):
        await schedules.apply(bench.client, plain)


@pytest.mark.parametrize(
    ("interval", "end", "minutes"),
    [
        ("R/PT1M", None, [1, 2, 3]),
        ("R/PT1M", NEW_YEAR + timedelta(minutes=2), [1, 2]),
        ("R/PT1M", NEW_YEAR + timedelta(seconds=119), [1]),
        ("R/PT1M", NEW_YEAR, []),
        ("R2/PT1M", None, [1, 2]),
        ("R/2100-12-31T23:59:00Z/PT1M", None, [END]),
    ],
)
async def test_times(bench: Bench, interval: str, end: datetime | None, minutes: list[int]) -> None:
    """The server tells the times after one and up to another, without the one, with the other; paused or not."""
    workflow = scheduled(interval)
    await schedules.apply(bench.client, workflow, paused=True)
    times = await schedules.times(bench.client, workflow.id, NEW_YEAR, end, 3)
    assert times == [NEW_YEAR + timedelta(minutes=one) for one in minutes]


async def test_many_times(bench: Bench) -> None:
    workflow = scheduled("R/PT1S")
    await schedules.apply(bench.client, workflow, paused=True)
    times = await schedules.times(bench.client, workflow.id, NEW_YEAR, None, 1002)
    assert times == [NEW_YEAR + timedelta(seconds=one) for one in range(1, 1003)]


SAME: dict[str, dict[str, str]] = {
    "the official car auction": {"interval": "R/PT2H"},
    "the official inbox": {"cron": "0 0/15 * * * ?"},
    "the official minutes": {"cron": "0 15,30,45 * ? * *"},
    "the official greeting": {"cron": "* * * * *"},
    "the official start and duration": {"interval": "R/2020-03-20T13:00:00Z/PT2H"},
    "either day": {"cron": "30 4 1,15 * 5"},
    "last day": {"cron": "0 0 0 L * ?"},
    "last workday": {"cron": "0 30 18 LW * ?", "timezone": "America/New_York"},
    "nearest workday": {"cron": "0 0 9 1W,31W * ?"},
    "third day from the end": {"cron": "0 0 9 L-3 * ?"},
    "third Friday": {"cron": "0 0 9 ? * FRI#3"},
    "last Friday": {"cron": "0 0 9 ? * FRIL", "timezone": "Asia/Tokyo"},
    "leap days": {"cron": "0 0 29 2 *"},
    "monthly on the 31st": {"interval": "R/2026-01-31T10:00:00/P1M", "timezone": "Europe/Paris"},
    "every fifth month": {"interval": "R/2026-01-31T10:00:00/P5M", "timezone": "Europe/Paris"},
    "weekly": {"interval": "R/P1W", "timezone": "Australia/Sydney"},
    "in the hour that comes twice": {"cron": "30 1 * 3,11 *", "timezone": "America/New_York"},
    "several in the hour that comes twice": {"cron": "0/15 2 * 10 SUN", "timezone": "Europe/Berlin"},
    "in the hour that is skipped": {"cron": "30 2 * 3,11 *", "timezone": "Europe/Berlin"},
    "in an hour of some length": {"cron": "0/10 1-3 * 4,10 SAT,SUN", "timezone": "Australia/Lord_Howe"},
    "on a day without midnight": {"cron": "15 0-2 * 3 SUN", "timezone": "America/Havana"},
}


@pytest.mark.parametrize("schedule", SAME.values(), ids=SAME)
async def test_same_times(bench: Bench, schedule: dict[str, str]) -> None:
    workflow = scheduled(schedule)
    await schedules.apply(bench.client, workflow, paused=True)
    theirs = (await schedules.describe(bench.client, workflow.id)).info.next_action_times
    ours = preview(compile_schedule(**schedule), theirs[0] - timedelta(seconds=1), len(theirs))
    assert ours == list(theirs)
    # The server returns calendars as they were given to it, so that nothing looks changed.
    assert (await schedules.apply(bench.client, workflow)).outcome is Outcome.UNCHANGED
    await schedules.delete(bench.client, workflow.id)
