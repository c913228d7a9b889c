"""Correlated events on Temporal: each definition and correlation key has a workflow, its mailbox.

Theory of operation. The router of an event sends it to the mailbox by a signal-with-start. The mailbox processes its
messages one after the other, and each event once, by its source and id. With the first event it starts the instance of
its key, as a child that is abandoned when the mailbox ends, and passes the others on by signals as long as the instance
runs; once it has ended, the next event that starts instances starts another with the same id. Commands of a workflow
are carried out exactly once, which an activity that starts workflows could not promise. If an instance is started with
all of its events, the mailbox keeps them until there is one of each kind.

Instances that the mailbox did not start subscribe when they begin to wait, and get the events whose values agree with
what they know. An event that starts nothing and that no instance waits for is kept for an hour. Events that an instance
was given and did not take come back when it ends (`subscribing.py`), and start the next one if they are of a starting
kind.

Ids are remembered for a day, the last 2,000 of them; a mailbox that has nothing to remember ends. Subscribers that were
terminated are detected by a failing signal, at least once a day.

The contents of a mailbox are in its history, whose size bounds them: senders check it, and do not send to a full
mailbox (`event_dispatch.py`), so no worker is needed to accept or refuse an event. A mailbox continues as new as soon
as much of its history is processed, which makes room, and its contents fit into one payload. It has the definitions of
the latest event once, and its memo says which, so that senders leave them out.

The id of an instance is derived from its key. If an instance has continued as another definition, and so still has that
id, the id of the next is derived from its event.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.base.strict_json import json_length
from swf_temporal.events.routing import MAILBOX_PREFIX, Arrived, gathered, hops_of, single_id
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.ids import WORKFLOW_TYPES
from swf_temporal.temporal import summaries
from swf_temporal.temporal.constants import EVENT, PROBE, ROUTED
from swf_temporal.temporal.converter import limit_of
from swf_temporal.temporal.instance_signals import InstanceSignals, pauses
from swf_temporal.temporal.kept_options import OptionsRecord, start_options
from swf_temporal.temporal.mailbox_records import (
    DEFINITIONS,
    MAILBOX,
    MAX_BYTES,
    RECEPTION,
    TAKE,
    Arriving,
    Delivery,
    MailboxRecord,
    ParkedEvent,
    Reception,
    Regained,
    Subscribing,
    Untaken,
    digest_of_definitions,
    digest_of_event,
    read_arriving,
)
from swf_temporal.temporal.outgoing import check_fits, check_together, heard
from swf_temporal.temporal.records import UNREADABLE, Pin, Pinned, RecordInput, catalogue_of, pin_of, value_of

_OTHER_BYTES: Final = 64 * 1024
"""The size limit of an instance's start arguments other than definitions and events."""
_NO_OPTIONS: Final = OptionsRecord()


