"""Dispatching an event on Temporal: to the instances that it starts, and to those that may wait for it."""

from asyncio import Lock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, cast
from weakref import WeakValueDictionary

from temporalio.client import Client, WorkflowExecutionDescription
from temporalio.common import RawValue, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.client_errors import AlreadyStartedError, InboxFullError, MailboxFullError
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.base.strict_json import json_length
from swf_temporal.events.routing import Awaiting, CorrelationKey, Route, Started, hops_of, mailbox_id
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.ids import WORKFLOW_TYPES
from swf_temporal.temporal import summaries
from swf_temporal.temporal.client_errors import not_there, refused_by_server
from swf_temporal.temporal.constants import EVENT
from swf_temporal.temporal.converter import sendable
from swf_temporal.temporal.mailbox_records import (
    DEFINITIONS,
    MAILBOX,
    MAX_BYTES,
    TAKE,
    Delivery,
    digest_of_definitions,
)
from swf_temporal.temporal.records import pin_of, pinned
from swf_temporal.temporal.statuses import OPEN, running_execution

MAX_EVENTS: Final = 3000
"""Like `MAX_BYTES`, but the number of events in the history."""
MAX_STARTING_BYTES: Final = 4 * MAX_BYTES
MAX_STARTING_EVENTS: Final = 2 * MAX_EVENTS
"""The same for events that start instances."""
_TRIES: Final = 10
"""The number of attempts to send an event to a mailbox that continues as new meanwhile."""
_FULL: Final = "the mailbox {mailbox!r} has no room for the event {event.id!r}: it has many that were not processed yet"
_BUSY: Final = "the mailbox {mailbox!r} did not take the event {event.id!r}: it continued as new again and again"

Family: TypeAlias = Callable[[Definition], Sequence[Definition]]
"""Returns a definition and those that it can lead to."""


@dataclass(frozen=True, slots=True)
class Receipt:
    definition: str
    status: Literal["started", "duplicate", "accepted", "sent", "unreachable", "stopped"]
    """An instance was started; it had been started before; a mailbox has it; an instance has it; or it reaches none.

    `stopped`: it would have started the next instance of a chain that is too long.
    """
    instance: str | None = None
    """The id of the instance, if it is known."""
    is_for_waiting: bool = False
    """True if it goes to instances that wait for it, and starts none."""


async def dispatch(
    client: Client,
    event: CloudEvent,
    route: Route,
    family: Family,
    task_queue: str,
    has_it: str | None = None,
    locks: WeakValueDictionary[str, Lock] | None = None,
) -> list[Receipt]:
    """Send *event* to its recipients. When this returns the server has it: no worker need be running.

    A broadcast to all instances skips the instance that *has_it* already. *locks* are shared by all senders that use
    the same client. Sending the same event again, for example after an interruption, has no further effect.
    Raises UsageError if it is too large, or the server refuses it; MailboxFullError or InboxFullError if a mailbox or
    an instance has no room, after sending it to all that have; ServerUnavailableError if no server answers.
    """
    receipts, full = [], list[UsageError]()
    post = _Post(client, event, family, task_queue, WeakValueDictionary() if locks is None else locks, full)
    try:
        for start in route.starts:
            if start.key is None:
                receipts.append(await _start(client, event, start, family, task_queue))
            else:
                same = next((one for one in route.awaited if _place(one) == _place(start)), None)
                receipts += await post.send(start, start.key, same)
        started = {has_it, *(one.instance for one in receipts)}
        posted = [_place(one) for one in route.starts]
        for awaiting in route.awaited:
            if awaiting.key is not None and _place(awaiting) in posted:
                continue  # waiting instances get it by the mailbox that starts one
            if awaiting.key is None:
                receipts += await _broadcast(client, event, awaiting.definition.id, started, full)
            else:
                receipts += await post.send(awaiting, awaiting.key, awaiting)
    except RPCError as error:
        raise refused_by_server(error, f"the server did not take the event {event.id!r}") from None
    if full:
        raise full[0]
    return receipts


