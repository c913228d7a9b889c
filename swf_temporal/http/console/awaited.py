"""Forms for the events that instances wait for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swf_temporal.http.console.forms import RAW, Field, Filled, fields_of
from swf_temporal.http.console.pages import shown_json
from swf_temporal.operations.tasks import Task, tasks_in


@dataclass(frozen=True, slots=True)
class Awaited:
    """An awaited event, and the form that gives it to its instance."""

    task: Task
    fields: tuple[Field, ...]
    raw: str = "{}"
    raw_error: str = ""
    is_raw: bool = False


def awaited_of(instance_id: str, definition: str, status: Mapping[str, Any]) -> list[Awaited]:
    """Return what an instance waits for, by its status; each event once, and nothing where no worker has answered."""
    if "awaiting" not in status:
        return []
    tasks = {one.event: one for one in tasks_in(instance_id, {**status, "workflow": definition})}
    return [Awaited(one, fields_of(one.data_schema)) for one in tasks.values()]


def refilled(one: Awaited, given: Mapping[str, str], got: Filled) -> Awaited:
    """Return the form of an event as it was sent, with what is wrong in it."""
    is_raw = RAW in given
    return Awaited(
        one.task,
        fields_of(one.task.data_schema, None if is_raw else given, got.errors),
        given[RAW] if is_raw else shown_json(got.data),
        got.errors.get(RAW, ""),
        is_raw,
    )
