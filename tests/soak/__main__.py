"""Soak this release with the one before: `python -m tests.soak --instances 1000 --kills 40 --before v0.1.0`.

Instances of all kinds of states and tasks, in all languages, run on workers of both releases, which are killed in
turn, while the server is restarted on its database and the service that is called fails, is slow, or does what it is
asked and cuts the connection. With `--harms` a proxy delays, stalls, cuts, halves and slows connections, too. Every
instance has to come to its output, and every call to the service once by its idempotency key, however often it is
made. What came of it is printed; the exit code is 1 if anything is lost, stuck or wrong.
"""

import asyncio
import os
import shutil
import signal
import sys
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import Any

from tests.soak.service import Service, service
from tests.soak.soak import Figures, Size, Soak
from tests.soaking import parser_of, soaked
from tests.upgrades.releases import checkout

_PATIENCE = 20.0
"""The time in seconds after which a soak that was told to stop is ended."""
_STOPPED = 130
"""The exit code of one that was told to stop."""


async def soak(folder: Path, size: Size, before: str) -> tuple[Figures, Service]:
    code = checkout(before) if before else None
    if before and code is None:
        raise SystemExit(f"this checkout does not have the commit {before}")
    task = asyncio.current_task()
    assert task is not None
    for told in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(told, _stop, task)
    try:
        async with service() as served:
            return await Soak(folder, size, code, served).run(), served
    finally:
        if code is not None:
            shutil.rmtree(code, ignore_errors=True)


def _stop(task: "asyncio.Task[Any]") -> None:
    """End the soak with all that it started; if a library swallows that, end the process, with which they end, too."""
    task.cancel()
    last_resort = Timer(_PATIENCE, os._exit, [_STOPPED])
    last_resort.daemon = True
    last_resort.start()


def main() -> None:
    parser = parser_of(
        "soak", __doc__, Size(), instances="how many are started", at_once="how many are under way",
        kills="how many workers are killed", restarts="how often the server is restarted",
        turn="seconds between two kills", patience="seconds for what is left in the end",
        workers="how many workers there are", harms="how often the network is harmed",
        local_calls="calls are local that can be",
    )  # fmt: skip
    parser.add_argument("--before", default="", help="the commit, or the tag, of the release before")
    given = vars(parser.parse_args())
    before = given.pop("before")
    begun = monotonic()
    try:
        figures, served = soaked("soak", lambda folder: soak(folder, Size(**given), before))
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.exit(_STOPPED)
    _print(figures, served, monotonic() - begun)
    sys.exit(not figures.is_right or (bool(before) and not figures.both))


def _print(figures: Figures, served: Service, seconds: float) -> None:
    right, repeated = sum(figures.instances.values()), sum(served.repeated.values())
    sys.stdout.write(
        f"{right} instances ended right, and {figures.scheduled} by a schedule, in {seconds:.0f} s; "
        f"{len(figures.lost)} lost, {len(figures.stuck)} stuck, {len(figures.wrong)} wrong\n"
        f"  {dict(sorted(figures.instances.items()))}\n"
        f"{figures.executions} executions, {figures.both} instances served by both releases; "
        f"{figures.workers} workers, {figures.killed} killed; the server restarted {figures.restarts} times, "
        f"the network harmed {figures.harms} times\n"
        f"{served.requests} requests: {served.refused} refused, {served.unheard} done and not heard, {served.late} "
        f"late; {len(served.done)} calls, {len(served.repeated)} of them made again, {repeated} times, "
        f"{len(served.wrong)} under another key\n"
    )
    for kind in ("lost", "stuck", "wrong"):
        for one in getattr(figures, kind):
            sys.stdout.write(f"  {kind}: {one}\n")


if __name__ == "__main__":
    main()
