"""Tasks: the events that running instances wait for, which a person can give them.

A task is identified by its instance and the name that the definition gives to the event. It is completed with the data
of the event alone. Workers report what their instances wait for: without a worker, an instance has no tasks to show.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, TypeVar

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.expressions.json_schema import BadSchema, DataSchemaValidator
from swf_temporal.operations.client import Client
from swf_temporal.operations.instances import PATIENCE
from swf_temporal.operations.listing import filter_of
from swf_temporal.temporal.client import deliver, query
from swf_temporal.temporal.constants import AWAITED
from swf_temporal.temporal.search_attributes import quoted
from swf_temporal.temporal.statuses import OPEN
from swf_temporal.text.suggestions import did_you_mean

_Answer = TypeVar("_Answer")

_AT_ONCE: Final = 200
"""The number of instances queried at the same time: enough that silent ones do not block the others of a usual list."""
_PATIENCE: Final = 3.0
"""Seconds without any answer after which the remaining instances are given up."""


async def answers_of(
    instances: Sequence[str], ask: Callable[[str], Awaitable[_Answer]], patience: float = _PATIENCE
) -> list[_Answer | None]:
    """Return what *ask* returns for each instance; None where it raises UsageError.

    After some seconds without any answer, it is None for all that are left.
    """
    free = asyncio.Semaphore(_AT_ONCE)

    async def answer(instance: str) -> _Answer | None:
        async with free:
            try:
                return await ask(instance)
            except UsageError:
                return None

    asked = [asyncio.ensure_future(answer(one)) for one in instances]
    waiting = set(asked)
    try:
        while waiting:
            done, waiting = await asyncio.wait(waiting, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                break
    finally:
        for one in waiting:
            one.cancel()
        if waiting:
            await asyncio.wait(waiting)
    return [None if one.cancelled() else one.result() for one in asked]


MAX_INSTANCES: Final = 200
"""The default number of instances that are asked for their tasks: the latest."""


class NoSuchTaskError(UsageError):
    """The instance does not wait for that event, or no longer."""


class DataRefusedError(UsageError):
    """The data does not match the schema that the definition has for the event."""


@dataclass(frozen=True, slots=True)
class Task:
    """An event that an instance waits for."""

    instance: str
    definition: str
    state: str
    event: str
    """The name that the definition gives to the event."""
    type: str | None = None
    source: str | None = None
    kind: str | None = None
    """The type of the waiting state, such as `callback`."""
    since: str | None = None
    """When it began to wait, by ISO 8601."""
    until: str | None = None
    """When it stops waiting, by ISO 8601."""
    roles: Sequence[str] = ()
    """Who may answer, by the definition."""
    assignee: str | None = None
    """The person whose answer is awaited, by the definition."""
    correlation: Mapping[str, str | None] = field(default_factory=dict)
    """The context attributes that an event must have, with their values if they are known."""
    data_schema: JSON = None

    def facts(self) -> dict[str, Any]:
        """Return the task as JSON for lists."""
        return {
            "instance": self.instance,
            "definition": self.definition,
            "state": self.state,
            "kind": self.kind,
            "event": self.event,
            "type": self.type,
            "since": self.since,
            "until": self.until,
            "roles": list(self.roles),
            "assignee": self.assignee,
        }

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the CloudEvents that complete it, including that of their `data`."""
        attributes = {
            name: {"type": ["string", "integer", "boolean"]} if value is None else {"const": value}
            for name, value in self.correlation.items()
        }
        properties: dict[str, Any] = {
            "specversion": {"const": "1.0"},
            "id": {"type": "string", "minLength": 1},
            "source": {"type": "string"} if self.source is None else _source(self.source),
            "type": {"type": "string", "minLength": 1} if self.type is None else {"const": self.type},
            **attributes,
        }
        required = list(properties)
        if self.data_schema is not None:
            properties["data"] = self.data_schema
            required.append("data")
        return {"type": "object", "required": required, "properties": properties}


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """The filters of a list of tasks."""

    definitions: Sequence[str] | None = None
    """The ids of definitions; None for all."""
    role: str | None = None
    assignee: str | None = None
    at_least: timedelta = timedelta()
    """How long they have waited."""

    def instances(self, now: datetime) -> str:
        """Return Temporal's list filter for the instances that can have such tasks."""
        types = [] if self.definitions is None else [f"WorkflowType IN ({', '.join(map(quoted, self.definitions))})"]
        began = [f"StartTime <= {quoted((now - self.at_least).isoformat())}"] if self.at_least else []
        return filter_of(None, None, " AND ".join([OPEN, *types, *began]), only_instances=True)

    def fits(self, task: Task, now: datetime) -> bool:
        """Return whether the list has *task*."""
        waited = timedelta() if task.since is None else now - datetime.fromisoformat(task.since)
        is_theirs = self.role is None or self.role in task.roles
        return waited >= self.at_least and is_theirs and self.assignee in (None, task.assignee)


class Tasks(NamedTuple):
    """The tasks of instances, those that have waited longest first, and how complete the list is."""

    tasks: list[Task]
    silent: list[str]
    """The instances that did not answer: no worker runs for them, or they are paused."""
    more: int
    """The number of further instances that were not asked; 0 on later pages."""
    next: bytes | None = None
    """The page token of the instances that come next."""


