"""What does interpreting cost, compared with the same work written by hand?

All contenders run against one server, in turn and in one run, so that what the machine does meanwhile hurts them
alike. Their ratios are taken within each round; the median of those is what counts.
"""

import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench.contender import Contender, Cost, contender, service
from bench.work import Work
from bench.worker import CONTENDERS, INTERPRETED
from swf_temporal.temporal.server import local_server


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the contenders took for one piece of work, round by round."""

    work: Work
    rounds: list[dict[str, Cost]]

    def ratios(self, measure: str, rival: str) -> list[float]:
        """Return, for each round, what interpreting took in units of what *rival* took, in ascending order."""
        return sorted(getattr(one[INTERPRETED], measure) / getattr(one[rival], measure) for one in self.rounds)

    def typical(self, measure: str, name: str) -> float:
        """Return the median of what contender *name* took, in milliseconds."""
        return 1000 * float(median(getattr(one[name], measure) for one in self.rounds))

    def to_json(self) -> dict[str, Any]:
        """Return all that was measured, in seconds."""
        return {
            "work": self.work.name,
            "batch": self.work.batch,
            "rounds": [
                {name: {"wall": cost.wall, "cpu": cost.cpu} for name, cost in one.items()} for one in self.rounds
            ],
        }


async def compare(works: Sequence[Work], rounds: int, seconds: float) -> list[Comparison]:
    """Measure all *works*, each in so many rounds of all contenders, or fewer where its share of *seconds* is over.

    Each is measured once at least; time that one leaves is shared by those after it. Progress goes to standard error.
    """
    ends_at = time.perf_counter() + seconds
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(local_server(as_installed=True))
        url = await stack.enter_async_context(service())
        contenders = [await stack.enter_async_context(contender(name, server.client, url)) for name in CONTENDERS]
        comparisons = []
        for number, work in enumerate(works):
            share = (ends_at - time.perf_counter()) / (len(works) - number)
            comparisons.append(await _compared(work, contenders, rounds, share))
        return comparisons


async def _compared(work: Work, contenders: Sequence[Contender], rounds: int, seconds: float) -> Comparison:
    begun = time.perf_counter()
    outputs = [await one.run(work) for one in contenders]
    assert all(output == outputs[0] for output in outputs), f"the contenders disagree about {work.title}"
    if seconds > 0:  # all are warm by what came before, where no time is left
        for one in contenders:
            await one.measure(work)
    measured: list[dict[str, Cost]] = []
    while not measured or (len(measured) < rounds and time.perf_counter() - begun < seconds):
        measured.append(await _round(work, contenders, len(measured)))
        told = f"{work.title}: round {len(measured)} of {rounds}, {time.perf_counter() - begun:.0f} s"
        print(told, file=sys.stderr, flush=True)
    return Comparison(work, measured)


async def _round(work: Work, contenders: Sequence[Contender], number: int) -> dict[str, Cost]:
    """Measure every contender once; who begins changes from round to round."""
    first = number % len(contenders)
    order = [*contenders[first:], *contenders[:first]]
    return {one.name: await one.measure(work) for one in order}
