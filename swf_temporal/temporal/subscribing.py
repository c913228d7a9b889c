"""Subscriptions of an instance at the mailboxes of its events, from when it begins to wait until it ends.

Theory of operation. Only waits for correlated events subscribe, except those of the instance that the events of that
key start: it is sent them anyway, unless it has been another definition meanwhile. The engine delivers messages to a
mailbox exactly once: by a signal or, if there is no mailbox, with its start as an abandoned child. An execution that
continues a run subscribes again, which changes nothing, and the last one leaves all mailboxes. After a reset, an
execution subscribes again to all mailboxes that it knew: the run before may have left them at its end. At its end, an
instance that has taken events returns those that came through a mailbox and were never taken. If it has taken none, it
returns none, since the next instance would only do the same. Before an instance continues as another definition, it
returns the events that the other does not consume.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Final

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import FailureError, WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.records import Record
from swf_temporal.events.routing import mailbox_id, route, subscription
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import ContinuedAs
from swf_temporal.runtime.performing import size_of
from swf_temporal.runtime.run import Awaited, Run
from swf_temporal.temporal import summaries
from swf_temporal.temporal.instance_part import Ending, Instance, Part
from swf_temporal.temporal.kept_options import options_of_this
from swf_temporal.temporal.mailbox_records import (
    MAILBOX,
    TAKE,
    Arriving,
    MailboxRecord,
    Subscribing,
    Untaken,
    UntakenEvent,
)
from swf_temporal.temporal.records import catalogue_of, origin_of

if TYPE_CHECKING:
    from swf_temporal.temporal.host import TemporalHost

_TRIES: Final = 5
"""The number of attempts to send to a mailbox that can neither be started nor reached, because it is about to end."""
_MAX_BYTES: Final = 500_000
"""The size limit of one message with returned events, in bytes."""


@dataclass(slots=True)
class SubscriptionsRecord(Record):
    WHAT: ClassVar[str] = "the record of its subscriptions"

    mailboxes: list[str] = field(default_factory=list)
    """The ids of the mailboxes at which executions have subscribed: the run leaves them when it ends."""
    handed_over: bool = False
    """True if an earlier execution was of another definition, so that the mailbox may have started another instance."""


class Subscriptions(Part):
    KEY = "subscriptions"

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self._pin = instance.pin
        self._handed_over = False
        self._subscribed: dict[str, list[dict[str, str]]] = {}
        """By the ids of mailboxes, the attributes of its events that this instance knows."""
        self._under_way: list[asyncio.Task[None]] = []
        self._instance = workflow.info().workflow_id
        self._loop = asyncio.get_running_loop()

    def resume(self) -> None:
        record = self.carried(SubscriptionsRecord)
        self._handed_over = record.handed_over
        self._subscribed = {one: [] for one in record.mailboxes}

    @property
    def _definition(self) -> Definition:
        definition = self.instance.definition
        assert definition is not None  # noqa: S101 - for the type checker: it has begun
        return definition

    def begin(self, definition: Definition, host: "TemporalHost") -> None:  # noqa: ARG002 - as the others
        """Subscribe again if the execution is reset."""
        workflow.register_random_seed_callback(self._begin_again)  # only a reset changes the seed

    def attend(self, run: Run) -> None:
        """Observe what *run* begins to wait for."""
        run.on_wait = self._subscribe_to

    def record(self, to: ContinuedAs | None = None) -> SubscriptionsRecord:
        """Return the mailboxes, and whether the instance was of another definition before."""
        is_another = to is not None and to.workflow_id != workflow.info().workflow_type
        return SubscriptionsRecord(list(self._subscribed), self._handed_over or is_another)

    def _subscribe_to(self, awaited: Awaited) -> None:
        """Subscribe to the events that a path begins to wait for, if needed. Never waits."""
        for event, values in awaited.values.items():
            found = subscription(self._definition, event, values)
            is_given = found is not None and found.started == self._instance and not self._handed_over
            if found is None or is_given:
                continue
            mailbox, known = mailbox_id(self._definition.id, found.key), dict(found.values)
            if known in self._subscribed.get(mailbox, ()):
                continue
            self._subscribed.setdefault(mailbox, []).append(known)
            self._subscribe(mailbox, known)

    def _begin_again(self, _: int) -> None:
        for mailbox, waits in self._subscribed.items():
            for known in waits:
                self._subscribe(mailbox, known)

    def _subscribe(self, mailbox: str, known: dict[str, str]) -> None:
        message = Subscribing(subscriber=self._instance, values=known)
        self._under_way.append(self._loop.create_task(self._begin_or_post(mailbox, message)))

    async def leave(self) -> None:
        """Leave the mailboxes."""
        for task in self._under_way:
            await task
        left, self._subscribed = self._subscribed, {}
        for mailbox in left:
            await self._post(mailbox, Subscribing(subscriber=self._instance, values=None))

    async def end(self, ending: Ending) -> None:
        """Return events from mailboxes that were never taken, as the last step of an instance, as more may arrive."""
        run = self.instance.run
        while run is not None and run.inbox.has_untaken and ending.how != "continued":
            for mailbox, untaken in self._batches(run.inbox.forward_untaken()):
                await self._post(mailbox, untaken)

    async def hand_over(self, run: Run, to: ContinuedAs) -> None:
        """Return events from mailboxes that the next definition of the run does not consume."""
        if to.workflow_id == self._definition.id:
            return
        other = catalogue_of(tuple(self._pin.definitions)).find(to.workflow_id, to.version)
        while events := run.inbox.forward_untaken(lambda event: route(event, [other]).leads_nowhere):
            for mailbox, untaken in self._batches(events):
                await self._post(mailbox, replace(untaken, handed_over=True))

    def _batches(self, events: Sequence[CloudEvent]) -> list[tuple[str, Untaken]]:
        batches: list[tuple[str, Untaken]] = []
        latest: dict[str, Untaken] = {}
        sizes: dict[str, int] = {}
        for event in events:
            found = self._given_back(event)
            if found is None:
                continue
            mailbox, one = found
            size = size_of(one.event.to_json())
            if mailbox not in latest or sizes[mailbox] + size > _MAX_BYTES:
                latest[mailbox], sizes[mailbox] = self._nothing_taken(), 0
                batches.append((mailbox, latest[mailbox]))
            latest[mailbox].untaken.append(one)
            sizes[mailbox] += size
        return batches

    def _nothing_taken(self) -> Untaken:
        definitions, options = self._pin.definitions, options_of_this()
        return Untaken([], self._instance, origin_of(self._pin), definitions, options=options)

    def _given_back(self, event: CloudEvent) -> tuple[str, UntakenEvent] | None:
        """Return the mailbox to which *event* is returned, and its record; None if there is no mailbox."""
        # After a `continueAs`, the current definition may not know the events of the one before.
        others = [one for one in catalogue_of(tuple(self._pin.definitions)) if one.id != self._definition.id]
        found = route(event, [self._definition, *others])
        parent = workflow.info().parent
        for start in found.starts:
            if start.key is None or start.instance_id is None:
                continue
            mailbox = mailbox_id(start.definition.id, start.key)
            if start.instance_id == self._instance or (parent is not None and parent.workflow_id == mailbox):
                return mailbox, UntakenEvent(event, starts=True)
        for awaiting in found.awaited:
            if awaiting.key is not None:
                mailbox = mailbox_id(awaiting.definition.id, awaiting.key)
                return mailbox, UntakenEvent(event, starts=False, values=awaiting.values)
        return None

    async def _begin_or_post(self, mailbox: str, message: Arriving) -> None:
        if not await self._begin(mailbox, message):
            await self._post(mailbox, message)

    async def _post(self, mailbox: str, message: Arriving) -> None:
        for _ in range(_TRIES):
            with suppress(FailureError):
                await workflow.get_external_workflow_handle(mailbox).signal(TAKE, message.to_json())
                return
            if await self._begin(mailbox, message):
                return
        workflow.logger.warning("the mailbox %s could neither be started nor reached", mailbox)

    async def _begin(self, mailbox: str, message: Arriving) -> bool:
        """Start the mailbox with *message*; return whether none was running."""
        record = MailboxRecord(arrived=[message.to_json()]).to_json()
        try:
            await workflow.start_child_workflow(
                MAILBOX,
                record,
                id=mailbox,
                parent_close_policy=ParentClosePolicy.ABANDON,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                static_summary=summaries.of_mailbox(self._definition.id),
            )
        except (FailureError, WorkflowAlreadyStartedError):
            return False
        return True
