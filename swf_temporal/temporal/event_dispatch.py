"""Sending an event where it goes on Temporal: what it starts, and who may wait for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from temporalio.client import Client
from temporalio.common import RawValue, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON
from swf_temporal.languages.port import Definition
from swf_temporal.routing.chains import hops_of
from swf_temporal.routing.keys import CorrelationKey, mailbox_id
from swf_temporal.routing.routes import Awaiting, Route, Started
from swf_temporal.runtime.names import WORKFLOW_TYPES
from swf_temporal.temporal import summaries
from swf_temporal.temporal.client_errors import AlreadyStartedError, not_there, refused_by_server
from swf_temporal.temporal.constants import EVENT
from swf_temporal.temporal.known_mailboxes import Mailboxes
from swf_temporal.temporal.mailbox_records import MAILBOX, TAKE, Delivery
from swf_temporal.temporal.records import Pin, pinned
from swf_temporal.temporal.sending import sendable

Family: TypeAlias = Callable[[Definition], Sequence[Definition]]
"""Returns a definition and those that it can lead to."""


@dataclass(frozen=True, slots=True)
class Receipt:
    definition: str
    status: Literal["started", "duplicate", "accepted", "sent", "unreachable", "stopped"]
    """An instance was started; it had been before; a mailbox has it; an instance has it; or it reaches none.

    Or it would have started the next instance of a chain that is too long.
    """
    instance: str | None = None
    """The id of the instance, where it is known."""
    is_for_waiting: bool = False
    """Whether it goes to instances that wait for it, and begins none."""


async def dispatch(
    client: Client,
    event: CloudEvent,
    route: Route,
    family: Family,
    task_queue: str,
    has_it: str | None = None,
    mailboxes: Mailboxes | None = None,
) -> list[Receipt]:
    """Send *event* where it goes. When this returns the server has it: no worker need run.

    The instance that *has_it* already is not sent it again by what goes to all instances. *mailboxes* are those that
    are known to run. Sent again, for example because this was interrupted, the same event has no further effect.
    Raises UsageError if it is too large, or the server refuses it; ServerUnavailableError if the server does not
    answer.
    """
    receipts = []
    post = _Post(client, event, family, task_queue, Mailboxes() if mailboxes is None else mailboxes)
    try:
        for start in route.starts:
            if start.key is None:
                receipts.append(await _start(client, event, start, family, task_queue))
            else:
                same = next((one for one in route.awaited if _place(one) == _place(start)), None)
                receipts.append(await post.send(start, start.key, same))
        started = {has_it, *(one.instance for one in receipts)}
        posted = [_place(one) for one in route.starts]
        for awaiting in route.awaited:
            if awaiting.key is not None and _place(awaiting) in posted:
                continue  # those that wait get it with what it starts
            if awaiting.key is None:
                receipts += await _broadcast(client, event, awaiting.definition.id, started)
            else:
                receipts.append(await post.send(awaiting, awaiting.key, awaiting))
    except RPCError as error:
        raise refused_by_server(error, f"the server did not take the event {event.id!r}") from None
    return receipts


async def send_to(client: Client, event: CloudEvent, instance: str) -> Receipt:
    """Send *event* to the instance with that id, if it runs. It is taken as any: correlation decides, too.

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
    """Return where an event meets others whose order counts: at mailboxes, instances, or all of a definition."""
    places: list[Started | Awaiting] = [*route.starts, *route.awaited]
    return frozenset(_place(one) or one.instance_id or one.definition.id for one in places)


def _place(to: Started | Awaiting) -> str | None:
    """Return the id of the mailbox where *to* is met, if it has one."""
    return None if to.key is None else mailbox_id(to.definition.id, to.key)


async def _start(client: Client, event: CloudEvent, start: Started, family: Family, task_queue: str) -> Receipt:
    definition = start.definition
    pin = Pin(pinned(family(definition)), version=definition.version, hops=hops_of(event))
    data: JSON = {}
    if start.start.gathers_itself:
        pin.events = [event.to_json()]
    else:
        data = definition.event_starts([event])[0]
    assert start.instance_id is not None  # noqa: S101 - it has no key, and so an id
    args = sendable(client, {"an event": data, "the definitions": cast("JSON", pin.to_json())})
    try:
        await client.start_workflow(
            definition.id,
            args=args,
            id=start.instance_id,
            task_queue=task_queue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            static_summary=summaries.of_instance(definition),
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
    mailboxes: Mailboxes

    async def send(self, to: Started | Awaiting, key: CorrelationKey, awaiting: Awaiting | None) -> Receipt:
        """Send the event to the mailbox of *key*, which is begun by that if need be.

        *awaiting* is what those wait for that have subscribed there, if instances may wait for the event.
        """
        definition = to.definition
        delivery = Delivery(
            event=self.event.to_json(),
            definitions=[one.to_json() for one in pinned(self.family(definition))],
            starts=isinstance(to, Started),
            instance=to.instance_id,
        )
        if awaiting is not None:
            delivery["values"] = dict(awaiting.values)
        [value] = sendable(self.client, {"an event and the definitions": delivery})
        mailbox = mailbox_id(definition.id, key)
        if not await self._signal(mailbox, value):
            await self._begin(mailbox, value, definition.id)
        return Receipt(definition.id, "accepted", to.instance_id, is_for_waiting=isinstance(to, Awaiting))

    async def _signal(self, mailbox: str, value: RawValue) -> bool:
        """Signal a mailbox that is known; tell whether it runs."""
        if mailbox not in self.mailboxes:
            return False
        try:
            await self.client.get_workflow_handle(mailbox).signal(TAKE, value)
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            self.mailboxes.discard(mailbox)
            return False
        return True

    async def _begin(self, mailbox: str, value: RawValue, definition_id: str) -> None:
        """Begin the mailbox with what is sent, unless it runs; then it is signalled."""
        await self.client.start_workflow(
            MAILBOX,
            id=mailbox,
            task_queue=self.task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            start_signal=TAKE,
            start_signal_args=[value],
            static_summary=summaries.of_mailbox(definition_id),
        )
        self.mailboxes.add(mailbox)


async def _broadcast(client: Client, event: CloudEvent, definition_id: str, but: set[str | None]) -> list[Receipt]:
    """Send the event to all instances of the definition that run, as far as the server has listed them yet."""
    name = definition_id.replace("'", "''")
    found = client.list_workflows(f"WorkflowType = '{name}' AND ExecutionStatus = 'Running'")
    receipts = []
    [value] = sendable(client, {"an event": event.to_json()})
    async for execution in found:
        if execution.id in but:
            continue
        try:
            await client.get_workflow_handle(execution.id).signal(EVENT, value)
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:  # it has ended since
                raise
        else:
            receipts.append(Receipt(definition_id, "sent", execution.id))
    return receipts
