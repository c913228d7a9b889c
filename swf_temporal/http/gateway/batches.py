"""Batches of events: events are sent concurrently, except that those with the same recipients keep their order."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import SwfError
from swf_temporal.http.gateway.answers import EventFacts, Receipt, Taken
from swf_temporal.http.gateway.refusals import Refused, refusal_of
from swf_temporal.http.gateway.requests import PATIENCE

NOT_TAKEN: Final = "not-taken"
"""The status of an event of a batch that Temporal has not stored, as far as is known."""
_AT_ONCE: Final = 16
"""The number of events of a batch that are sent concurrently."""

Work: TypeAlias = Callable[[CloudEvent], Awaitable[Taken]]
"""Sends an event; returns its answer. Raises SwfError and OSError (such as TimeoutError)."""


def event_facts(event: CloudEvent) -> EventFacts:
    return {"id": event.id, "source": event.source, "type": event.type}


def answer_of(event: CloudEvent, status: str, receipts: Sequence[Receipt] = ()) -> Taken:
    return {"event": event_facts(event), "status": status, "receipts": list(receipts)}


async def answered(event: CloudEvent, work: Work) -> Taken:
    """Return the answer for the only event of a request. Raises Refused."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await work(event)
    except (SwfError, OSError) as error:
        refusal = refusal_of(error)
        refusal.facts |= {"event": event_facts(event)}
        raise refusal from None


class Batch:
    def __init__(self, events: Sequence[CloudEvent], work: Work) -> None:
        self._events = events
        self._work = work
        self._free = asyncio.Semaphore(_AT_ONCE)
        self._answers: dict[int, Taken] = {}
        self._refusals: dict[int, Refused] = {}

    async def answers(self, lanes: Sequence[frozenset[str]]) -> list[Taken]:
        """Return the answers, in the order of the events.

        *lanes* has for each event the lanes that it shares with others: it is sent after the earlier events of the same
        lanes. Each event has its own timeout. After a failure no further event is sent. Raises Refused for the first
        failure, with the outcome of each event.
        """
        last: dict[str, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as tasks:
            for index, own in enumerate(lanes):
                before = {last[lane] for lane in own if lane in last}
                task = tasks.create_task(self._send(index, before))
                last |= dict.fromkeys(own, task)
        if self._refusals:
            raise self._refused(min(self._refusals))
        return [self._answers[index] for index in range(len(self._events))]

    async def _send(self, index: int, before: set[asyncio.Task[None]]) -> None:
        for task in before:
            await task
        async with self._free:
            if self._refusals:
                return
            try:
                self._answers[index] = await answered(self._events[index], self._work)
            except Refused as refusal:
                self._refusals[index] = refusal

    def _refused(self, index: int) -> Refused:
        refusal, taken = self._refusals[index], len(self._answers)
        events = [self._answers.get(each) or answer_of(event, NOT_TAKEN) for each, event in enumerate(self._events)]
        refusal.facts |= {"index": index, "events": events}
        refusal.hint = f"{taken} events of the batch were taken; each is taken once, however often it is sent"
        return refusal