async def list_tasks(
    client: Client, wanted: TaskFilter = TaskFilter(), *, limit: int = MAX_INSTANCES, after: bytes | None = None
) -> Tasks:
    """Return the tasks of at most *limit* unfinished instances, the latest, or those *after* a page.

    Instances are found by the server's list, which lags a little behind.
    """
    if wanted.definitions is not None and not wanted.definitions:
        return Tasks([], [], 0)
    now = datetime.now(UTC)
    query = wanted.instances(now)
    rows = client.temporal.list_workflows(query, page_size=limit, limit=limit, next_page_token=after)
    found = [one.id async for one in rows]
    next_ = (rows.next_page_token or None) if len(found) == limit else None
    more = (await client.temporal.count_workflows(query)).count - limit if next_ and after is None else 0
    answers = await answers_of(found, lambda instance: tasks_of(client, instance))
    tasks = [task for answer in answers if answer is not None for task in answer if wanted.fits(task, now)]
    silent = [one for one, answer in zip(found, answers, strict=True) if answer is None]
    return Tasks(sorted(tasks, key=lambda one: one.since or ""), silent, max(more, 0), next_)


async def tasks_of(client: Client, instance: str) -> list[Task]:
    """Return the tasks of an instance. Raises UsageError if it does not exist or does not answer."""
    return tasks_in(instance, await query(client.temporal, instance, "status", PATIENCE))


def tasks_in(instance: str, status: Mapping[str, Any]) -> list[Task]:
    """Return the tasks of an instance whose worker reports that *status*."""
    definition = status.get("workflow", "")
    return [_task(instance, definition, wait, event) for wait in status["awaiting"] for event in wait["events"]]


async def find_task(client: Client, instance: str, event: str | None = None) -> Task:
    """Return the task of an instance that waits for *event*; without a name, the only one.

    Raises NoSuchTaskError if it waits for no such event, or for several.
    """
    tasks = await tasks_of(client, instance)
    names = list(dict.fromkeys(task.event for task in tasks))
    if not tasks:
        raise NoSuchTaskError(f"{instance!r} does not wait for an event", "`swf status` shows its state")
    if event is None and len(names) > 1:
        raise NoSuchTaskError(f"{instance!r} waits for {len(names)} events", f"name one of {', '.join(names)}")
    found = next((task for task in tasks if event in (None, task.event)), None)
    if found is None:
        hint = did_you_mean(event or "", names) or f"it waits for {', '.join(names)}"
        raise NoSuchTaskError(f"{instance!r} does not wait for an event called {event!r}", hint)
    return found


async def complete_task(client: Client, instance: str, event: str | None = None, data: JSON = None) -> str:
    """Complete a task with the data of its event; return `taken` once the instance has it.

    `sent` is returned if the instance has answered its limit of updates, so that a signal was used. Raises
    NoSuchTaskError if the instance does not wait for it, or another client has just completed it, DataRefusedError if
    the data does not match, and NoAnswerError if no worker answers.
    """
    task = await find_task(client, instance, event)
    refuse_unfit(task, data)
    try:
        return await deliver(client.temporal, instance, {"name": task.event, "data": data, AWAITED: True})
    except UsageError:
        if all(other.event != task.event for other in await tasks_of(client, instance)):
            raise NoSuchTaskError(f"{instance!r} no longer waits for {task.event!r}") from None
        raise


def refuse_unfit(task: Task, data: JSON) -> None:
    """Raise DataRefusedError if *data* does not match the schema that the definition has for the event."""
    if task.data_schema is None:
        return
    try:
        wrong: Sequence[str] = DataSchemaValidator(task.data_schema).violations(data)
    except BadSchema as error:
        what = f"the dataSchema of the event {task.event!r} of {task.definition!r} is not a JSON Schema: {error}"
        raise UsageError(what, "send the event with `swf event` instead") from None
    if wrong:
        raise DataRefusedError(f"the data does not match the schema of the event {task.event!r}: {'; '.join(wrong)}")


def _task(instance: str, definition: str, wait: Mapping[str, Any], event: Mapping[str, Any]) -> Task:
    return Task(
        instance=instance,
        definition=definition,
        state=wait["state"],
        event=event["name"],
        type=event["type"],
        source=event["source"],
        kind=wait.get("kind"),
        since=wait.get("since"),
        until=wait.get("until"),
        roles=event.get("roles", ()),
        assignee=event.get("assignee"),
        correlation=event.get("correlation", {}),
        data_schema=event.get("dataSchema"),
    )


def _source(source: str) -> dict[str, str]:
    """Return the schema of a source, in which wildcards of MQTT topics match levels."""
    if "+" not in source and "#" not in source:
        return {"const": source}
    levels = ["[^/]*" if level == "+" else re.escape(level) for level in source.split("/") if level != "#"]
    pattern = "/".join(levels)
    return {"type": "string", "pattern": f"^{pattern}(/.*)?$" if "#" in source.split("/") else f"^{pattern}$"}
