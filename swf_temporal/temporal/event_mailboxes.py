"""Events that are correlated, on Temporal: a workflow for each definition and correlation key, its mailbox.

Theory of operation. Who routes an event sends it to the mailbox by a signal, which begins the mailbox if need be. The
mailbox takes one event after the other, each once, by its source and id. It begins the instance of its key with the
first, as a child that is abandoned when the mailbox ends, and gives it the others by signals as long as it runs; once
it has ended, the next event that starts instances begins another with the same id. Commands of a workflow are carried
out exactly once, which an activity that starts workflows could not promise. Where an instance is begun with all of its
events, the mailbox keeps them until there is one of each kind.

An event that starts nothing is kept for an hour if no instance of the key runs. Ids are remembered for a day, the last
2,000 of them; a mailbox that has nothing to remember ends, and one whose history grows long continues as new.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final, TypedDict

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import FailureError, WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON
from swf_temporal.languages.port import Definition
from swf_temporal.routing.gathering import Arrived, gathered
from swf_temporal.routing.keys import single_id
from swf_temporal.temporal.call_facts import shortened
from swf_temporal.temporal.constants import EVENT
from swf_temporal.temporal.records import Pin, Pinned, PinnedRecord, catalogue_of

MAILBOX: Final = "swf events"
"""The workflow type."""
TAKE: Final = "take"
"""The signal that carries a delivery."""
REMEMBERED: Final = timedelta(days=1)
"""The time for which an event is known again."""
MAX_REMEMBERED: Final = 2000
"""The number of events that are known again."""
HELD: Final = timedelta(hours=1)
"""The time for which an event is kept that starts no instance, and finds none."""
_PAUSE: Final = timedelta(seconds=1)
"""The pause before an instance is looked for again that could be neither begun nor reached."""

_MARGIN: Final = 0.001
"""Seconds by which a wait is longer than the time until there is something to forget."""


class Delivery(TypedDict):
    """An event as it travels to a mailbox, with the definitions that an instance is to run."""

    event: dict[str, Any]
    definitions: list[PinnedRecord]
    """The one that consumes the event comes first."""
    starts: bool
    """Whether the event starts an instance."""
    instance: str | None
    """The id of the instance of this key; None if each has events, and so an id, of its own."""


class MailboxRecord(TypedDict, total=False):
    """What a mailbox carries on when it continues as new."""

    seen: list[tuple[str, str, float]]
    """Source, id and time of the events that came, in seconds since 1970."""
    arrived: list[Delivery]
    """Those that it has yet to look at."""
    gathered: list[Arrived]
    """Those that wait for others."""
    window: float | None
    """The seconds for which they do; None is without a limit."""
    held: list[Arrived]
    """Those that wait for an instance."""


@workflow.defn(name=MAILBOX, sandboxed=False)
class EventMailbox:
    """The mailbox of one definition and correlation key."""

    @workflow.init
    def __init__(self, record: MailboxRecord | None = None) -> None:
        record = record or {}
        self._seen = {(source, id_): at for source, id_, at in record.get("seen", ())}
        self._arrived = list(record.get("arrived", ()))
        self._gathered = list(record.get("gathered", ()))
        self._window = record.get("window")
        self._held = list(record.get("held", ()))
        self._looked_at = 0

    @workflow.run
    async def run(self, record: MailboxRecord | None = None) -> None:  # noqa: ARG002 - read in __init__
        """Take events for as long as there is one to be remembered."""
        while True:
            while self._arrived:
                if workflow.info().is_continue_as_new_suggested():
                    workflow.continue_as_new(self._record())
                await self._look_at(self._arrived[0])
                del self._arrived[0]
                self._looked_at += 1
            self._forget()
            if not self._seen and not self._gathered:
                return
            with suppress(TimeoutError):
                await workflow.wait_condition(lambda: bool(self._arrived), timeout=self._time_left())

    @workflow.signal(name=TAKE)
    def take(self, delivery: Delivery) -> None:
        """Keep what came until it is looked at."""
        self._arrived.append(delivery)

    @workflow.query(name="status")
    def status(self) -> dict[str, Any]:
        """Return what any instance returns, and how many events are kept."""
        return {"state": None, "awaiting": [], "gathered": len(self._gathered), "held": len(self._held)}

    @workflow.query(name="looked at")
    def looked_at(self) -> int:
        """Return how many deliveries this execution has looked at."""
        return self._looked_at

    async def _look_at(self, delivery: Delivery) -> None:
        event = CloudEvent.from_json(delivery["event"])
        known = (event.source, event.id)
        if event.id and known in self._seen:
            return
        self._forget()
        pinned = [Pinned.from_json(one) for one in delivery["definitions"]]
        definition = next(iter(catalogue_of(tuple(pinned))))
        pin = Pin(pinned, version=definition.version)
        arrived = Arrived(event=event.to_json(), at=workflow.time())
        if delivery["instance"] is None:
            await self._gather(arrived, definition, pin)
        elif delivery["starts"]:
            await self._hand_over(arrived, definition, pin, delivery["instance"])
        elif not await self._signal(delivery["instance"], arrived["event"]):
            self._held.append(arrived)
        if event.id:
            self._seen[known] = arrived["at"]

    async def _gather(self, arrived: Arrived, definition: Definition, pin: Pin) -> None:
        """Keep an event until there is one of each kind, and begin an instance with all of them then."""
        found = gathered(definition, self._gathered, arrived)
        start = definition.event_start
        self._gathered = list(found.waiting)
        self._window = None if start is None or start.window is None else start.window.total_seconds()
        if found.is_complete:
            instance = single_id(definition.id, CloudEvent.from_json(arrived["event"]))
            await self._begin(instance, definition, found.input, pin)

    async def _hand_over(self, arrived: Arrived, definition: Definition, pin: Pin, instance: str) -> None:
        """Begin the instance with the event and what was kept for it; give the event to one that runs already."""
        pin.events = [arrived["event"], *(one["event"] for one in self._held)]
        while not await self._begin(instance, definition, {}, pin):
            if await self._signal(instance, arrived["event"]):
                return
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(self._record())
            await workflow.sleep(_PAUSE)  # it ended between the two
        self._held = []

    async def _begin(self, instance: str, definition: Definition, data: JSON, pin: Pin) -> bool:
        """Begin an instance; tell whether there was none that runs."""
        try:
            await workflow.start_child_workflow(
                definition.id,
                args=[data, pin.to_json()],
                id=instance,
                parent_close_policy=ParentClosePolicy.ABANDON,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                static_summary=shortened(definition.name or definition.id),
            )
        except WorkflowAlreadyStartedError:
            return False
        return True

    async def _signal(self, instance: str, event: Mapping[str, JSON]) -> bool:
        """Give an event to the instance; tell whether it runs."""
        try:
            await workflow.get_external_workflow_handle(instance).signal(EVENT, event)
        except FailureError:
            return False
        return True

    def _time_left(self) -> float | None:
        """Return the seconds until there is something to forget; None if nothing is, in time."""
        ends = [at + REMEMBERED.total_seconds() for at in self._seen.values()]
        if self._window is not None:
            ends += [one["at"] + self._window for one in self._gathered]
        return max(min(ends) - workflow.time(), 0.0) + _MARGIN if ends else None

    def _forget(self) -> None:
        """Forget what came long ago, and the ids above the limit."""
        now, window = workflow.time(), self._window
        ids = [one for one, at in self._seen.items() if now - at < REMEMBERED.total_seconds()][-MAX_REMEMBERED:]
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
        }
