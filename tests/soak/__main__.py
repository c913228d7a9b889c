"""Soak this release with the one before: `python -m tests.soak --instances 1000 --kills 40 --restarts 3`.

Instances of all kinds of states, in both languages, run on workers of both releases, which are killed in turn, while
the server is restarted on its database and the service that is called fails, is slow, or does what it is asked and
cuts the connection. Every instance has to come to its output, and every call to the service once by its idempotency
key, however often it is made. What came of it is printed; the exit code is 1 if anything is lost, stuck or wrong.
"""

import argparse
import asyncio
import logging
import shutil
import signal
import sys
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic

from swf_temporal.app.logs import be_quiet
from tests.soak.service import Service, service
from tests.soak.soak import Figures, Size, Soak
from tests.upgrades.releases import BEFORE, checkout


async def soak(size: Size, before: str) -> tuple[Figures, Service]:
    """Soak this release with the one of the commit *before*; with this one alone where that is empty."""
    code = checkout(before) if before else None
    if before and code is None:
        raise SystemExit(f"this checkout does not have the commit {before}")
    # Told to stop by SIGTERM, it stops as it does by Ctrl-C: with all that it started.
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    folder = Path(mkdtemp(prefix="swf-soak-"))
    try:
        async with service() as served:
            return await Soak(folder, size, code, served).run(), served
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if code is not None:
            shutil.rmtree(code, ignore_errors=True)


def main() -> None:
    """Soak, and say what came of it."""
    usual = Size()
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__.partition("\n")[0])
    parser.add_argument("--instances", type=int, default=usual.instances, help="how many are started")
    parser.add_argument("--at-once", type=int, default=usual.at_once, help="how many are under way")
    parser.add_argument("--kills", type=int, default=usual.kills, help="how many workers are killed")
    parser.add_argument("--restarts", type=int, default=usual.restarts, help="how often the server is restarted")
    parser.add_argument("--turn", type=float, default=usual.turn, help="seconds between two kills")
    parser.add_argument("--patience", type=float, default=usual.patience, help="seconds for what is left in the end")
    parser.add_argument("--before", default=BEFORE, help="the commit of the release before; empty for none")
    given = vars(parser.parse_args())
    before = given.pop("before")
    logging.disable()
    be_quiet()
    begun = monotonic()
    try:
        figures, served = asyncio.run(soak(Size(**given), before))
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.exit(130)
    _print(figures, served, monotonic() - begun)
    sys.exit(not figures.is_right or (bool(before) and not figures.both))


def _print(figures: Figures, served: Service, seconds: float) -> None:
    right, repeated = sum(figures.instances.values()), sum(served.repeated.values())
    sys.stdout.write(
        f"{right} instances ended right, and {figures.scheduled} by a schedule, in {seconds:.0f} s; "
        f"{len(figures.lost)} lost, {len(figures.stuck)} stuck, {len(figures.wrong)} wrong\n"
        f"  {dict(sorted(figures.instances.items()))}\n"
        f"{figures.executions} executions, {figures.both} instances served by both releases; "
        f"{figures.workers} workers, {figures.killed} killed; the server restarted {figures.restarts} times\n"
        f"{served.requests} requests: {served.refused} refused, {served.unheard} done and not heard, {served.late} "
        f"late; {len(served.done)} calls, {len(served.repeated)} of them made again, {repeated} times, "
        f"{len(served.wrong)} under another key\n"
    )
    for kind in ("lost", "stuck", "wrong"):
        for one in getattr(figures, kind):
            sys.stdout.write(f"  {kind}: {one}\n")


if __name__ == "__main__":
    main()
