"""The instances on a server that would get an event, and why others of the same definitions would not.

Nothing is sent. The server lists the running instances, workers report what they wait for, and the mailbox of the
event's correlation key knows which of them have subscribed.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from temporalio.client import WorkflowQueryRejectedError
from temporalio.service import RPCError

from swf_temporal.base.client_errors import InstanceNotFoundError, InstancePausedError
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import UsageError
from swf_temporal.events.routing import Awaiting, CorrelationKey, Route, Started, fits, mailbox_id
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.operations.instances import PATIENCE, described
from swf_temporal.operations.listing import filter_of, is_open, listed
from swf_temporal.temporal.client import query
from swf_temporal.temporal.mailbox_records import RECEPTION, Reception
from swf_temporal.temporal.statuses import OPEN, answer_of

MAX_OPEN: Final = 200
"""The number of instances of a definition that have not ended and are queried: the latest."""
MAX_ENDED: Final = 20
"""The number of instances that have ended and are reported: the latest."""
_ENDED: Final = "CloseTime IS NOT NULL AND ExecutionStatus != 'ContinuedAsNew'"
_AT_ONCE: Final = 10
"""The number of instances queried at the same time."""


@dataclass(frozen=True, slots=True)
class Recipient:
    """An instance of a definition that consumes an event."""

    definition: str
    instance: str
    status: str | None
    """The status of the instance; None if no instance has this id yet."""
    gets: bool
    """Whether it would get the event."""
    reason: str

    def facts(self) -> dict[str, Any]:
        return {
            "definition": self.definition,
            "instance": self.instance,
            "status": self.status,
            "gets": self.gets,
            "reason": self.reason,
        }


@dataclass(slots=True)
class Recipients:
    """The instances of all definitions that consume an event, with notes."""

    instances: list[Recipient] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _CorrelatedMailbox:
    """A correlation key under which an event is sent to a mailbox."""

    key: CorrelationKey
    starts: bool
    instance: str | None
    """The id of the instance for this key, if it follows from the key."""
    values: CorrelationKey | None
    """The values by which the mailbox finds subscribers; None if no instance waits for such an event."""


async def recipients(client: Client, event: CloudEvent, route: Route) -> Recipients:
    """Return which instances *event* would reach by its *route*, and why the others would not get it."""
    found = Recipients()
    definitions = {one.definition.id: one.definition for one in route.starts}
    definitions |= {one.definition.id: one.definition for one in route.awaited}
    for definition in definitions.values():
        starts = [one for one in route.starts if one.definition is definition]
        awaited = [one for one in route.awaited if one.definition is definition]
        await _Inquiry(client, event, definition, starts, awaited, found).make()
    return found


class _Inquiry:
    """Queries the server and the workers about one definition."""

    def __init__(
        self,
        client: Client,
        event: CloudEvent,
        definition: Definition,
        starts: Sequence[Started],
        awaited: Sequence[Awaiting],
        found: Recipients,
    ) -> None:
        self._client = client
        self._event = event
        self._definition = definition
        self._starts = starts
        self._awaited = awaited
        self._found = found
        self._names = {one.name for one in definition.consumed_events if fits(event, one, definition)}
        self._values = {name: value for one in awaited for name, value in one.values.items()}
        self._told: set[str] = set()
        """The ids of instances that were reported."""

    async def make(self) -> None:
        """Find the instances that get the event, and why the others do not."""
        for start in self._starts:
            if start.key is None and start.instance_id is not None:
                await self._alone(start.instance_id)
        is_new = all([await self._at(place) for place in self._places()])
        if is_new and (self._awaited or any(start.key is not None for start in self._starts)):
            await self._others(reaches_all=any(one.key is None for one in self._awaited))

    def _places(self) -> list[_CorrelatedMailbox]:
        starts = {mailbox_id(self._definition.id, one.key): one for one in self._starts if one.key is not None}
        awaited = {mailbox_id(self._definition.id, one.key): one for one in self._awaited if one.key is not None}
        places = []
        for mailbox in {**starts, **awaited}:
            start, wait = starts.get(mailbox), awaited.get(mailbox)
            either = start or awaited[mailbox]
            values = None if wait is None else wait.values
            places.append(_CorrelatedMailbox(either.key or {}, start is not None, either.instance_id, values))
        return places

    async def _alone(self, instance: str) -> None:
        status = await self._status(instance)
        if status is None:
            self._add(instance, None, "the event starts it", gets=True)
        else:
            self._add(instance, status, "the event started it before: sent again it has no effect", gets=False)

    async def _at(self, place: _CorrelatedMailbox) -> bool:
        """Report the instances that get the event from the mailbox of its key; return whether it is a new event."""
        name = repr(self._definition.id)
        reception = await self._reception(mailbox_id(self._definition.id, place.key))
        if reception is not None and reception.is_known:
            self._note(f"{name} has had the event before: sent again it has no effect")
            return False
        has_recipient = await self._is_for_its_own(place)
        if reception is not None:
            for instance in _agreeing(reception, place.values):
                has_recipient = await self._reaches(instance) or has_recipient
            if place.starts and place.instance is None:
                self._note(f"{reception.gathered} events of its key in {name} wait for others")
        if not has_recipient and not place.starts:
            self._note(f"no instance of {name} gets it now: it is kept for an hour, and goes to the first that waits")
        return True

    async def _is_for_its_own(self, place: _CorrelatedMailbox) -> bool:
        """Report the instance whose id follows from the key; return whether it gets the event."""
        if place.instance is None:
            return False
        status = await self._status(place.instance)
        if is_open(status):
            return await self._reaches(place.instance)
        if not place.starts:
            if status is not None:
                self._add(place.instance, status, f"it has ended ({status})", gets=False)
            return False
        reason = "the event starts it" if status is None else f"it has ended ({status}), and the event starts a new run"
        self._add(place.instance, status, reason, gets=True)
        return True

    async def _reaches(self, instance: str) -> bool:
        """Report an instance to which the event is sent; return whether it runs."""
        if instance in self._told:
            return True
        status = await self._status(instance)
        if not is_open(status):
            self._add(instance, status, "it has ended", gets=False)
            return False
        self._add(instance, status, why_it_gets(await self._answer(instance), self._names), gets=True)
        return True

    async def _others(self, *, reaches_all: bool) -> None:
        """Report the other instances of the definition, as far as the server lists them."""
        running = await listed(self._client, filter_of(None, self._definition.id, OPEN), MAX_OPEN)
        statuses = {row["id"]: row["status"] for row in running.rows if row["id"] not in self._told}
        for instance, answer in (await self._answers(list(statuses))).items():
            if reaches_all:
                self._add(instance, statuses[instance], why_it_gets(answer, self._names), gets=True)
            else:
                self._add(instance, statuses[instance], why_not(answer, self._names, self._values), gets=False)
        if running.more:
            self._note(f"{running.more} more instances of {self._definition.id!r} are running, which were not queried")
        for row in (await listed(self._client, filter_of(None, self._definition.id, _ENDED), MAX_ENDED)).rows:
            self._add(row["id"], row["status"], f"it has ended ({row['status']})", gets=False)

    async def _answers(self, instances: Sequence[str]) -> dict[str, Mapping[str, Any] | str]:
        free = asyncio.Semaphore(_AT_ONCE)

        async def asked(instance: str) -> Mapping[str, Any] | str:
            async with free:
                return await self._answer(instance)

        return dict(zip(instances, await asyncio.gather(*map(asked, instances)), strict=True))

    async def _answer(self, instance: str) -> Mapping[str, Any] | str:
        """Return the status of an instance that its worker reports, or why it is missing."""
        try:
            return dict(await query(self._client.temporal, instance, "status", PATIENCE))
        except InstancePausedError:
            return "it is paused"
        except UsageError:
            return "no worker answers for it"

    async def _reception(self, mailbox: str) -> Reception | None:
        """Return what a mailbox knows of the event; None if the mailbox does not run, or no worker answers."""
        if not is_open(await self._status(mailbox)):
            return None
        handle = self._client.temporal.get_workflow_handle(mailbox)
        try:
            args = [self._event.source, self._event.id]
            ask = partial(handle.query, RECEPTION, args=args, result_type=dict, rpc_timeout=PATIENCE)
            found = Reception.from_json(await answer_of(ask))
        except (RPCError, WorkflowQueryRejectedError):
            self._note(f"no worker answers for {mailbox!r}, which knows the instances that wait for it")
            return None
        return found

    async def _status(self, workflow_id: str) -> str | None:
        try:
            return str((await described(self._client, workflow_id))["status"])
        except InstanceNotFoundError:
            return None

    def _add(self, instance: str, status: str | None, reason: str, *, gets: bool) -> None:
        if instance not in self._told:
            self._told.add(instance)
            self._found.instances.append(Recipient(self._definition.id, instance, status, gets, reason))

    def _note(self, text: str) -> None:
        self._found.notes.append(text)


def _agreeing(reception: Reception, values: CorrelationKey | None) -> list[str]:
    """Return the ids of the subscribers whose subscription matches the values of the event."""
    if values is None:
        return []
    subscribers = reception.subscribers.items()
    return [one for one, all_ in subscribers if any(wanted.items() <= values.items() for wanted in all_)]


def why_it_gets(answer: Mapping[str, Any] | str, names: Collection[str]) -> str:
    """Return what an instance does with an event that its definition knows by one of *names*.

    *answer* is the status that its worker reported, or why it is missing.
    """
    if isinstance(answer, str):
        return f"the event is sent to it; {answer}"
    for wait in answer["awaiting"]:
        if any(event["name"] in names for event in wait["events"]):
            return f"it waits for such an event in {wait['state']!r}"
    return "it keeps the event until a state waits for it"


def why_not(answer: Mapping[str, Any] | str, names: Collection[str], values: Mapping[str, str]) -> str:
    """Return why an instance does not get an event whose context attributes have *values*."""
    if isinstance(answer, str):
        return f"it has not subscribed; {answer}"
    waits = [event for wait in answer["awaiting"] for event in wait["events"]]
    if not waits:
        return "it does not wait for an event"
    wanted = [event for event in waits if event["name"] in names]
    if not wanted:
        return f"it waits for {_either(dict.fromkeys(repr(event['name']) for event in waits))}, not for this event"
    for event in wanted:
        others = _others(event.get("correlation", {}), values)
        if others:
            return f"it waits for {event['name']!r} with {' and '.join(others)}"
    return f"it waits for {wanted[0]['name']!r}, and has not subscribed: it only gets the event by its id"


def _others(correlation: Mapping[str, str | None], values: Mapping[str, str]) -> list[str]:
    """Return the correlation values that an instance knows and the event does not match."""
    known = {name: value for name, value in correlation.items() if value is not None}
    return [f"{name}={value}" for name, value in known.items() if values.get(name.lower()) not in (None, value)]


def _either(names: Collection[str]) -> str:
    return " or ".join(names)