async def send_to(client: Client, event: CloudEvent, instance: str) -> Receipt:
    """Send *event* to the instance with that id, if it is running. Correlation still decides whether it is taken.

    Raises UsageError if the event is too large, or the server refuses it.
    """
    handle = client.get_workflow_handle(instance)
    [value] = sendable(client, {"an event": event.to_json()})
    definition = ""
    try:
        definition = (await handle.describe()).workflow_type
        if definition in WORKFLOW_TYPES:
            return Receipt(definition, "unreachable", instance)
        await handle.signal(EVENT, value)
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:
            raise not_there(error, instance) from None
        return Receipt(definition, "unreachable", instance)
    return Receipt(definition, "sent", instance)


def lanes_of(route: Route) -> frozenset[str]:
    """Return the targets at which the order of events matters: mailboxes, instances, or all of a definition."""
    places: list[Started | Awaiting] = [*route.starts, *route.awaited]
    return frozenset(_place(one) or one.instance_id or one.definition.id for one in places)


def _place(to: Started | Awaiting) -> str | None:
    """Return the id of the mailbox of *to*, if it has one."""
    return None if to.key is None else mailbox_id(to.definition.id, to.key)


async def _start(client: Client, event: CloudEvent, start: Started, family: Family, task_queue: str) -> Receipt:
    definition = start.definition
    pin = pin_of(pinned(family(definition)), definition.version)
    pin.lineage.hops = hops_of(event)
    data: JSON = {}
    if start.start.gathers_itself:
        pin.start.events = [event]
    else:
        data = definition.event_starts([event])[0]
    assert start.instance_id is not None  # noqa: S101 - it has no key, and so an id
    told = ("an input", "an event and the definitions") if pin.start.events else ("an event", "the definitions")
    args = sendable(client, dict(zip(told, (data, cast("JSON", pin.to_json())), strict=True)))
    try:
        await client.start_workflow(
            definition.id,
            args=args,
            id=start.instance_id,
            task_queue=task_queue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            static_summary=summaries.of_instance(definition),
            request_eager_start=True,
        )
    except WorkflowAlreadyStartedError:
        found = (await client.get_workflow_handle(start.instance_id).describe()).workflow_type
        if found not in {one.id for one in family(definition)}:
            message = f"the event {event.id!r} starts {start.instance_id!r}, but a workflow {found!r} has that id"
            raise AlreadyStartedError(message, instance=start.instance_id) from None
        return Receipt(definition.id, "duplicate", start.instance_id)
    return Receipt(definition.id, "started", start.instance_id)


