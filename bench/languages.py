"""`python -m bench.languages`: the same work in DSL 1.0 and in 0.8, by one worker, in turn."""

import argparse
import asyncio
import sys
import time
from contextlib import AsyncExitStack
from statistics import median

from bench.contender import Contender, Cost, contender, service
from bench.work import WORK, Work
from bench.worker import INTERPRETED
from swf_temporal.temporal.server import local_server

PAIRS = [(one, next(other for other in WORK if other.name == one.by_hand)) for one in WORK if one.dsl]
"""Work in DSL 1.0, with the same work in 0.8."""


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.languages", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="how often everything is measured at most (default: 15)")
    parser.add_argument("--minutes", type=float, default=8, help="after which fewer rounds are measured (default: 8)")
    parser.add_argument("--only", choices=[one.name for one, _ in PAIRS], action="append", help="only this work")
    given = parser.parse_args()
    pairs = [pair for pair in PAIRS if given.only is None or pair[0].name in given.only]
    print("| DSL 1.0 : 0.8 | worker CPU | wall | rounds |", "|---|---|---|---|", sep="\n")
    print(*asyncio.run(measured(pairs, given.rounds, 60 * given.minutes)), sep="\n")


async def measured(pairs: list[tuple[Work, Work]], rounds: int, seconds: float) -> list[str]:
    """Return a line of the table for each of *pairs*, measured in so many rounds at most, in *seconds* together."""
    lines: list[str] = []
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(local_server(as_installed=True))
        url = await stack.enter_async_context(service())
        worker = await stack.enter_async_context(contender(INTERPRETED, server.client, url))
        for one, other in pairs:
            costs = await _rounds(worker, one, other, rounds, time.perf_counter() + seconds / len(pairs))
            figures = [_told([getattr(a, name) / getattr(b, name) for a, b in costs]) for name in ("cpu", "wall")]
            lines.append(f"| {other.title} | {' | '.join(figures)} | {len(costs)} |")
            print(f"{other.title}: {len(costs)} rounds", file=sys.stderr, flush=True)
    return lines


async def _rounds(worker: Contender, one: Work, other: Work, rounds: int, until: float) -> list[tuple[Cost, Cost]]:
    """Measure *one* and *other* in turn; which of them begins changes from round to round."""
    assert await worker.run(one) == await worker.run(other), f"the languages disagree about {one.title}"
    for work in (one, other):
        await worker.measure(work)  # so that both are warm
    measured: list[tuple[Cost, Cost]] = []
    while not measured or (len(measured) < rounds and time.perf_counter() < until):
        order = (one, other) if len(measured) % 2 else (other, one)
        costs = {work.name: await worker.measure(work) for work in order}
        measured.append((costs[one.name], costs[other.name]))
    return measured


def _told(ratios: list[float]) -> str:
    return f"{median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"


if __name__ == "__main__":
    main()
