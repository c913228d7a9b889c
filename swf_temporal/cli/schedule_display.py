"""What is told of a schedule, to programs and to people?"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import typer
from temporalio.client import ScheduleActionExecutionStartWorkflow, ScheduleDescription, ScheduleListDescription

from swf_temporal.cli.terminal import in_columns
from swf_temporal.temporal import schedules
from swf_temporal.temporal.schedules import Applied

if TYPE_CHECKING:
    from swf_temporal.languages.port import Definition

_SHOWN = 5
"""How many of the times to come, and of the instances that were started, are shown to people."""


def row_of(workflow: "Definition", applied: Applied) -> dict[str, Any]:
    """Return what came of applying a definition's schedule."""
    return {
        "id": applied.id,
        "definition": workflow.id,
        "outcome": str(applied.outcome),
        "paused": applied.paused,
        "next": _time(applied.next_time),
    }


async def facts_of(found: ScheduleDescription | ScheduleListDescription) -> dict[str, Any]:
    """Return what the server tells of a schedule: less of one in a list than of one that was asked for."""
    state = found.schedule and found.schedule.state
    upcoming = found.info.next_action_times if found.info else ()
    facts: dict[str, Any] = {
        "id": found.id,
        "definition": found.id.removeprefix(schedules.schedule_id("")),
        "paused": bool(state and state.paused),
        "note": state and state.note,
        "next": _time(upcoming[0]) if upcoming else None,
    }
    if isinstance(found, ScheduleDescription):
        known = await schedules.facts_of(found)
        facts |= {name: known.get(name) for name in ("version", "digest")}
        facts["upcoming"] = [_time(time) for time in upcoming]
        facts["started"] = found.info.num_actions
        facts["missed"] = found.info.num_actions_missed_catchup_window
        facts["recent"] = [
            {"at": _time(one.scheduled_at), "instance": one.action.workflow_id}
            for one in found.info.recent_actions
            if isinstance(one.action, ScheduleActionExecutionStartWorkflow)
        ]
    return facts


def show_rows(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> None:
    """Show a line for each schedule."""
    for line in in_columns(columns, [[_cell(row, column) for column in columns] for row in rows]):
        typer.echo(line)


def show_facts(facts: dict[str, Any]) -> None:
    """Show all that is known of one schedule."""
    version = f" {facts['version']}" if facts["version"] else ""
    stands = "paused" if facts["paused"] else "active"
    typer.echo(f"{facts['id']}: starts {facts['definition']}{version}, {stands}")
    typer.echo(f"  note: {facts['note'] or 'none'}")
    typer.echo(f"  {facts['started']} started, {facts['missed']} missed")
    for one in facts["recent"][-_SHOWN:]:
        typer.echo(f"  {one['at']}  {one['instance']}")
    for time in facts["upcoming"][:_SHOWN]:
        typer.echo(f"  {time}  to come{', once it is resumed' if facts['paused'] else ''}")


def _cell(row: dict[str, Any], column: str) -> str:
    value = row[column]
    if column == "next":
        text = value or "never"
        return f"{text} (paused)" if row["paused"] else text
    if column == "paused":
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