@dataclass(frozen=True, slots=True)
class _Post:
    """Sends one event to the mailboxes of its keys."""

    client: Client
    event: CloudEvent
    family: Family
    task_queue: str
    locks: WeakValueDictionary[str, Lock]
    """By mailbox: a sender that checks for room sends its event before another sender checks."""
    full: list[UsageError]
    """The errors of mailboxes without room, which do not keep the event from the others."""

    async def send(self, to: Started | Awaiting, key: CorrelationKey, awaiting: Awaiting | None) -> list[Receipt]:
        """Send the event to the mailbox of *key*, as `_sent` does; return nothing if it has no room."""
        try:
            return [await self._sent(to, key, awaiting)]
        except MailboxFullError as error:
            self.full.append(error)
            return []

    async def _sent(self, to: Started | Awaiting, key: CorrelationKey, awaiting: Awaiting | None) -> Receipt:
        """Send the event to the mailbox of *key*, starting the mailbox if need be.

        *awaiting* is what the subscribers there wait for, if instances may wait for the event.
        """
        definition = to.definition
        definitions, values = pinned(self.family(definition)), None if awaiting is None else awaiting.values
        delivery = Delivery(self.event, isinstance(to, Started), to.instance_id, values)
        mailbox, whole = mailbox_id(definition.id, key), replace(delivery, definitions=definitions).to_json()
        [complete] = sendable(self.client, {"an event and the definitions": whole})
        digest, room = digest_of_definitions(definitions), json_length(whole["definitions"])
        async with self.locks.setdefault(mailbox, Lock()):
            for _ in range(_TRIES):
                found = await self._running(mailbox)
                if found is None:
                    await self._begin(mailbox, complete, definition.id, digest)
                    break
                if _is_full(found, room, starts=isinstance(to, Started)):
                    raise MailboxFullError(_FULL.format(event=self.event, mailbox=mailbox), "send it again later")
                if await found.memo_value(DEFINITIONS, None) != digest:
                    value = complete
                else:
                    [value] = sendable(self.client, {"an event": delivery.to_json()})
                if await self._signal(found, value):
                    break
            else:
                raise MailboxFullError(_BUSY.format(event=self.event, mailbox=mailbox), "send it again later")
        return Receipt(definition.id, "accepted", to.instance_id, is_for_waiting=isinstance(to, Awaiting))

    async def _running(self, mailbox: str) -> WorkflowExecutionDescription | None:
        found = await running_execution(self.client.get_workflow_handle(mailbox))
        if found is not None and found.workflow_type != MAILBOX:
            message = (
                f"the event {self.event.id!r} goes to {mailbox!r}, but a workflow {found.workflow_type!r} has that id"
            )
            raise AlreadyStartedError(message, instance=mailbox)
        return found

    async def _signal(self, to: WorkflowExecutionDescription, value: RawValue) -> bool:
        """Signal exactly the execution that was described; return whether it is still running."""
        try:
            await self.client.get_workflow_handle(to.id, run_id=to.run_id).signal(TAKE, value)
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            return False
        return True

    async def _begin(self, mailbox: str, value: RawValue, definition_id: str, digest: str) -> None:
        """Signal the mailbox with *value*, starting it if it is not running."""
        await self.client.start_workflow(
            MAILBOX,
            id=mailbox,
            task_queue=self.task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            start_signal=TAKE,
            start_signal_args=[value],
            memo={DEFINITIONS: digest},
            static_summary=summaries.of_mailbox(definition_id),
        )


def _is_full(mailbox: WorkflowExecutionDescription, room: int, *, starts: bool) -> bool:
    """Return whether a mailbox has no room for an event: its history has its contents, and *room* for its definitions.

    An event that *starts* instances is passed on, together with the events kept for the instance. So it is accepted
    even if the mailbox is full of events that wait for it.
    """
    size = mailbox.raw_description.workflow_execution_info.history_size_bytes
    most_bytes, most_events = (MAX_STARTING_BYTES, MAX_STARTING_EVENTS) if starts else (MAX_BYTES, MAX_EVENTS)
    return size >= most_bytes + room or mailbox.history_length >= most_events


async def _broadcast(
    client: Client, event: CloudEvent, definition_id: str, but: set[str | None], full: list[UsageError]
) -> list[Receipt]:
    """Send the event to all open instances of the definition that the server lists.

    Errors of instances without room are added to *full*; they do not keep the event from the others.
    """
    name = definition_id.replace("'", "''")
    found = client.list_workflows(f"WorkflowType = '{name}' AND {OPEN}")
    receipts = []
    [value] = sendable(client, {"an event": event.to_json()})
    async for execution in found:
        if execution.id in but:
            continue
        try:
            await client.get_workflow_handle(execution.id).signal(EVENT, value)
        except RPCError as error:
            why = not_there(error, execution.id)
            if isinstance(why, InboxFullError):
                full.append(why)
            elif error.status != RPCStatusCode.NOT_FOUND:  # it has ended since
                raise
        else:
            receipts.append(Receipt(definition_id, "sent", execution.id))
    return receipts
