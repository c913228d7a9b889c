"""Tasks: the events that running instances wait for, which a person can give them.

A task is known by its instance and by the name that the definition has for the event. It is completed with the data of
the event alone. Workers tell what their instances wait for: without one that answers, an instance has no tasks to show.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.expressions.json_schema import BadSchema, DataSchemaValidator
from swf_temporal.operations.client import Client
from swf_temporal.operations.instances import PATIENCE
from swf_temporal.operations.listing import filter_of, listed
from swf_temporal.temporal.client import deliver, query
from swf_temporal.temporal.signal_events import AWAITED
from swf_temporal.temporal.statuses import OPEN
from swf_temporal.text.suggestions import did_you_mean

_Answer = TypeVar("_Answer")

_AT_ONCE: Final = 200
"""How many instances are asked at the same time: the silent ones keep no place from the others of a usual list."""
_PATIENCE: Final = 3.0
"""Seconds without any answer after which the rest is not waited for."""


async def answers_of(
    instances: Sequence[str], ask: Callable[[str], Awaitable[_Answer]], patience: float = _PATIENCE
) -> list[_Answer | None]:
    """Return what *ask* returns of each instance; None where it raises UsageError.

    As soon as there was no answer for some seconds, it is None for all that are left.
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
"""The number of instances that are asked for their tasks, if no other is given: the latest."""


class NoSuchTaskError(UsageError):
    """An instance does not wait for that event, or not any more."""


class DataRefusedError(UsageError):
    """Data does not fit the schema that the definition has for the event."""


@dataclass(frozen=True, slots=True)
class Task:
    """An event that an instance waits for."""

    instance: str
    definition: str
    state: str
    event: str
    """The name that the definition has for the event."""
    type: str | None = None
    source: str | None = None
    kind: str | None = None
    """The type of the state that waits, such as `callback`."""
    until: str | None = None
    """When it waits no longer, by ISO 8601."""
    correlation: Mapping[str, str | None] = field(default_factory=dict)
    """The context attributes that an event must have, with their values as far as they are known."""
    data_schema: JSON = None

    def facts(self) -> dict[str, Any]:
        """Return what a list shows of it, as JSON."""
        return {
            "instance": self.instance,
            "definition": self.definition,
            "state": self.state,
            "kind": self.kind,
            "event": self.event,
            "type": self.type,
            "until": self.until,
        }

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the CloudEvents that it is completed by; that of their `data` stands in it."""
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


class Tasks(NamedTuple):
    """The tasks of instances, and how complete the list is."""

    tasks: list[Task]
    silent: list[str]
    """The instances that did not answer: no worker runs for them, or they are paused."""
    more: int
    """How many further instances there are that were not asked."""


async def list_tasks(
    client: Client, definitions: Sequence[str | None] = (None,), *, limit: int = MAX_INSTANCES
) -> Tasks:
    """Return the tasks of the latest *limit* instances of each of these definitions that have not ended; None is all.

    Instances are found by the server's list, which lags a little behind.
    """
    found, more = list[str](), 0
    for each in definitions:
        rows = await listed(client, filter_of(None, each, OPEN, only_instances=True), limit)
        found += [row["id"] for row in rows.rows]
        more += rows.more
    answers = await answers_of(found, lambda instance: tasks_of(client, instance))
    tasks = [task for answer in answers if answer is not None for task in answer]
    return Tasks(tasks, [one for one, answer in zip(found, answers, strict=True) if answer is None], more)


async def tasks_of(client: Client, instance: str) -> list[Task]:
    """Return the tasks of an instance. Raises UsageError if there is none of that id, or it does not answer."""
    return tasks_in(instance, await query(client.temporal, instance, "status", PATIENCE))


def tasks_in(instance: str, status: Mapping[str, Any]) -> list[Task]:
    """Return the tasks of an instance whose worker answers that *status*."""
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
    """Complete a task with the data of its event; return `taken`, once the instance has it.

    `sent` is returned where the instance has answered so many updates that it was left to a signal. Raises
    NoSuchTaskError if the instance does not wait for it, or somebody else has just completed it, DataRefusedError if
    the data does not fit, and NoAnswerError if no worker answers.
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
    """Raise DataRefusedError if *data* does not fit the schema that the definition has for the event."""
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
        until=wait.get("until"),
        correlation=event.get("correlation", {}),
        data_schema=event.get("dataSchema"),
    )


def _source(source: str) -> dict[str, str]:
    """Return the schema of a source, in which wildcards of MQTT topics stand for levels."""
    if "+" not in source and "#" not in source:
        return {"const": source}
    levels = ["[^/]*" if level == "+" else re.escape(level) for level in source.split("/") if level != "#"]
    pattern = "/".join(levels)
    return {"type": "string", "pattern": f"^{pattern}(/.*)?$" if "#" in source.split("/") else f"^{pattern}$"}
