"""Schedules on a server: applying, listing and describing them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from temporalio.client import ScheduleActionExecutionStartWorkflow, ScheduleDescription, ScheduleListDescription

from swf_temporal.base.data import JSON
from swf_temporal.operations.client import Client
from swf_temporal.temporal import schedules

if TYPE_CHECKING:
    from swf_temporal.languages.port import Definition


async def apply(
    client: Client,
    workflow: "Definition",
    sub_workflows: "Sequence[Definition]",
    *,
    data: JSON,
    task_queue: str,
    paused: bool,
) -> dict[str, Any]:
    """Create or update the schedule of a definition; return the resulting description."""
    applied = await schedules.apply(
        client.temporal, workflow, sub_workflows, data=data, task_queue=task_queue, paused=paused
    )
    return {
        "id": applied.id,
        "definition": workflow.id,
        "outcome": str(applied.outcome),
        "paused": applied.paused,
        "next": _time(applied.next_time),
    }


async def listed(client: Client) -> list[dict[str, Any]]:
    """Return all schedules, ordered by definition."""
    rows = [await _facts_of(one) async for one in schedules.list_all(client.temporal)]
    return sorted(rows, key=lambda row: str(row["definition"]))


async def still_scheduled(client: Client, definition_ids: Collection[str]) -> list[str]:
    """Return those of *definition_ids* that have a schedule on the server."""
    if not definition_ids:
        return []
    known = {row["definition"] for row in await listed(client)}
    return [one for one in definition_ids if one in known]


async def facts_of(client: Client, definition_id: str) -> dict[str, Any]:
    """Return the full description of the schedule of a definition."""
    return await _facts_of(await schedules.describe(client.temporal, definition_id))


async def _facts_of(found: ScheduleDescription | ScheduleListDescription) -> dict[str, Any]:
    """Return what the server knows of a schedule: less for one in a list than for one asked for by id."""
    state = found.schedule and found.schedule.state
    upcoming = found.info.next_action_times if found.info else ()
    facts: dict[str, Any] = {
        "id": found.id,
        "definition": found.id.removeprefix(schedules.schedule_id("")),
        "paused": bool(state and state.paused),
        "note": state and state.note,
        "next": _time(upcoming[0]) if upcoming else None,
    }
    recent = found.info.recent_actions if found.info else ()
    for one in recent[-1:]:
        if isinstance(one.action, ScheduleActionExecutionStartWorkflow):
            facts["last"] = {"at": _time(one.scheduled_at), "instance": one.action.workflow_id}
    if isinstance(found, ScheduleDescription):
        known = await schedules.facts_of(found)
        facts |= {"version": known and known.version, "digest": known and known.digest}
        facts["upcoming"] = [_time(time) for time in upcoming]
        facts["started"] = found.info.num_actions
        facts["missed"] = found.info.num_actions_missed_catchup_window
        facts["recent"] = [
            {"at": _time(one.scheduled_at), "instance": one.action.workflow_id}
            for one in found.info.recent_actions
            if isinstance(one.action, ScheduleActionExecutionStartWorkflow)
        ]
    return facts


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
