"""Workers of two releases serve one task queue: `python -m tests.soak --seconds 120 --before 8e04ccd`.

Workers are killed and started in turn, now one of the release before and now one of this, while instances that store
everything there is to store are started, half of them as the release before does. Every instance has to come to its
output. The figures at the end say how many were served by both.
"""

import argparse
import asyncio
import logging
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from time import monotonic

from temporalio.client import Client

from swf_temporal.runtime.semantics import SEMANTICS
from swf_temporal.temporal.client import Handle, RunEnded, result
from swf_temporal.temporal.server import local_server
from tests.upgrades.cases import CASES, Case
from tests.upgrades.chains import executions
from tests.upgrades.record import SUSPEND_AFTER
from tests.upgrades.releases import BEFORE, ROOT, checkout, start_worker

QUEUE = "soak"
AT_ONCE = 12
"""How many instances are under way."""
TURN = 4.0
"""Seconds between two workers."""
PATIENCE = 120.0
"""Seconds that an instance may take once nothing is killed any more."""


@dataclass
class Figures:
    """What came of it."""

    instances: Counter[str] = field(default_factory=Counter)
    """How many ended, by what they came to."""
    executions: int = 0
    workers: int = 0
    killed: int = 0
    both: int = 0
    """How many instances had workflow tasks carried out by both releases."""
    wrong: list[str] = field(default_factory=list)


class Soak:
    """One soak."""

    def __init__(self, client: Client, before: Path, address: str) -> None:
        self.client = client
        self.address = address
        self.releases = cycle([("before", before), ("this", ROOT)])
        self.release_of: dict[int, str] = {}
        self.workers: list[subprocess.Popen[bytes]] = []
        self.figures = Figures()
        self.numbers = count(1)

    async def run(self, seconds: float) -> Figures:
        """Soak for so many seconds, then let all that was begun come to its end."""
        end = monotonic() + seconds
        self._start()
        self._start()
        turning = asyncio.create_task(self._turn(end))
        await asyncio.gather(*(self._instances(end, offset) for offset in range(AT_ONCE)))
        await turning
        for worker in self.workers:
            worker.kill()
            worker.communicate()
        return self.figures

    async def _turn(self, end: float) -> None:
        """Kill the older of two workers and start one of the other release, again and again."""
        while monotonic() < end:
            await asyncio.sleep(TURN)
            self._start()
            oldest = self.workers.pop(0)
            oldest.kill()
            await asyncio.to_thread(oldest.communicate)
            self.figures.killed += 1

    def _start(self) -> None:
        name, code = next(self.releases)
        worker = start_worker(code, self.address, QUEUE)
        self.release_of[worker.pid] = name
        self.workers.append(worker)
        self.figures.workers += 1

    async def _instances(self, end: float, offset: int) -> None:
        while monotonic() < end:
            number = next(self.numbers)
            case = CASES[(number + offset) % len(CASES)]
            await self._instance(case, number, end)

    async def _instance(self, case: Case, number: int, end: float) -> None:
        semantics = SEMANTICS if number % 2 else SEMANTICS - 1
        handle = await case.start(
            self.client, f"{case.id}-{number}", QUEUE, semantics=semantics, suspend_after=SUSPEND_AFTER
        )
        try:
            output = await asyncio.wait_for(result(handle), max(end - monotonic(), 0) + PATIENCE)
        except (RunEnded, TimeoutError) as failed:
            self.figures.wrong.append(f"{handle.id}: {failed!r}")
            return
        if output != case.output:
            self.figures.wrong.append(f"{handle.id}: {output!r}, not {case.output!r}")
            return
        self.figures.instances[case.id] += 1
        await self._note_releases(handle)

    async def _note_releases(self, handle: Handle) -> None:
        served = set()
        async for execution in executions(self.client, handle.id, handle.first_execution_run_id):
            self.figures.executions += 1
            served |= {self.release_of.get(int(identity.partition("@")[0]), "?") for identity in execution.identities}
        self.figures.both += {"before", "this"} <= served


async def soak(seconds: float, before: str) -> Figures:
    """Soak this release with the one of the commit *before*."""
    code = checkout(before)
    if code is None:
        raise SystemExit(f"this checkout does not have the commit {before}")
    extra = ("--dynamic-config-value", 'history.workflowIdReuseMinimalInterval="0s"')
    async with local_server(extra=extra) as server:
        address = server.client.service_client.config.target_host
        return await Soak(server.client, code, address).run(seconds)


def main() -> None:
    """Soak, and say what came of it."""
    parser = argparse.ArgumentParser(description="Let workers of two releases serve one task queue.")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long instances are started")
    parser.add_argument("--before", default=BEFORE, help="the commit of the release before")
    given = parser.parse_args()
    logging.disable()
    figures = asyncio.run(soak(given.seconds, given.before))
    right = sum(figures.instances.values())
    sys.stdout.write(
        f"{right} instances ended right, {len(figures.wrong)} did not: {dict(sorted(figures.instances.items()))}\n"
        f"{figures.executions} executions, {figures.workers} workers, {figures.killed} of them killed; "
        f"{figures.both} instances were served by both releases\n"
    )
    for wrong in figures.wrong:
        sys.stdout.write(f"  {wrong}\n")
    sys.exit(bool(figures.wrong) or not figures.both)


if __name__ == "__main__":
    main()
