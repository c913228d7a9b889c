"""The driver of a scenario on Temporal: which instance gets which event, and when time passes.

Theory of operation. The next step is made when nothing is in progress: first anything due, then an event that an
instance awaits, then time passes until something else is due. If there is nothing, the run has ended, or waits
forever. `family` knows what is in progress and what is due; the server is only asked whether it has processed all that.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHistoryEventFilterType
from temporalio.service import RPCError

from swf_temporal.base.client_errors import NoAnswerError
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import UsageError
from swf_temporal.languages.port import EventUse
from swf_temporal.runtime.correlation import is_like
from swf_temporal.sdk.scenarios.family import Due, Family, Member
from swf_temporal.sdk.scenarios.virtual_time import CLOCK
from swf_temporal.simulation.clock import MICROSECOND
from swf_temporal.temporal.client import query, send_event

_CLOSED = {
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED: "completed",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED: "failed",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT: "timed out",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED: "cancelled",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED: "terminated",
}


_LIMIT = 60
"""Seconds of real time that a single step may take."""
_TRIES = 3
"""The number of status queries to an instance within that time."""
_MAX_STEPS = 10_000
"""The limit of steps in one run."""
_ASKING = 0.01
"""Seconds between checks for a pending workflow task."""


class ScenarioDriver:
    def __init__(self, client: Client, workflow_id: str, events: Sequence[CloudEvent]) -> None:
        self.family = Family(workflow_id, self._ask_for_the_end)
        self._client = client
        self._events = list(events)
        self._awaited: dict[str, tuple[int, list[EventUse]]] = {}
        """By instance id: its count of news, and the events that it awaited then."""
        self._asking: set[asyncio.Task[None]] = set()
        self._cancel_at: int | None = None
        """When the run is cancelled from outside, in microseconds since it began."""

    async def drive(self, *, cancels_waiting: bool, cancel_after: timedelta | None = None) -> str:
        """Run to the end; return how the run ended, or `waiting`.

        With *cancels_waiting* it is cancelled if it would wait, and at the latest after *cancel_after*.
        """
        family = self.family
        self._cancel_at = None if cancel_after is None else cancel_after // MICROSECOND
        for _ in range(_MAX_STEPS):
            try:
                async with asyncio.timeout(_LIMIT):
                    await family.calm()
                    while await self._has_workflow_task():
                        await asyncio.sleep(_ASKING)
                        await family.calm()
                    goes_on = bool(family.open) and await self._go_on()
            except TimeoutError:
                return f"made no progress for {_LIMIT} seconds: {', '.join(family.under_way)}"
            if goes_on:
                continue
            if not (family.open and cancels_waiting) or family.main.ended:
                break
            cancels_waiting = False
            await self._cancel()
        else:
            return f"had not ended after {_MAX_STEPS:,} steps"
        return family.main.ended or "waiting"

    async def end(self) -> None:
        """End everything that still runs."""
        for task in self._asking:
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)
        for member in list(self.family.members.values()):  # some may begin meanwhile
            if not member.ended:
                with suppress(RPCError):  # it has just ended, or never began
                    handle = self._client.get_workflow_handle(member.workflow_id)
                    await handle.terminate("the scenario is over")
        self.family.agenda.close()

    async def _go_on(self) -> bool:
        """Make the next step; return False if there is none."""
        deliveries = self.family.deliveries()
        if deliveries:
            # Sub-workflows first: the effects of news on their parents, such as a cancellation, reach them later.
            for depth in sorted({len(member.place) for member, _ in deliveries.values()}, reverse=True):
                told = [(member, seqs) for member, seqs in deliveries.values() if len(member.place) == depth]
                await asyncio.gather(*(self._tell(member, {"deliver": seqs}) for member, seqs in told))
                await self.family.calm()
            return True
        due = self.family.agenda.next()
        if due is not None and due.key.due <= self.family.agenda.now:
            await self._release(due)
            return True
        if await self._deliver_next():
            return True
        if self._cancel_at is not None and (due is None or self._cancel_at <= due.key.due):
            moment, self._cancel_at = self._cancel_at, None
            if not self.family.main.ended:
                await self._let_pass(moment, self.family.open)
                await self._cancel()
                return True
        if due is None:
            return False
        await self._release(due)
        return True

    async def _has_workflow_task(self) -> bool:
        """Return whether the server has a pending workflow task for an instance.

        A worker's completion may be lost: on a machine that hung for longer than the task timeout, or because the SDK
        evicted the run when it was queried. Then the server dispatches the task again.
        """
        for member in self.family.open:
            with suppress(RPCError):  # it has just ended
                description = await self._client.get_workflow_handle(member.workflow_id).describe()
                if description.raw_description.HasField("pending_workflow_task"):
                    return True
        return False

    async def _cancel(self) -> None:
        """Cancel the main instance, from outside."""
        self.family.agenda.step()
        self.family.expect("cancel", self.family.main)
        await self._client.get_workflow_handle(self.family.main.workflow_id).cancel()

    async def _let_pass(self, moment: int, members: Iterable[Member]) -> None:
        """Advance the time to *moment*: *members* learn it before anything happens then."""
        self.family.agenda.now = moment
        await asyncio.gather(*(self._tell(member, {}) for member in members))
        await self.family.calm()

    async def _release(self, due: Due) -> None:
        family = self.family
        if due.key.due > family.agenda.now:
            # An instance must know the time before it is notified of what others do.
            others = [member for member in family.open if due.kind == "call" or member is not due.member]
            await self._let_pass(due.key.due, others)
        family.agenda.step()
        family.release(due)
        if due.kind == "timer":
            await self._tell(due.member, {"timers": [due.seq]})
        elif due.kind == "activity":
            await self._tell(due.member, {"activities": [due.seq]})
        elif due.kind == "child":
            child = family.child(due)
            family.terminated(child)
            await self._tell(due.member, {"children": [due.seq]})
            with suppress(RPCError):  # it has just ended
                await self._client.get_workflow_handle(child.workflow_id).terminate("its time is over")

    async def _tell(self, member: Member, what: Mapping[str, list[int]]) -> None:
        """Signal to *member* the time, and in *what* the timers that fire and timeouts that expire."""
        self.family.expect("clock", member)
        try:
            handle = self._client.get_workflow_handle(member.workflow_id)
            await handle.signal(CLOCK, {"now": self.family.agenda.now, **what})
        except RPCError:
            self.family.forget("clock", member)  # it has just ended

    async def _deliver_next(self) -> bool:
        """Deliver the first event that an instance awaits now."""
        if not self._events:
            return False
        awaited = [(member, await self._awaited_by(member)) for member in self.family.open]
        for index, event in enumerate(self._events):
            for member, definitions in awaited:
                if any(is_like(definition, event) for definition in definitions):
                    del self._events[index]
                    self.family.agenda.step()
                    self.family.expect("signal", member)
                    await send_event(self._client, member.workflow_id, event.to_json())
                    return True
        return False

    async def _status_of(self, member: Member) -> Mapping[str, Any]:
        """Return the status of *member*. The SDK sometimes loses a query that arrives while it evicts an instance."""
        patience = timedelta(seconds=_LIMIT / _TRIES)
        for left in reversed(range(_TRIES)):
            try:
                status: Mapping[str, Any] = await query(self._client, member.workflow_id, "status", patience)
            except NoAnswerError:
                if not left:
                    raise
            else:
                return status
        raise AssertionError

    async def _awaited_by(self, member: Member) -> list[EventUse]:
        news, definitions = self._awaited.get(member.workflow_id, (-1, []))
        if news != member.news:
            try:
                status = await self._status_of(member)
            except NoAnswerError:
                raise  # if the machine hangs for a while, it must not seem that nothing is awaited
            except UsageError:
                return []  # it has just ended
            awaited = [event for wait in status["awaiting"] for event in wait["events"]]
            definitions = [EventUse(one["name"], one["type"], one["source"]) for one in awaited]
            self._awaited[member.workflow_id] = member.news, definitions
        return definitions

    def _ask_for_the_end(self, member: Member, run_id: str | None) -> None:
        task = asyncio.create_task(self._closed(member, run_id))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _closed(self, member: Member, run_id: str | None) -> None:
        """Wait until the server has closed an execution: it may refuse to, since something arrived in between."""
        handle = self._client.get_workflow_handle(member.workflow_id, run_id=run_id)
        how: str | None = "never begun"
        with suppress(RPCError):
            closing = WorkflowHistoryEventFilterType.CLOSE_EVENT
            async for event in handle.fetch_history_events(wait_new_event=True, event_filter_type=closing):
                how = _CLOSED.get(event.event_type)
        self.family.closed(member, run_id, how)