class Instances:
    def __init__(self, begun: str | None, latest: str | None, continue_if_long: Callable[[], None]) -> None:
        self.begun = begun
        """The id of the first run of the instance that was started last."""
        self.latest = latest
        """The id of that instance, if it is known."""
        self._signals = InstanceSignals(continue_if_long)

    async def begin(
        self, instance: str, definition: Definition, data: JSON, pin: Pin, options: OptionsRecord = _NO_OPTIONS
    ) -> bool:
        """Start an instance with *options*; return whether none was running. Raises PayloadTooLarge."""
        if definition.id in WORKFLOW_TYPES:  # in a record that none of our programs wrote
            workflow.logger.warning("%s does not begin %r", workflow.info().workflow_id, definition.id)
            return True
        record, limit = pin.to_json(), limit_of(workflow.payload_converter())
        sizes = json_length(data), json_length(record)
        check_fits(max(sizes), "an instance can be started with", limit)
        check_together(sizes, limit)
        try:
            begun = await workflow.start_child_workflow(
                definition.id,
                args=[data, record],
                id=instance,
                parent_close_policy=ParentClosePolicy.ABANDON,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                static_summary=summaries.of_instance(definition),
                **start_options(options),
            )
        except WorkflowAlreadyStartedError:
            return False
        begun.add_done_callback(heard)
        self.begun, self.latest = begun.first_execution_run_id, instance
        self._signals.runs[instance] = str(self.begun)
        return True

    async def begin_with(
        self,
        instance: str,
        definition: Definition,
        pin: Pin,
        events: Sequence[Arrived],
        options: OptionsRecord = _NO_OPTIONS,
    ) -> int:
        """Start an instance with as many *events* as its start can carry, and signal the others.

        Return how many it was given before it ended; 0 if an instance is running already.
        """
        room = limit_of(workflow.payload_converter()) - json_length([one.to_json() for one in pin.definitions])
        pin.start.events, size = [], _OTHER_BYTES
        for one in events:
            size += json_length(one.event.to_json())
            if pin.start.events and size > room:
                break
            pin.start.events.append(one.event)
        given = len(pin.start.events)
        if not await self.begin(instance, definition, {}, pin, options):
            return 0
        while given < len(events) and await self.give(instance, events[given]):
            given += 1
        return given

    async def give(self, instance: str, arrived: Arrived, *, comes_back: bool = True) -> bool:
        """Give an event to an instance; return whether it is running. The event *comes_back* if it is not taken."""
        return await self._signals.send(instance, ROUTED if comes_back else EVENT, arrived.event.to_json())

    @property
    def have_handed_over(self) -> bool:
        """Whether the instance that was just unreachable has continued as another definition, and is still running."""
        return self._signals.handed_over

    async def is_running(self, instance: str) -> bool:
        """Return whether an instance is running."""
        return await self._signals.send(instance, PROBE, {}, insists=False)


MAX_SUBSCRIBERS: Final = 2000
"""The number of instances that may wait for events of one key."""
MAX_SUBSCRIBERS_BYTES: Final = 256 * 1024
"""The size limit of the records about them."""
_PROBE_AFTER: Final = timedelta(days=1)
"""The interval at which subscribers are probed that may have ended without unsubscribing."""


class Subscribers:
    def __init__(
        self, waits: Mapping[str, list[dict[str, str]]], instances: Instances, probed: float | None = None
    ) -> None:
        self.waits = dict(waits)
        """By the ids of instances, the required attributes of their events, once for each wait."""
        self._instances = instances
        self.probed = workflow.time() if probed is None else probed
        """The time of the last probe, in seconds since 1970, across executions."""

    def of(self, arrived: ParkedEvent) -> list[str]:
        """Return the ids of the instances that have subscribed to such an event."""
        values = arrived.values
        if values is None:
            return []
        return [one for one, waits in self.waits.items() if any(w.items() <= values.items() for w in waits)]

    def add(self, instance: str, values: dict[str, str]) -> bool:
        """Record what an instance waits for; return whether there is room for it."""
        is_full = len(self.waits) >= MAX_SUBSCRIBERS and instance not in self.waits
        if is_full or json_length([self.waits, instance, values]) > MAX_SUBSCRIBERS_BYTES:
            workflow.logger.warning("%s accepts no more subscribers", workflow.info().workflow_id)
            return False
        waits = self.waits.setdefault(instance, [])
        if values not in waits:
            waits.append(values)
        return True

    def remove(self, instance: str) -> None:
        self.waits.pop(instance, None)

    async def tell(self, instance: str, arrived: ParkedEvent, *, alone: bool) -> bool:
        """Give an event to a subscriber, which returns it if it is *alone*; forget one that has ended."""
        if await self._instances.give(instance, arrived, comes_back=alone):
            return True
        self.remove(instance)
        return False

    async def probe(self) -> None:
        """Forget subscribers that have ended without unsubscribing, once a day."""
        if not self.waits or workflow.time() - self.probed < _PROBE_AFTER.total_seconds():
            return
        self.probed = workflow.time()
        for instance in list(self.waits):
            if not await self._instances.is_running(instance):
                self.remove(instance)

    @property
    def next_probe(self) -> float | None:
        """The time of the next probe, in seconds since 1970; None if there are no subscribers."""
        return self.probed + _PROBE_AFTER.total_seconds() if self.waits else None


