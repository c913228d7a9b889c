"""How does a scenario take its course on Temporal: who is given which event, and when does time pass?

Theory of operation. A scenario's events are delivered when somebody awaits them, and time passes only when nothing
else can happen. So the instance and its sub-workflows are looked at again and again. While a worker has something to
do for one of them, nothing is done. Then the first event that is awaited is delivered. If none is, time jumps to the
next moment that somebody waits for: by one timer of one instance, since each has a clock of its own. If there is none
either, the run is at its end, or waits for ever.

The clocks of an instance and its sub-workflow are not kept together: an instance's time stands still while one of its
sub-workflows runs. A scenario in which they race against each other runs in simulation only.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.testing import TimeSkipper, TimeSkippingConfig

from swf_temporal.cli.scripted import Session
from swf_temporal.cli.standing import Standing, standing_of
from swf_temporal.errors import UsageError
from swf_temporal.interpreter.events import is_like
from swf_temporal.model.cloudevent import CloudEvent
from swf_temporal.model.definitions import Event
from swf_temporal.temporal.client import query, send_event

_INTERVAL = 0.01
"""Seconds between two looks."""


class Driver:
    """Drives the run of one scenario."""

    def __init__(self, skipper: TimeSkipper, session: Session, workflow_id: str, events: Sequence[CloudEvent]) -> None:
        self.workflow_id = workflow_id
        self._skipper = skipper
        self._client: Client = skipper.client
        self._session = session
        self._events = list(events)
        self._ended: dict[str, Standing] = {}

    async def drive(self, *, cancelling: bool) -> str:
        """See the run to its end; return how it ended, or `waiting`. *cancelling* cancels it where it would wait."""
        before: Mapping[str, Standing] = {}
        while True:
            standings = await self._look()
            if not any(one.is_busy for one in standings.values()):
                if all(one.ended for one in standings.values()):
                    break
                # Seen twice the same, nothing is on its way from one instance to another.
                if standings == before and not await self._go_on(standings):
                    if not cancelling:
                        break
                    cancelling = False
                    await self._client.get_workflow_handle(self.workflow_id).cancel()
            before = standings
            await asyncio.sleep(_INTERVAL)
        return standings[self.workflow_id].ended or "waiting"

    async def end(self) -> None:
        """End whatever still runs."""
        for workflow_id, standing in (await self._look()).items():
            if not standing.ended:
                with suppress(RPCError):  # it has just ended
                    await self._client.get_workflow_handle(workflow_id).terminate("the scenario is over")

    async def _look(self) -> dict[str, Standing]:
        """Return where the main instance stands, and each that it led to."""
        found: dict[str, Standing] = {}
        todo = [self.workflow_id]
        for workflow_id in todo:
            if workflow_id in self._ended:
                found[workflow_id] = self._ended[workflow_id]
            else:
                handle = self._client.get_workflow_handle(workflow_id)
                try:
                    found[workflow_id] = await standing_of(handle, self._session.waiting)
                except RPCError:
                    continue  # it is to be started, or never was
            if found[workflow_id].ended:
                self._ended[workflow_id] = found[workflow_id]
            todo += found[workflow_id].children
        return found

    async def _go_on(self, standings: Mapping[str, Standing]) -> bool:
        """Let the next thing happen; False if there is none."""
        running = [workflow_id for workflow_id, standing in standings.items() if not standing.ended]
        return await self._deliver_next(running) or await self._jump(standings)

    async def _deliver_next(self, running: Sequence[str]) -> bool:
        if not self._events:
            return False
        awaited = {workflow_id: await self._awaited_by(workflow_id) for workflow_id in running}
        for index, event in enumerate(self._events):
            for workflow_id, definitions in awaited.items():
                if any(is_like(definition, event) for definition in definitions):
                    del self._events[index]
                    await send_event(self._client, workflow_id, event.to_json())
                    return True
        return False

    async def _awaited_by(self, workflow_id: str) -> list[Event]:
        try:
            status: Mapping[str, Any] = await query(self._client, workflow_id, "status")
        except UsageError:
            return []  # it has just ended
        return [Event(**event) for wait in status["awaiting"] for event in wait["events"]]

    async def _jump(self, standings: Mapping[str, Standing]) -> bool:
        """Let time pass for the instance that waits for the earliest moment."""
        moments = []
        for workflow_id, standing in standings.items():
            if standing.ended or standing.open_children:
                continue
            moments += [(moment, workflow_id) for moment in standing.timers.values()]
            moments += [(self._session.waiting[workflow_id, one].due, workflow_id) for one in standing.resting]
        if not moments:
            return False
        _, workflow_id = min(moments)
        once = TimeSkippingConfig(enabled=True, max_session_skip_count=1)
        await self._skipper._update_time_skipping_config(self._client.get_workflow_handle(workflow_id), once)  # noqa: SLF001 - the public method skips further
        return True
