"""How does a definition come to be started by itself: its schedule, as the engine keeps it?

A definition has one schedule on the server, whatever its version: applying it again changes that one in place. What
was done to it by hand since then, such as pausing it, stays.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleDescription,
    ScheduleHandle,
    ScheduleListDescription,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.calendars.compiling import compile_schedule
from swf_temporal.calendars.previewing import preview
from swf_temporal.calendars.specs import ScheduleSpec
from swf_temporal.calendars.unreadable import Unreadable
from swf_temporal.data import JSON
from swf_temporal.errors import UsageError
from swf_temporal.model.workflow import Workflow
from swf_temporal.temporal.schedule_records import MEMO, NOTE, facts_about, schedule_of
from swf_temporal.temporal.worker import TASK_QUEUE

_PREFIX = "swf-"


class Outcome(StrEnum):
    """What applying a schedule came to."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Applied:
    """A schedule as it now is on the server. *next_time* is None if it starts nothing any more."""

    id: str
    outcome: Outcome
    paused: bool
    next_time: datetime | None


def schedule_id(definition_id: str) -> str:
    """Return the id of the schedule of a definition, whatever its version."""
    return _PREFIX + definition_id


def spec_of(workflow: Workflow) -> ScheduleSpec:
    """Return when *workflow* is to be started. Raises UsageError if it does not say, or cannot be understood."""
    schedule = workflow.start.schedule
    if schedule is None:
        raise UsageError(f"the definition {workflow.id!r} has no schedule", "it is written under start: schedule:")
    cron = schedule.cron
    try:
        return compile_schedule(
            interval=schedule.interval,
            cron=None if cron is None else cron.expression,
            valid_until=None if cron is None else cron.valid_until,
            timezone=schedule.timezone,
        )
    except Unreadable as error:
        raise UsageError(f"the schedule of {workflow.id!r}: {error.message}", error.hint) from None


async def apply(
    client: Client,
    workflow: Workflow,
    others: Sequence[Workflow] = (),
    *,
    data: JSON = None,
    task_queue: str = TASK_QUEUE,
    paused: bool = False,
) -> Applied:
    """Have the server start instances of *workflow* when its schedule says so; *others* are its sub-workflows.

    Each instance runs the definitions as they are now and begins with *data*. A schedule that is there already is
    changed in place, if there is anything to change; it stays paused or not as it was, and *paused* is for a new
    one. Raises UsageError if the definition has no schedule.
    """
    spec = spec_of(workflow)
    workflows = [workflow, *others]
    facts = facts_about(spec, workflows, data, task_queue)
    wanted = schedule_of(spec, workflows, data, task_queue, facts)
    async with _of(client, workflow.id) as handle:
        try:
            new = replace(wanted, state=replace(wanted.state, paused=paused))
            await client.create_schedule(handle.id, new, memo={MEMO: workflow.id})
            outcome = Outcome.CREATED
        except ScheduleAlreadyRunningError:
            outcome = await _update(handle, wanted, facts)
        state = (await handle.describe()).schedule.state
    upcoming = preview(spec, datetime.now(UTC), 1)
    is_used_up = state.limited_actions and not state.remaining_actions
    return Applied(handle.id, outcome, state.paused, upcoming[0] if upcoming and not is_used_up else None)


async def list_all(client: Client) -> AsyncIterator[ScheduleListDescription]:
    """Yield the schedules of definitions, as far as the server has listed them yet."""
    async for one in await client.list_schedules():
        if MEMO in await one.memo():
            yield one


async def describe(client: Client, definition_id: str) -> ScheduleDescription:
    """Return what the server knows of a definition's schedule. Raises UsageError if there is none."""
    async with _of(client, definition_id) as handle:
        return await handle.describe()


async def facts_of(description: ScheduleDescription) -> Mapping[str, JSON]:
    """Return which definition a schedule starts: its `definition` id, `version` and `digest`."""
    action = description.schedule.action
    memo = action.memo if isinstance(action, ScheduleActionStartWorkflow) else None
    if not memo or MEMO not in memo:
        return {}
    [facts] = await description.data_converter.decode([memo[MEMO]])
    return facts if isinstance(facts, dict) else {}


async def pause(client: Client, definition_id: str, note: str | None = None) -> None:
    """Start nothing until `resume`. Raises UsageError if there is no such schedule."""
    async with _of(client, definition_id) as handle:
        await handle.pause(note=note or "paused by swf")


async def resume(client: Client, definition_id: str, note: str | None = None) -> None:
    """Go on after `pause`; what was missed is not made up for. Raises UsageError if there is no such schedule."""
    async with _of(client, definition_id) as handle:
        await handle.unpause(note=note or "resumed by swf")


async def trigger(client: Client, definition_id: str) -> None:
    """Start an instance now, paused or not. Raises UsageError if there is no such schedule."""
    async with _of(client, definition_id) as handle:
        await handle.trigger()


async def delete(client: Client, definition_id: str) -> None:
    """Forget the schedule; instances that it started go on. Raises UsageError if there is no such schedule."""
    async with _of(client, definition_id) as handle:
        await handle.delete()


@asynccontextmanager
async def _of(client: Client, definition_id: str) -> AsyncIterator[ScheduleHandle]:
    """Give the schedule of a definition, and tell the caller what the server says against it."""
    try:
        yield client.get_schedule_handle(schedule_id(definition_id))
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            message = f"the definition {definition_id!r} has no schedule on the server"
            raise UsageError(message, "see `swf schedule list`, or `swf schedule apply FILE` to make one") from None
        raise UsageError(f"the server refused the schedule of {definition_id!r}: {error.message}") from None


async def _update(handle: ScheduleHandle, wanted: Schedule, facts: Mapping[str, JSON]) -> Outcome:
    """Change the schedule to what is *wanted*, but for what was done to it by hand."""
    outcome = Outcome.UPDATED

    async def changed(found: ScheduleUpdateInput) -> ScheduleUpdate | None:
        nonlocal outcome
        present = found.description.schedule
        same_times = present.spec == wanted.spec
        if same_times and present.policy == wanted.policy and await facts_of(found.description) == facts:
            outcome = Outcome.UNCHANGED
            return None
        outcome = Outcome.UPDATED
        state = replace(wanted.state, paused=present.state.paused)
        if present.state.note and not present.state.note.startswith(NOTE):
            state.note = present.state.note
        if same_times and present.state.limited_actions:
            state.remaining_actions = present.state.remaining_actions
        return ScheduleUpdate(replace(wanted, state=state))

    await handle.update(changed)
    return outcome
