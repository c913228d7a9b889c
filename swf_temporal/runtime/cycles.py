"""Detects endless cycles of states and workflows, and names them in messages.

Counted, not timed: an instance is given up after the same number of steps on every machine.

A host may have little time for what a run does without waiting: an engine waits some seconds for a workflow task. So a
run gives way between its steps once what it did has cost much. The cost is counted of what was done, never measured: a
replay gives way at the same steps.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, TypeVar

from swf_temporal.base.accounting import MAX_WRITTEN, Account, json_size
from swf_temporal.base.data import JSON
from swf_temporal.base.grammar import listed
from swf_temporal.runtime.host import Host

LATEST: Final = 1_000
"""The number of latest steps among which all states of a cycle are looked for."""
_MAX_NAMES: Final = 10
"""The maximum number of names in a message."""

_K = TypeVar("_K")


class Rounds:
    """Counts how often a state begins with the same data.

    One state is remembered with its data. If it does not come again for long, it was not part of the cycle, or had
    other data there; then the present one is remembered instead, and for longer.
    """

    def __init__(self) -> None:
        self._state: str | None = None
        self._data: JSON = None
        self._times = 0
        self._since = 0
        self._patience = 1

    def count(self, state: str, data: JSON) -> int:
        """Return how often *state* began with *data*, as far as these are the ones remembered."""
        self._since += 1
        if state == self._state and (data is self._data or (json_size(data) <= MAX_WRITTEN and data == self._data)):
            self._times, self._since = self._times + 1, 0
            return self._times
        if self._since >= self._patience:
            self._state, self._data, self._times, self._since = state, data, 1, 0
            self._patience = min(2 * self._patience, LATEST)
        return 0


def named_states(met: Mapping[tuple[str, str], int], steps: int) -> str:
    """Return the names of the states that ran lately, for messages.

    *met* has the step at which each was met last, by its workflow and its name, the first to be met first.
    """
    latest = _latest(met, steps)
    several = len({workflow for workflow, _ in latest}) > 1
    names = [f"{state!r} of {workflow!r}" if several else repr(state) for workflow, state in latest]
    return f"{'state' if len(names) == 1 else 'states'} {_listed(names)}"


def named_workflows(met: Mapping[str, int], steps: int, alone: str, together: str) -> str:
    """Return the names of the workflows that were met lately, with what one does, or several: `alone` or `together`."""
    names = [repr(name) for name in _latest(met, steps)]
    return f"{_listed(names)} {together}" if len(names) > 1 else f"{names[0]} {alone}"


def too_deep(ancestors: Mapping[str, int], depth: int, most: int) -> str:
    """Return the message for more than *most* sub-workflows that would wait for one another.

    *ancestors* has the greatest depth of each workflow among those that wait, the outermost first.
    """
    cycle = named_workflows(ancestors, depth, "runs itself", "run each other")
    return f"too many sub-workflows wait for one another: {cycle}, and no more than {most:,} levels are run"


def too_many_descendants(ancestors: Mapping[str, int], depth: int, most: int, *, is_cycle: bool) -> str:
    """Return the message for more than *most* sub-workflows that would be in progress beneath one instance.

    *ancestors* are as for `too_deep`.
    """
    alone, together = ("runs itself", "run each other") if is_cycle else ("runs them", "run them")
    who = named_workflows(ancestors, depth, alone, together)
    return f"too many sub-workflows would be in progress beneath one instance: {who}, and no more than {most:,} are run"


def too_many_executions(met: Mapping[str, int], executions: int) -> str:
    """Return which workflows were met lately among *executions*, each continued as the next, and what they do."""
    return named_workflows(met, executions, "continues as itself", "continue as each other")


def _latest(met: Mapping[_K, int], steps: int) -> list[_K]:
    return [one for one, step in met.items() if step > steps - LATEST]


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MAX_NAMES:
        names = [*names[:_MAX_NAMES], f"{len(names) - _MAX_NAMES} more"]
    return listed(names)


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
