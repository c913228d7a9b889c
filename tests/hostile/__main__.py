"""Gives hostile definitions to a worker on a real server: `python -m tests.hostile [FAMILY …]`.

Beside them a small workflow is started every 100 ms on the same worker, first alone and then with them. It prints
what became of each, how often the worker died, which runs neither ended nor came further within 30 seconds, and how
long the small workflow took. It ends with 1 where a worker died, a run stood still, or the SDK took a workflow task
for deadlocked. `--slowed 4` is a machine of a quarter of the speed.
"""

import argparse
import asyncio
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence

from swf_temporal.temporal.server import local_server
from tests.hostile.cases import cases
from tests.hostile.running import PATIENCE, Outcome, Probe, hostile_worker, run_all

_IDLE_SECONDS = 5
_SLOWEST = 5
"""How many of the slowest probes are told with what ran beside them."""


def _told(probes: Sequence[Probe]) -> str:
    latencies = [one.seconds for one in probes]
    if not latencies:
        return "none ended"
    p95 = statistics.quantiles(latencies, n=20)[-1] if len(latencies) > 1 else latencies[0]
    p50 = statistics.median(latencies)
    return f"p50 {p50:.3f} s, p95 {p95:.3f} s, longest {max(latencies):.3f} s, {len(latencies)} runs"


async def _main(words: Sequence[str], at_once: int, slowed: int, *, sampled: bool) -> int:
    chosen = [case for case in cases() if not words or any(word in case.id for word in words)]
    chosen = [case for case in chosen if case.sampled or not sampled]
    begun = time.monotonic()
    async with local_server() as server, hostile_worker(server.client, slowed) as hostile:
        idle: list[Probe] = []
        async with hostile.probed(idle):
            await asyncio.sleep(_IDLE_SECONDS)
        busy: list[Probe] = []
        async with hostile.probed(busy):
            outcomes = await run_all(hostile, chosen, at_once, _tell, PATIENCE * slowed)
        took = time.monotonic() - begun
        print(f"\n{len(outcomes)} cases in {took:.0f} s: {dict(Counter(one.how for one in outcomes))}")
        print(f"most memory of the worker: {hostile.peak:,} MiB")
        print(f"the worker died {len(hostile.deaths)} times", *hostile.deaths, sep="\n  ")
        deadlocks = hostile.deadlocks
        print(f"{deadlocks} workflow tasks were taken for deadlocked")
        stuck = [one for one in outcomes if one.how == "stuck"]
        print(f"{len(stuck)} runs stood still", *(one.case.id for one in stuck), sep="\n  ")
        internal = [one for one in outcomes if one.told.startswith("InternalError")]
        print(f"{len(internal)} internal errors", *(f"{one.case.id}: {one.told}" for one in internal), sep="\n  ")
        print("probe alone:", _told(idle))
        print("probe with them:", _told(busy))
        slowest = sorted(busy, key=lambda probe: probe.seconds)[-_SLOWEST:]
        print("the slowest:", *(_beside(one, outcomes) for one in reversed(slowest)), sep="\n  ")
    return 1 if hostile.deaths or stuck or deadlocks else 0


def _beside(probe: Probe, outcomes: Sequence[Outcome]) -> str:
    last = probe.begun + probe.seconds
    cases_ = [one.case.id for one in outcomes if one.begun < last and one.begun + one.seconds > probe.begun]
    return f"{probe.seconds:.3f} s beside {', '.join(cases_)}"


def _tell(outcome: Outcome) -> None:
    print(f"{outcome.seconds:6.2f} s  {outcome.how:10} {outcome.case.id:40} {outcome.told}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", help="take the cases with one of these in their name")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--slowed", type=int, default=1, help="let the worker run for one part of so many of the time")
    parser.add_argument("--sampled", action="store_true", help="take what stopped a worker or a run once")
    given = parser.parse_args()
    code = asyncio.run(_main(given.words, given.at_once, given.slowed, sampled=given.sampled))
    sys.stdout.flush()
    os._exit(code)
