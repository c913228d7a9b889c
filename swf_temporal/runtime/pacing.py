"""How much a run does before its host is given control.

A host may have little time for what a run does without waiting: an engine waits some seconds for a workflow task. So a
run gives way between its steps: where its host says that this took long, and after a number of states in a row, of
which each costs something.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Final

from swf_temporal.data import JSON
from swf_temporal.runtime.host import Host
from swf_temporal.runtime.performing import size_of
from swf_temporal.runtime.semantics import begins_paths_at_once, is_compact
from swf_temporal.weighing import is_at_most, json_size

MAX_COST: Final = 4000
"""How much is done before the host is given control. An expression that jq evaluates takes a tenth of a millisecond."""
MAX_STEPS_WITHOUT_WAIT: Final = 200
"""After how many states or tasks in a row the host is given control, in runs of the readings before the fifth."""
_LEAST_COST, _COST_BYTES = 400, 4_000_000
"""In runs of the readings before the eighth, less is done the more bytes of data each expression may read."""
_CALL_COST = 10
"""How much it is to make a call, or to begin a sub-workflow, in such runs."""


class Pacing:
    """When a run gives control to its host."""

    def __init__(self, host: Host, semantics: int, data: Callable[[], JSON]) -> None:
        """Make the pacing of a run of that reading on *host*; *data* returns what its expressions may read."""
        self._host = host
        self._data = data
        self._is_compact = is_compact(semantics)
        self._begins_paths_at_once = begins_paths_at_once(semantics)
        self.cost = 0
        """How much was done in this activation: what the host's time has not moved on since."""
        self._charged_at: datetime | None = None
        self._most_cost: int | None = None
        self._giving_way: list[asyncio.Future[None]] | None = None
        """Who waits until the host has had control, if it is being given to it."""
        self._steps = 0

    def charge(self, cost: int = 1) -> None:
        """Count work of this activation: what is done without the host's time moving on.

        An expression costs one, and so does a state. `give_way` bounds the sum.
        """
        now = self._host.now()
        if now is not self._charged_at and now != self._charged_at:
            self.cost, self._charged_at = 0, now
        self.cost += cost

    def charge_call(self) -> None:
        """Count a call where calls are counted."""
        if not self._begins_paths_at_once:
            self.charge(_CALL_COST)

    def has_waited(self) -> None:
        """Count anew: the run waits for its host."""
        self._steps = 0

    async def give_way(self) -> None:
        """Count a step that need not wait for anything; give control to the host if much was done since it had it."""
        if self._is_due():
            await self._yield_control()
        elif self._steps >= MAX_STEPS_WITHOUT_WAIT:
            self._steps = 0
            await self._host.yield_control()
        else:
            while self._giving_way is not None or self._host.has_worked_long():  # as in `yield_if_long`
                await self._yield_control()

    async def give_way_between_paths(self) -> None:
        """Give control to the host before a path that is begun beside others, if it says that this took long.

        However many there are, their calls are begun in one activation where there is time for that. Otherwise those
        that were begun first are done while the others are still being begun, and an engine that has too many results
        to hand over by then has the workflow task made again, from the history.
        """
        if self._begins_paths_at_once:
            await self.yield_if_long()
        else:
            await self.give_way()

    async def yield_if_long(self) -> None:
        """Give control to the host if it says that this took long: between steps of which one may be slow.

        What was done tells how long it takes only where it is usual. Paths side by side give way together, and go on in
        their order.
        """
        while self._giving_way is not None or self._host.has_worked_long():
            await self._yield_control()

    def _is_due(self) -> bool:
        """Count a step; tell whether so much was done that the host is to have control, however long that took."""
        if not self._is_compact:
            self._steps += 1
            return False
        self.charge()
        if self._most_cost is None:
            self._most_cost = MAX_COST if self._begins_paths_at_once else most_cost(self._data())
        return self.cost >= self._most_cost

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
            self.cost, self._most_cost, self._giving_way = 0, None, None
            for waiting in others:
                if not waiting.done():
                    waiting.set_result(None)


def most_cost(data: JSON) -> int:
    """Return how much is done in an activation whose expressions may read *data*, before the eighth reading."""
    if is_at_most(_COST_BYTES // MAX_COST, data):  # nearly always, and much cheaper than to write it
        return MAX_COST
    large = _COST_BYTES // _LEAST_COST
    if json_size(data, large) >= large:
        return _LEAST_COST
    return max(_LEAST_COST, min(MAX_COST, _COST_BYTES // size_of(data)))
