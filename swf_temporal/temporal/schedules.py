"""Schedules on the server: applying, listing, pausing, triggering, deleting.

A definition has one schedule on the server, whatever its version: applying it again changes that one in place. Manual
changes since then, such as pausing it, are kept.
"""

import shlex
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.workflowservice.v1 import ListScheduleMatchingTimesRequest
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

from swf_temporal.base.calendars.moments import LAST_YEAR
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.base.records import MalformedRecord, Record
from swf_temporal.settings.values import TASK_QUEUE
from swf_temporal.temporal.constants import MEMO, NOTE
from swf_temporal.temporal.converter import sendable

if TYPE_CHECKING:
    from swf_temporal.languages.port import Definition

_PREFIX = "swf-"
_LAST = datetime(LAST_YEAR + 1, 1, 1, tzinfo=UTC)
"""The server has no schedule times after this."""


@dataclass(frozen=True, slots=True)
class ScheduleFacts(Record):
    """The facts in the memo of a schedule and of the instances that it starts."""

    WHAT: ClassVar[str] = "a schedule's facts"
    CAMEL_CASE: ClassVar[bool] = True

    definition: str
    version: str | None
    digest: str
    made_from: str
    """A digest of everything that the schedule is made from."""
    limit: int | None = None
    """The total number of instances that it starts; None is any number."""