EVENT_ID_LIFETIME: Final = timedelta(days=1)
"""The time for which duplicates of an event are recognized."""
MAX_REMEMBERED: Final = 2000
"""The number of events whose duplicates are recognized."""
MAX_DONE_BYTES: Final = 512 * 1024
MAX_DONE_EVENTS: Final = 2000
"""The number of processed events in a history at which a mailbox continues as new."""
MIN_FREED_BYTES: Final = MAX_BYTES // 8
"""The minimum that continuing as new must free in a mailbox that is full, or nearly so."""
PARKING_TIME: Final = timedelta(hours=1)
"""The time for which an event is kept that neither starts nor reaches an instance."""
_TRIES: Final = 300
_SHORT_PAUSE: Final = timedelta(milliseconds=100)
"""The number of attempts, and the pause between them, to start the next instance with events that the last returned."""

_NOTHING: Final = RawValue(Payload())
"""The payload of a signal without one."""
_MARGIN: Final = 0.001
"""Seconds added to the wait until something expires."""


@workflow.defn(name=MAILBOX, sandboxed=False)
class EventMailbox:
    """The mailbox of one definition and correlation key."""

    @workflow.init
    def __init__(self, given: Any = None) -> None:
        self._input = RecordInput({} if given is None else given, MailboxRecord)
        record = self._input.record
        self._carried = json_length(record.to_json())
        self._seen = dict(record.seen)
        self._arrived: list[Arriving] = []
        self._gathered = record.gathered
        self._window = record.window
        self._parked = record.held
        self._definitions: Sequence[Pinned] = record.definitions
        self._instances = Instances(record.begun, record.latest, self._continue_if_long)
        self._subscribers = Subscribers(record.subscribers, self._instances, record.probed)
        self._looked_at = 0
        for one in record.arrived:
            self._keep(one)

    @workflow.run
    async def run(self, given: Any = None) -> None:  # noqa: ARG002 - read in __init__
        """Process events until none needs to be remembered any more."""
        self._input.check()
        while True:
            while self._arrived:
                self._continue_if_long()
                await self._look_at(self._arrived[0])
                del self._arrived[0]
                self._looked_at += 1
            self._forget()
            await self._subscribers.probe()
            if self._arrived:
                continue
            if not (self._seen or self._gathered or self._parked or self._subscribers.waits):
                return
            self._continue_if_long()
            with suppress(TimeoutError):
                await workflow.wait_condition(lambda: bool(self._arrived), timeout=self._time_left())

    @workflow.signal(name=TAKE)
    def take(self, message: RawValue = _NOTHING) -> None:
        """Queue a message until it is processed. A message of a newer release waits for a worker of that release."""
        self._keep(message)

    def _keep(self, message: Any) -> None:
        """Keep a message, and the definitions that it brings; drop it if it is invalid."""
        try:
            arriving, definitions = read_arriving(value_of(message) if isinstance(message, RawValue) else message)
            needs_definitions = isinstance(arriving, Delivery | Untaken)
            if needs_definitions and not (definitions or self._definitions):
                raise ValueError("it has no definitions, and the mailbox has none")
        except UNREADABLE as error:
            workflow.logger.error("%s dropped a message: %s", workflow.info().workflow_id, error)
            return
        if definitions and (isinstance(arriving, Delivery) or not self._definitions):
            self._definitions, digest = definitions, digest_of_definitions(definitions)
            if workflow.memo_value(DEFINITIONS, None) != digest:
                workflow.upsert_memo({DEFINITIONS: digest})
        self._arrived.append(arriving)

    def _continue_if_long(self) -> None:
        """Continue as new if much of the history is processed, and the rest can be carried over."""
        info = workflow.info()
        size, has_progressed = info.get_current_history_size(), self._looked_at > 0
        is_long = info.get_current_history_length() > MAX_DONE_EVENTS or info.is_continue_as_new_suggested()
        # Without requiring progress it would continue for ever if a codec enlarges the carried record.
        is_long = is_long or (has_progressed and size - self._carried > MAX_DONE_BYTES)
        # Senders see only the size, and would be refused although the carried events are processed, or expired.
        is_full = not self._arrived and size > MAX_BYTES - MIN_FREED_BYTES
        if not (is_long or is_full):
            return
        record = self._record().to_json()
        carried = json_length(record)
        freed = size - carried if has_progressed else self._carried - carried
        if (is_long or freed >= MIN_FREED_BYTES) and carried <= limit_of(workflow.payload_converter()):
            # Otherwise the memo would be that of the start, and senders would omit definitions that are replaced here.
            workflow.continue_as_new(record, memo=workflow.memo())

    @workflow.query(name="status")
    def status(self) -> dict[str, Any]:
        """Return the fields of any instance's status, and the number of kept events."""
        counts = {"gathered": len(self._gathered), "held": len(self._parked)}
        return {"state": None, "awaiting": [], **counts, "subscribers": list(self._subscribers.waits)}

    @workflow.query(name="looked at")
    def looked_at(self) -> int:
        """Return the number of deliveries that this execution has processed."""
        return self._looked_at

    @workflow.query(name=RECEPTION)
    def reception(self, source: str, id_: str) -> dict[str, Any]:
        """Return what is known about the event with that source and id, and about waiting ones: a `Reception`."""
        is_known = digest_of_event(source, id_) in self._seen
        return Reception(is_known, self._subscribers.waits, len(self._gathered), len(self._parked)).to_json()

    async def _look_at(self, arriving: Arriving) -> None:
        try:
            match arriving:
                case Subscribing():
                    await self._subscribe(arriving.subscriber, arriving.values)
                case Untaken():
                    await self._take_back(arriving)
                case Regained():
                    self._parked = [one for one in self._parked if _digest(one.event) not in arriving.regained]
                case Delivery():
                    await self._deliver(arriving)
        except WorkflowFault as fault:  # for example, the start of an instance would be too large
            workflow.logger.error("%s dropped a message: %s", workflow.info().workflow_id, fault)

    async def _deliver(self, delivery: Delivery) -> None:
        event, instance = delivery.event, delivery.instance
        known = _digest(event)
        if event.id and known in self._seen:
            return
        self._forget()
        arrived = ParkedEvent(event, workflow.time(), delivery.values)
        others = self._subscribers.of(arrived)
        ours = None if instance is None else self._instances.latest or instance
        others = [one for one in others if one != ours]
        got = [await self._subscribers.tell(one, arrived, alone=len(others) == 1 and not instance) for one in others]
        if delivery.starts:
            definition, pin = self._definition()
            if instance is None:
                await self._gather(arrived, definition, pin)
            else:
                await self._hand_over(arrived, definition, pin, instance)
        elif not (ours and await self._instances.give(ours, arrived)) and not any(got):
            self._parked.append(arrived)
        if event.id:
            self._seen[known] = arrived.at

    def _definition(self) -> tuple[Definition, Pin]:
        """Return the definition that is to run."""
        definition = next(iter(catalogue_of(tuple(self._definitions))))
        return definition, pin_of(self._definitions, definition.version)

    async def _subscribe(self, instance: str, values: dict[str, str] | None) -> None:
        """Record what an instance waits for, and give it the events kept for it; without *values*, unsubscribe it."""
        self._forget()
        if values is None:
            self._subscribers.remove(instance)
            return
        if not self._subscribers.add(instance, values):
            return
        for parked in list(self._parked):
            if instance in self._subscribers.of(parked) and await self._subscribers.tell(instance, parked, alone=True):
                self._parked.remove(parked)

    async def _take_back(self, given: Untaken) -> None:
        """Give untaken events to another instance, or keep them; those that start instances start the next one."""
        now, instance = workflow.time(), given.instance
        latest = self._instances.latest or instance
        rest = [(one.starts, ParkedEvent(one.event, now, one.values)) for one in given.untaken]
        is_ours = workflow.info().workflow_id == f"{MAILBOX_PREFIX}{instance}" or any(starts for starts, _ in rest)
        if is_ours and self._instances.begun not in (None, given.run):  # another has been started since
            rest = [one for one in rest if not await self._instances.give(latest, one[1])]
        while any(starts for starts, _ in rest):
            rest.sort(key=lambda one: not one[0])
            if given.handed_over:  # that one keeps its id
                instance = single_id(self._definition()[0].id, rest[0][1].event)
            events = [*rest, *((False, one) for one in self._parked)]
            if not (count := await self._begin_next(instance, events, given.options)):
                rest = [one for one in rest if not await self._instances.give(latest, one[1])]
                break
            rest, self._parked = events[count:], []
        for _, one in rest:
            others = self._subscribers.of(one)
            if not any([await self._subscribers.tell(other, one, alone=len(others) == 1) for other in others]):
                self._parked.append(one)

    async def _begin_next(
        self, instance: str, events: Sequence[tuple[bool, ParkedEvent]], options: OptionsRecord
    ) -> int:
        """Start the next instance with events returned by one that is about to end; return how many it was given.

        It is started with the *options* of the one before.
        """
        definition, pin = self._definition()
        pin.lineage.hops = hops_of(*(one.event for starts, one in events if starts))
        for _ in range(_TRIES):
            count = await self._instances.begin_with(instance, definition, pin, [one for _, one in events], options)
            if count:
                return count
            await workflow.sleep(_SHORT_PAUSE, summary=summaries.BEGINNING_AGAIN)
        return 0

    async def _gather(self, arrived: Arrived, definition: Definition, pin: Pin) -> None:
        """Keep an event until there is one of each kind, and then start an instance with all of them."""
        found = gathered(definition, self._gathered, arrived)
        start = definition.event_start
        pin.lineage.hops = hops_of(*(one.event for one in (*self._gathered, arrived)))
        self._gathered = list(found.waiting)
        self._window = None if start is None or start.window is None else start.window.total_seconds()
        if found.is_complete:
            instance = single_id(definition.id, arrived.event)
            await self._instances.begin(instance, definition, found.input, pin)

    async def _hand_over(self, arrived: Arrived, definition: Definition, pin: Pin, instance: str) -> None:
        """Start the instance with the event and those kept for it; or signal the event to the running instance."""
        latest = self._instances.latest or instance
        if self._instances.begun is not None and await self._instances.give(latest, arrived):
            return  # it is running, as nearly always
        pin.lineage.hops = hops_of(arrived.event)
        waits = pauses()
        while not (given := await self._instances.begin_with(instance, definition, pin, [arrived, *self._parked])):
            if await self._instances.give(instance, arrived):
                return
            other = single_id(definition.id, arrived.event)
            if self._instances.have_handed_over and instance != other:
                instance = other
                continue
            self._continue_if_long()
            # It ended between the two; or another workflow has its id, and may have it for long.
            await workflow.sleep(next(waits), summary=summaries.BEGINNING_AGAIN)
        self._parked = self._parked[given - 1 :]

    def _time_left(self) -> float | None:
        """Return the seconds until something expires; None if nothing will."""
        ends = [at + EVENT_ID_LIFETIME.total_seconds() for at in self._seen.values()]
        if self._window is not None:
            ends += [one.at + self._window for one in self._gathered]
        if self._subscribers.next_probe is not None:
            ends.append(self._subscribers.next_probe)
        ends += [one.at + PARKING_TIME.total_seconds() for one in self._parked]  # it makes room
        return max(min(ends) - workflow.time(), 0.0) + _MARGIN if ends else None

    def _forget(self) -> None:
        """Drop what has expired, and the ids above the limit."""
        now, window = workflow.time(), self._window
        while self._seen:
            first, at = next(iter(self._seen.items()))
            if len(self._seen) <= MAX_REMEMBERED and now - at < EVENT_ID_LIFETIME.total_seconds():
                break
            del self._seen[first]
        self._parked = [one for one in self._parked if now - one.at < PARKING_TIME.total_seconds()]
        self._gathered = [one for one in self._gathered if window is None or now - one.at <= window]

    def _record(self) -> MailboxRecord:
        return MailboxRecord(
            seen=list(self._seen.items()),
            arrived=[one.to_json() for one in self._arrived],
            gathered=self._gathered,
            window=self._window,
            held=self._parked,
            subscribers=self._subscribers.waits,
            probed=self._subscribers.probed,
            definitions=list(self._definitions),
            begun=self._instances.begun,
            latest=self._instances.latest,
        )


def _digest(event: CloudEvent) -> str:
    return digest_of_event(event.source, event.id)
