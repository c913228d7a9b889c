"""Events that are correlated, on Temporal: a workflow for each definition and correlation key, its mailbox.

Theory of operation. Who routes an event sends it to the mailbox by a signal, which begins the mailbox if need be. The
mailbox takes one thing after the other that comes, each event once, by its source and id. It begins the instance of its
key with the first, as a child that is abandoned when the mailbox ends, and gives it the others by signals as long as it
runs; once it has ended, the next event that starts instances begins another with the same id. Commands of a workflow
are carried out exactly once, which an activity that starts workflows could not promise. Where an instance is begun with
all of its events, the mailbox keeps them until there is one of each kind.

Instances that the mailbox did not begin subscribe when they begin to wait, and get the events whose values agree with
what they know. An event that starts nothing and that nobody waits for is kept for an hour. What an instance was given
and did not take comes back when it ends (`subscribing.py`), and begins the next one if it is of the kind that does.

Ids are remembered for a day, the last 2,000 of them; a mailbox that has nothing to remember ends, and one whose history
grows long continues as new. Subscribers that were terminated are noticed by a signal that fails, once a day at least.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON
from swf_temporal.languages.port import Definition
from swf_temporal.routing.chains import hops_of
from swf_temporal.routing.gathering import Arrived, gathered
from swf_temporal.routing.keys import MAILBOX_PREFIX, single_id
from swf_temporal.runtime.names import WORKFLOW_TYPES
from swf_temporal.temporal import summaries
from swf_temporal.temporal.constants import EVENT, PROBE, ROUTED
from swf_temporal.temporal.formats import check_format, readable
from swf_temporal.temporal.instance_signals import InstanceSignals
from swf_temporal.temporal.mailbox_records import (
    MAILBOX,
    RECEPTION,
    TAKE,
    Arriving,
    Delivery,
    Held,
    MailboxRecord,
    Reception,
    Untaken,
)
from swf_temporal.temporal.records import Pin, Pinned, PinnedRecord, catalogue_of

EVENT_ID_LIFETIME: Final = timedelta(days=1)
"""The time for which an event is known again."""
MAX_REMEMBERED: Final = 2000
"""The number of events that are known again."""
MAX_SUBSCRIBERS: Final = 2000
"""The number of instances that may wait for events of one key."""
HELD: Final = timedelta(hours=1)
"""The time for which an event is kept that starts no instance, and finds none."""
_PAUSE, _LONGEST_PAUSE = timedelta(seconds=1), timedelta(minutes=1)
"""The pauses before an instance is looked for again that could be neither begun nor reached: each is twice as long."""

_TRIES: Final = 300
_SHORT_PAUSE: Final = timedelta(milliseconds=100)
"""How often, and after which pauses, the next instance is begun with what the one before gives back, which ends."""

_MARGIN: Final = 0.001
"""Seconds by which a wait is longer than the time until there is something to forget."""


@workflow.defn(name=MAILBOX, sandboxed=False)
class EventMailbox:
    """The mailbox of one definition and correlation key."""

    @workflow.init
    def __init__(self, record: MailboxRecord | None = None) -> None:
        record = readable(record) or {}
        self._seen = {(source, id_): at for source, id_, at in record.get("seen", ())}
        self._arrived = list(record.get("arrived", ()))
        self._gathered = list(record.get("gathered", ()))
        self._window = record.get("window")
        self._held = list(record.get("held", ()))
        self._subscribers = dict(record.get("subscribers", {}))
        self._definitions = list(record.get("definitions", ()))
        self._probed = workflow.time()
        self._begun = record.get("begun")
        self._looked_at = 0
        self._signals = InstanceSignals()

    @workflow.run
    async def run(self, record: MailboxRecord | None = None) -> None:
        """Take events for as long as there is one to be remembered."""
        check_format(record or {}, "a mailbox's record")
        while True:
            while self._arrived:
                if workflow.info().is_continue_as_new_suggested():
                    workflow.continue_as_new(self._record())
                await self._look_at(self._arrived[0])
                del self._arrived[0]
                self._looked_at += 1
            self._forget()
            await self._probe()
            if not (self._seen or self._gathered or self._held or self._subscribers):
                if self._arrived:
                    continue
                return
            with suppress(TimeoutError):
                await workflow.wait_condition(lambda: bool(self._arrived), timeout=self._time_left())

    @workflow.signal(name=TAKE)
    def take(self, arriving: Arriving) -> None:
        """Keep what came until it is looked at. What a newer release sends waits for a worker of that release."""
        check_format(arriving, "a message to a mailbox")
        self._arrived.append(arriving)

    @workflow.query(name="status")
    def status(self) -> dict[str, Any]:
        """Return what any instance returns, and how many events are kept."""
        return {
            "state": None,
            "awaiting": [],
            "gathered": len(self._gathered),
            "held": len(self._held),
            "subscribers": list(self._subscribers),
        }

    @workflow.query(name="looked at")
    def looked_at(self) -> int:
        """Return how many deliveries this execution has looked at."""
        return self._looked_at

    @workflow.query(name=RECEPTION)
    def reception(self, source: str, id_: str) -> Reception:
        """Return what is known of the event with that source and id, and of the instances that wait for events."""
        return {
            "isKnown": (source, id_) in self._seen,
            "subscribers": self._subscribers,
            "gathered": len(self._gathered),
            "held": len(self._held),
        }

    async def _look_at(self, arriving: Arriving) -> None:
        if "subscriber" in arriving:
            await self._subscribe(arriving["subscriber"], arriving["values"])
        elif "untaken" in arriving:
            await self._take_back(arriving)
        else:
            await self._deliver(arriving)

    async def _deliver(self, delivery: Delivery) -> None:
        event = CloudEvent.from_json(delivery["event"])
        known = (event.source, event.id)
        if event.id and known in self._seen:
            return
        self._forget()
        self._definitions = delivery["definitions"]
        arrived = Held(event=event.to_json(), at=workflow.time())
        if "values" in delivery:
            arrived["values"] = delivery["values"]
        others = self._subscribers_of(arrived)
        got = [await self._tell(one, arrived, alone=len(others) == 1 and not delivery["instance"]) for one in others]
        if delivery["starts"]:
            definition, pin = self._definition_of(delivery["definitions"])
            if delivery["instance"] is None:
                await self._gather(arrived, definition, pin)
            else:
                await self._hand_over(arrived, definition, pin, delivery["instance"])
        elif not await self._signal(delivery["instance"], arrived["event"]) and not any(got):
            self._held.append(arrived)
        if event.id:
            self._seen[known] = arrived["at"]

    def _definition_of(self, records: Sequence[PinnedRecord]) -> tuple[Definition, Pin]:
        """Return the definition that is to run: that of the latest event that came or, if none did, of *records*."""
        pinned = [Pinned.from_json(one) for one in self._definitions or records]
        definition = next(iter(catalogue_of(tuple(pinned))))
        return definition, Pin(pinned, version=definition.version)

    def _subscribers_of(self, arrived: Held) -> list[str]:
        """Return the ids of the instances that have subscribed to such an event."""
        values = arrived.get("values")
        if values is None:
            return []
        agrees = {
            one: any(wanted.items() <= values.items() for wanted in all_) for one, all_ in self._subscribers.items()
        }
        return [one for one, is_theirs in agrees.items() if is_theirs]

    async def _subscribe(self, instance: str, values: dict[str, str] | None) -> None:
        """Take note of what an instance waits for, and give it what was kept for it; or that it has ended."""
        self._forget()
        if values is None:
            self._subscribers.pop(instance, None)
            return
        if len(self._subscribers) >= MAX_SUBSCRIBERS and instance not in self._subscribers:
            workflow.logger.warning(
                "%s has %d subscribers, and accepts no more", workflow.info().workflow_id, MAX_SUBSCRIBERS
            )
            return
        waits = self._subscribers.setdefault(instance, [])
        if values not in waits:
            waits.append(values)
        for held in list(self._held):
            if instance in self._subscribers_of(held) and await self._tell(instance, held, alone=True):
                self._held.remove(held)

    async def _tell(self, instance: str, arrived: Held, *, alone: bool) -> bool:
        """Give an event to a subscriber, which gives it back if it is *alone*; forget one that has ended."""
        if await self._signal(instance, arrived["event"], comes_back=alone):
            return True
        self._subscribers.pop(instance, None)
        return False

    async def _take_back(self, given: Untaken) -> None:
        """Give what an instance has not taken to another, or keep it; what starts instances begins the next one."""
        now, instance = workflow.time(), given["instance"]
        rest = [
            (one["starts"], Held(event=one["event"], at=now, values=one.get("values", {}))) for one in given["untaken"]
        ]
        is_ours = workflow.info().workflow_id == f"{MAILBOX_PREFIX}{instance}"
        if is_ours and self._begun not in (None, given["run"]):  # another has been begun since
            rest = [one for one in rest if not await self._signal(instance, one[1]["event"])]
        if any(starts for starts, _ in rest):
            rest.sort(key=lambda one: not one[0])
            if await self._begin_next(instance, [one["event"] for _, one in rest], given["definitions"]):
                return
            rest = [one for one in rest if not await self._signal(instance, one[1]["event"])]
        for _, one in rest:
            others = self._subscribers_of(one)
            if not any([await self._tell(other, one, alone=len(others) == 1) for other in others]):
                self._held.append(one)

    async def _begin_next(self, instance: str, events: list[dict[str, Any]], records: Sequence[PinnedRecord]) -> bool:
        """Begin the next instance with what another gives back, which is about to end; tell whether that worked."""
        definition, pin = self._definition_of(records)
        pin.events = [*events, *(one["event"] for one in self._held)]
        pin.hops = hops_of(*map(CloudEvent.from_json, events))
        for _ in range(_TRIES):
            if await self._begin(instance, definition, {}, pin):
                self._held = []
                return True
            await workflow.sleep(_SHORT_PAUSE, summary=summaries.BEGINNING_AGAIN)
        return False

    async def _gather(self, arrived: Arrived, definition: Definition, pin: Pin) -> None:
        """Keep an event until there is one of each kind, and begin an instance with all of them then."""
        found = gathered(definition, self._gathered, arrived)
        start = definition.event_start
        pin.hops = hops_of(*(CloudEvent.from_json(one["event"]) for one in (*self._gathered, arrived)))
        self._gathered = list(found.waiting)
        self._window = None if start is None or start.window is None else start.window.total_seconds()
        if found.is_complete:
            instance = single_id(definition.id, CloudEvent.from_json(arrived["event"]))
            await self._begin(instance, definition, found.input, pin)

    async def _hand_over(self, arrived: Arrived, definition: Definition, pin: Pin, instance: str) -> None:
        """Begin the instance with the event and what was kept for it; give the event to one that runs already."""
        if self._begun is not None and await self._signal(instance, arrived["event"]):
            return  # it runs, as nearly always
        pin.events = [arrived["event"], *(one["event"] for one in self._held)]
        pin.hops = hops_of(CloudEvent.from_json(arrived["event"]))
        pause = _PAUSE
        while not await self._begin(instance, definition, {}, pin):
            if await self._signal(instance, arrived["event"]):
                return
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(self._record())
            # It ended between the two; or another workflow has its id, and may have it for long.
            await workflow.sleep(pause, summary=summaries.BEGINNING_AGAIN)
            pause = min(2 * pause, _LONGEST_PAUSE)
        self._held = []

    async def _begin(self, instance: str, definition: Definition, data: JSON, pin: Pin) -> bool:
        """Begin an instance; tell whether there was none that runs."""
        if definition.id in WORKFLOW_TYPES:  # of a record that no program of ours has written
            workflow.logger.warning("%s does not begin %r", workflow.info().workflow_id, definition.id)
            return True
        try:
            begun = await workflow.start_child_workflow(
                definition.id,
                args=[data, pin.to_json()],
                id=instance,
                parent_close_policy=ParentClosePolicy.ABANDON,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                static_summary=summaries.of_instance(definition),
            )
        except WorkflowAlreadyStartedError:
            return False
        self._begun = begun.first_execution_run_id
        self._signals.runs[instance] = str(self._begun)
        return True

    async def _signal(self, instance: str | None, event: Mapping[str, JSON], *, comes_back: bool = True) -> bool:
        """Give an event to the instance; tell whether it runs. It *comes_back* if the instance does not take it."""
        name = ROUTED if comes_back else EVENT
        return instance is not None and await self._signals.send(instance, name, event)

    async def _probe(self) -> None:
        """Forget subscribers that have ended without saying so, once a day."""
        if not self._subscribers or workflow.time() - self._probed < EVENT_ID_LIFETIME.total_seconds():
            return
        self._probed = workflow.time()
        for instance in list(self._subscribers):
            if not await self._signals.send(instance, PROBE, {}):
                self._subscribers.pop(instance, None)

    def _time_left(self) -> float | None:
        """Return the seconds until there is something to forget; None if nothing is, in time."""
        ends = [at + EVENT_ID_LIFETIME.total_seconds() for at in self._seen.values()]
        if self._window is not None:
            ends += [one["at"] + self._window for one in self._gathered]
        if self._subscribers:
            ends.append(self._probed + EVENT_ID_LIFETIME.total_seconds())
        if not ends:
            ends += [one["at"] + HELD.total_seconds() for one in self._held]
        return max(min(ends) - workflow.time(), 0.0) + _MARGIN if ends else None

    def _forget(self) -> None:
        """Forget what came long ago, and the ids above the limit."""
        now, window = workflow.time(), self._window
        ids = [one for one, at in self._seen.items() if now - at < EVENT_ID_LIFETIME.total_seconds()][-MAX_REMEMBERED:]
        self._seen = {one: self._seen[one] for one in ids}
        self._held = [one for one in self._held if now - one["at"] < HELD.total_seconds()]
        self._gathered = [one for one in self._gathered if window is None or now - one["at"] <= window]

    def _record(self) -> MailboxRecord:
        return {
            "seen": [(source, id_, at) for (source, id_), at in self._seen.items()],
            "arrived": self._arrived,
            "gathered": self._gathered,
            "window": self._window,
            "held": self._held,
            "subscribers": self._subscribers,
            "definitions": self._definitions,
            "begun": self._begun,
        }
