"""Detects endless cycles of states and workflows, and names them in messages.

Steps are counted, not timed: an instance is given up after the same number of steps on every machine.

A host may have little time for what a run does without waiting: Temporal waits some seconds for a workflow task. So a
run yields control between its steps once its work has cost much. The cost is counted, never measured: a replay yields
control at the same steps.
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
"""The number of latest steps that are searched for the states of a cycle."""
_MAX_NAMES: Final = 10
"""The maximum number of names in a message."""

_K = TypeVar("_K")


class Rounds:
    """Counts how often a state begins with the same data.

    One state is remembered with its data. If it does not recur for long, it was not part of the cycle, or had other
    data there; then the current one is remembered instead, and for longer.
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

    *met* maps each workflow and state to the step at which it ran last, in the order in which they first ran.
    """
    latest = _latest(met, steps)
    if not latest:
        return "no states"
    several = len({workflow for workflow, _ in latest}) > 1
    names = [f"{state!r} of {workflow!r}" if several else repr(state) for workflow, state in latest]
    return f"{'state' if len(names) == 1 else 'states'} {_listed(names)}"


def named_workflows(met: Mapping[str, int], steps: int, alone: str, together: str) -> str:
    """Return the names of the workflows that ran lately, followed by *alone* if it is one, else by *together*."""
    names = [repr(name) for name in _latest(met, steps)]
    return f"{_listed(names)} {together}" if len(names) > 1 else f"{names[0]} {alone}"


def too_deep(ancestors: Mapping[str, int], depth: int, most: int) -> str:
    """Return the message for more than *most* sub-workflows that would wait for one another.

    *ancestors* maps each of the waiting workflows to its greatest depth, the outermost first.
    """
    cycle = named_workflows(ancestors, depth, "runs itself", "run each other")
    return f"too many sub-workflows wait for one another: {cycle}, and no more than {most:,} levels are run"


def too_many_descendants(ancestors: Mapping[str, int], depth: int, most: int, *, is_cycle: bool) -> str:
    """Return the message for more than *most* sub-workflows of one instance that would be in progress.

    *ancestors* are as for `too_deep`.
    """
    alone, together = ("runs itself", "run each other") if is_cycle else ("runs them", "run them")
    who = named_workflows(ancestors, depth, alone, together)
    return f"too many sub-workflows of one instance would be in progress: {who}, and no more than {most:,} are run"


def too_many_executions(met: Mapping[str, int], executions: int) -> str:
    """Return the names of the workflows among the latest *executions*, each continued as the next."""
    return named_workflows(met, executions, "continues as itself", "continue as each other")


def _latest(met: Mapping[_K, int], steps: int) -> list[_K]:
    return [one for one, step in met.items() if step > steps - LATEST]


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MAX_NAMES:
        names = [*names[:_MAX_NAMES], f"{len(names) - _MAX_NAMES} more"]
    return listed(names)


MAX_COST: Final = 4000
"""The cost of work after which the host gets control, in entered states: less than half a second."""


class Pacing:
    """Decides when a run yields control to its host."""

    def __init__(self, host: Host) -> None:
        self.account = Account()
        """The work that the run has done."""
        self._host = host
        self._cost_before = 0
        self._charged_at: datetime | None = None
        self._giving_way: list[asyncio.Future[None]] | None = None
        """The paths that wait until the host has had control, if it has it now."""

    @property
    def cost(self) -> int:
        """The work of this activation: since the host's time has moved on, or the host had control."""
        return self.account.cost - self._cost_before

    def charge(self, cost: int = 1) -> None:
        """Count work of this activation. An expression costs one, in addition to its evaluation, and so does a state.

        `give_way` bounds the sum.
        """
        now = self._host.now()
        if now is not self._charged_at and now != self._charged_at:
            self._charged_at = now
            self.begin_activation()
        self.account.cost += cost

    async def give_way(self, cost: int = 0) -> None:
        """Count a step that need not wait for anything; yield control to the host if much was done since it had it.

        Parallel paths yield together and resume in their order. However many start at once, they do nothing more
        meanwhile, so that their calls are started in one activation. Otherwise the first calls end while others are
        still being started, and if Temporal then has too many results to deliver, it fails the workflow task and
        replays the history.
        """
        self.charge(cost)
        while self._giving_way is not None or self.cost >= MAX_COST:
            await self._yield_control()

    def begin_activation(self) -> None:
        """Start counting from zero: the host has had its time."""
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