class Outcome(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Applied:
    """A schedule as it now is on the server, with its *next_time*: None if it starts nothing any more."""

    id: str
    outcome: Outcome
    paused: bool
    next_time: datetime | None


def schedule_id(definition_id: str) -> str:
    """Return the id of the schedule of a definition, whatever its version."""
    return _PREFIX + definition_id


async def apply(
    client: Client,
    workflow: "Definition",
    others: "Sequence[Definition]" = (),
    *,
    data: JSON = None,
    task_queue: str = TASK_QUEUE,
    paused: bool = False,
) -> Applied:
    """Have the server start instances of *workflow* when its schedule says so; *others* are its sub-workflows.

    Each instance runs the definitions as they are now and begins with *data*. An existing schedule is changed in place,
    if anything differs; it stays paused or not as it was, and *paused* is for a new one. Raises UsageError if the
    definition has no schedule.
    """
    from swf_temporal.temporal.schedule_records import facts_about, pinned_by, schedule_of  # noqa: PLC0415 - which only this needs

    spec = await _spec_of(client, workflow)
    workflows = [workflow, *others]
    facts = facts_about(spec, workflows, data, task_queue)
    arguments = sendable(client, {"an input": {} if data is None else data, "the definitions": pinned_by(workflows)})
    wanted = schedule_of(spec, workflows, arguments, task_queue, facts)
    async with _of(client, workflow.id) as handle:
        try:
            new = replace(wanted, state=replace(wanted.state, paused=paused))
            await client.create_schedule(handle.id, new, memo={MEMO: workflow.id})
            outcome = Outcome.CREATED
        except ScheduleAlreadyRunningError:
            outcome = await _update(handle, wanted, facts)
        found = await handle.describe()
    state, upcoming = found.schedule.state, found.info.next_action_times
    is_used_up = state.limited_actions and not state.remaining_actions
    return Applied(handle.id, outcome, state.paused, upcoming[0] if upcoming and not is_used_up else None)


async def _spec_of(client: Client, workflow: "Definition") -> Any:
    try:
        return workflow.schedule()
    except UsageError as error:
        try:
            await describe(client, workflow.id)
        except UsageError:
            raise error from None
        hint = f"the server still has the one that it had: `swf schedule delete {shlex.quote(workflow.id)}` ends it"
        raise UsageError(error.message, hint) from None


async def list_all(client: Client) -> AsyncIterator[ScheduleListDescription]:
    """Yield the schedules of definitions that the server lists."""
    async for one in await client.list_schedules():
        if MEMO in await one.memo():
            yield one


async def describe(client: Client, definition_id: str) -> ScheduleDescription:
    """Return the server's description of a definition's schedule. Raises UsageError if there is none."""
    async with _made(client, definition_id) as handle:
        return await handle.describe()


async def facts_of(description: ScheduleDescription) -> ScheduleFacts | None:
    """Return the facts in a schedule's memo; None if it has none.

    Raises NewerRecord for a memo of a newer release that this one cannot read.
    """
    action = description.schedule.action
    memo = action.memo if isinstance(action, ScheduleActionStartWorkflow) else None
    if not memo or MEMO not in memo:
        return None
    [facts] = await description.data_converter.decode([memo[MEMO]])
    try:
        return ScheduleFacts.from_json(facts)
    except MalformedRecord:
        return None


async def times(
    client: Client, definition_id: str, after: datetime, before: datetime | None, most: int
) -> list[datetime]:
    """Return the first times at which the server starts instances by the schedule of a definition, *most* at most.

    They are later than *after* and, if given, not later than *before*. A pause of the schedule is ignored. Raises
    UsageError if there is no such schedule.
    """
    found: list[datetime] = []
    async with _made(client, definition_id) as handle:
        state = (await handle.describe()).schedule.state
        # The server returns the times regardless of how many starts are left, and in pages of limited size.
        most = min(most, state.remaining_actions) if state.limited_actions else most
        request = ListScheduleMatchingTimesRequest(
            namespace=client.namespace, schedule_id=handle.id, end_time=_stamp(before or _LAST)
        )
        while len(found) < most:
            request.start_time.CopyFrom(_stamp(found[-1] if found else after))
            answer = await client.workflow_service.list_schedule_matching_times(request)
            if not answer.start_time:
                break
            found += [time.ToDatetime(tzinfo=UTC) for time in answer.start_time]
    return found[:most]


async def pause(client: Client, definition_id: str, note: str | None = None) -> None:
    """Start nothing until `resume`. Raises UsageError if there is no such schedule."""
    async with _made(client, definition_id) as handle:
        await handle.pause(note=note or "paused by swf")


async def resume(client: Client, definition_id: str, note: str | None = None) -> None:
    """Resume after `pause`, without making up for missed starts. Raises UsageError if there is no such schedule."""
    async with _made(client, definition_id) as handle:
        await handle.unpause(note=note or "resumed by swf")


async def trigger(client: Client, definition_id: str) -> None:
    """Start an instance now, paused or not. Raises UsageError if there is no such schedule."""
    async with _made(client, definition_id) as handle:
        await handle.trigger()


async def delete(client: Client, definition_id: str) -> None:
    """Delete the schedule; instances that it started keep running. Raises UsageError if there is no such schedule."""
    async with _made(client, definition_id) as handle:
        await handle.delete()


@asynccontextmanager
async def _of(client: Client, definition_id: str) -> AsyncIterator[ScheduleHandle]:
    """Yield the schedule of a definition, and translate errors of the server."""
    try:
        yield client.get_schedule_handle(schedule_id(definition_id))
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            message = f"the definition {definition_id!r} has no schedule on the server"
            raise UsageError(message, "see `swf schedule list`, or `swf schedule apply FILE` to make one") from None
        raise UsageError(f"the server refused the schedule of {definition_id!r}: {error.message}") from None


@asynccontextmanager
async def _made(client: Client, definition_id: str) -> AsyncIterator[ScheduleHandle]:
    """Yield the schedule of a definition, if `apply` has made it. Raises UsageError if there is none."""
    async with _of(client, definition_id) as handle:
        await _refuse_others(await handle.describe())
        yield handle


async def _refuse_others(found: ScheduleDescription) -> None:
    """Raise UsageError for a schedule with the same id that was made by another program."""
    if MEMO not in await found.memo():
        message = f"the schedule {found.id!r} is not one of a definition: `swf schedule apply` has not made it"
        raise UsageError(message, "rename the definition, or move that schedule to another id")


async def _update(handle: ScheduleHandle, wanted: Schedule, facts: ScheduleFacts) -> Outcome:
    """Change the schedule to what is *wanted*, except for manual changes."""
    outcome = Outcome.UPDATED

    async def changed(found: ScheduleUpdateInput) -> ScheduleUpdate | None:
        nonlocal outcome
        await _refuse_others(found.description)
        present = found.description.schedule
        same_times, before = present.spec == wanted.spec, await facts_of(found.description)
        if same_times and present.policy == wanted.policy and facts == before:
            outcome = Outcome.UNCHANGED
            return None
        outcome = Outcome.UPDATED
        state = replace(wanted.state, paused=present.state.paused)
        if present.state.note and not present.state.note.startswith(NOTE):
            state.note = present.state.note
        if same_times and present.state.limited_actions:
            limit = None if before is None else before.limit
            more = 0 if limit is None else wanted.state.remaining_actions - limit
            state.remaining_actions = max(0, present.state.remaining_actions + more)
        return ScheduleUpdate(replace(wanted, state=state))

    await handle.update(changed)
    return outcome


def _stamp(time: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(time)
    return stamp
