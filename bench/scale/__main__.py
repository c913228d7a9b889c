"""`python -m bench.scale`: runs of a size at which one execution no longer holds them, against ones written by hand."""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from bench.scale.measuring import Contender, Cost, contenders, middle
from bench.scale.work import WORK, Work
from bench.scale.worker import BY_HAND, INTERPRETED, SANDBOXED

Costs = dict[str, Cost]


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--only", choices=[work.name for work in WORK], action="append", help="only this work")
    parser.add_argument("--items", type=int, help="so many items of each, for a short run")
    parser.add_argument("--sandboxed", action="store_true", help="run what is written by hand in the SDK's sandbox")
    parser.add_argument("--alone", action="store_true", help="run the interpreter only, and compare nothing")
    parser.add_argument("--json", action="store_true", help="print what was measured as JSON")
    given = parser.parse_args()
    works = [work for work in WORK if given.only is None or work.name in given.only]
    by_hand = None if given.alone else SANDBOXED if given.sandboxed else BY_HAND
    measured = asyncio.run(measure(works, given.items, by_hand))
    if given.json:
        print(
            json.dumps({name: {who: asdict(cost) for who, cost in costs.items()} for name, costs in measured.items()})
        )
        return
    print(table(works, measured, by_hand))


async def measure(works: list[Work], items: int | None, by_hand: str | None = BY_HAND) -> dict[str, Costs]:
    """Measure each of *works*, by both contenders in turn; only interpreted if *by_hand* is None.

    Each has a server of its own: one that has 5 GB of histories in memory refuses workflow tasks that begin hundreds of
    sub-workflows, whoever answers them.
    """
    measured = {}
    for work in works:
        async with contenders(by_hand) as all_:
            measured[work.name] = await _measured(work, items or work.items, all_)
    return measured


async def _measured(work: Work, items: int, all_: Sequence[Contender]) -> Costs:
    rounds = []
    for number in range(work.rounds):
        # The order changes from round to round: who comes second finds a larger database and a warmer server.
        in_order = all_ if number % 2 == 0 else all_[::-1]
        rounds.append({one.name: await one.measure(work, items, _tell) for one in in_order})
    return {one.name: middle([costs[one.name] for costs in rounds]) for one in all_}


def table(works: list[Work], measured: dict[str, Costs], by_hand: str | None = BY_HAND) -> str:
    """Return what was measured as a table."""
    other = by_hand or BY_HAND
    head = (
        f"| work | items | items/s, interpreted | {other} | ratio | CPU, interpreted : {other} | executions "
        f"| longest, events | peak, MiB | {other} | growth, MiB | {other} |"
    )
    rows = [head, "|---" * (head.count("|") - 1) + "|"]
    for work in works:
        ours, theirs = measured[work.name][INTERPRETED], measured[work.name].get(other)
        rate, ratio, cpu, peak, slope = ("-",) * 5
        if theirs is not None:
            rate, ratio, cpu = f"{theirs.rate:,.0f}", f"{ours.rate / theirs.rate:.2f}", f"{ours.cpu / theirs.cpu:.2f}"
            peak, slope = f"{theirs.peak:.0f}", f"{theirs.slope:+.0f}"
        rows.append(
            f"| {work.title} | {ours.items:,} | {ours.rate:,.0f} | {rate} | {ratio} | {cpu} | {ours.executions} "
            f"| {ours.longest:,} | {ours.peak:.0f} | {peak} | {ours.slope:+.0f} | {slope} |"
        )
    return "\n".join(rows)


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
