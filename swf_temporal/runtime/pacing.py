"""How much a run does before its host is given control.

A host may have little time for what a run does without waiting: an engine waits some seconds for a workflow task. So a
run gives way between its steps: where its host says that this took long, and after a number of states in a row, of
which each costs something.
"""

import asyncio
from datetime import datetime
from typing import Final

from swf_temporal.runtime.host import Host

MAX_COST: Final = 4000
"""How much is done before the host is given control. An expression that jq evaluates takes a tenth of a millisecond."""


class Pacing:
    """When a run gives control to its host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.cost = 0
        """How much was done in this activation: what the host's time has not moved on since."""
        self._charged_at: datetime | None = None
        self._giving_way: list[asyncio.Future[None]] | None = None
        """Who waits until the host has had control, if it is being given to it."""

    def charge(self, cost: int = 1) -> None:
        """Count work of this activation: what is done without the host's time moving on.

        An expression costs one, and so does a state. `give_way` bounds the sum.
        """
        now = self._host.now()
        if now is not self._charged_at and now != self._charged_at:
            self.cost, self._charged_at = 0, now
        self.cost += cost

    async def give_way(self) -> None:
        """Count a step that need not wait for anything; give control to the host if much was done since it had it."""
        self.charge()
        if self.cost >= MAX_COST:
            await self._yield_control()
        else:
            await self.yield_if_long()

    async def yield_if_long(self) -> None:
        """Give control to the host if it says that this took long: between steps of which one may be slow.

        What was done tells how long it takes only where it is usual. Paths side by side give way together, and go on in
        their order. However many are begun at once, they do nothing more: their calls are to be begun in one activation
        where there is time for that. Otherwise those that were begun first are done while the others are still being
        begun, and an engine that has too many results to hand over by then has the workflow task made again, from the
        history.
        """
        while self._giving_way is not None or self._host.has_worked_long():
            await self._yield_control()

    async def _yield_control(self) -> None:
        if self._giving_way is not None:
            # A future for each: a task that is cancelled cancels the future that it waits for.
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._giving_way.append(waiting)
            await waiting
            return
        others = self._giving_way = []
        try:
            await self._host.yield_control()
        finally:
            self.cost, self._giving_way = 0, None
            for waiting in others:
                if not waiting.done():
                    waiting.set_result(None)
