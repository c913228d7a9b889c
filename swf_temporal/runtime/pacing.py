"""How much a run does before its host is given control.

A host may have little time for what a run does without waiting: an engine waits some seconds for a workflow task. So a
run gives way between its steps once what it did has cost much. The cost is counted of what was done, never measured: a
replay gives way at the same steps.
"""

import asyncio
from datetime import datetime
from typing import Final

from swf_temporal.base.accounting import Account
from swf_temporal.runtime.host import Host

MAX_COST: Final = 4000
"""What is done before the host is given control, in states that could have been entered: less than half a second."""


class Pacing:
    """When a run gives control to its host."""

    def __init__(self, host: Host) -> None:
        self.account = Account()
        """What the run has done."""
        self._host = host
        self._cost_before = 0
        self._charged_at: datetime | None = None
        self._giving_way: list[asyncio.Future[None]] | None = None
        """Who waits until the host has had control, if it is being given to it."""

    @property
    def cost(self) -> int:
        """What was done in this activation: since the host's time has moved on, or the host had control."""
        return self.account.cost - self._cost_before

    def charge(self, cost: int = 1) -> None:
        """Count work of this activation. An expression costs one, beside what its evaluation does, and so does a state.

        `give_way` bounds the sum.
        """
        now = self._host.now()
        if now is not self._charged_at and now != self._charged_at:
            self._charged_at = now
            self.begin_activation()
        self.account.cost += cost

    async def give_way(self, cost: int = 0) -> None:
        """Count a step that need not wait for anything; give control to the host if much was done since it had it.

        Paths side by side give way together, and go on in their order. However many are begun at once, they do nothing
        more: their calls are to be begun in one activation. Otherwise those that were begun first are done while the
        others are still being begun, and an engine that has too many results to hand over by then has the workflow task
        made again, from the history.
        """
        self.charge(cost)
        while self._giving_way is not None or self.cost >= MAX_COST:
            await self._yield_control()

    def begin_activation(self) -> None:
        """Count anew: the run goes on after what took the host's time."""
        self._cost_before = self.account.cost

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
            self._giving_way = None
            self.begin_activation()
            for waiting in others:
                if not waiting.done():
                    waiting.set_result(None)
