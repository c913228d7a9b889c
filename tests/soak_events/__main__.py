"""Soak events: `python -m tests.soak_events --events 10000 --keys 1000 --kills 12 --restarts 1`.

What came of it is printed; the exit code is 1 if an event was lost, or taken twice.
"""

import argparse
import asyncio
import logging
import shutil
import sys
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic

from swf_temporal.sdk.logs import be_quiet
from tests.soak_events.soak import Figures, Size, Soak


def main() -> None:
    usual = Size()
    parser = argparse.ArgumentParser(prog="python -m tests.soak_events", description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=usual.events, help="how many are sent")
    parser.add_argument("--keys", type=int, default=usual.keys, help="to how many instances")
    parser.add_argument("--producers", type=int, default=usual.producers, help="how many send at once")
    parser.add_argument("--kills", type=int, default=usual.kills, help="how many processes are killed")
    parser.add_argument("--restarts", type=int, default=usual.restarts, help="1 restarts the server, 0 does not")
    parser.add_argument("--turn", type=float, default=usual.turn, help="seconds between two kills")
    parser.add_argument("--patience", type=float, default=usual.patience, help="seconds for what is left in the end")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    given = vars(parser.parse_args())
    keep = given.pop("keep")
    logging.disable()
    be_quiet()
    folder, began = Path(mkdtemp(prefix="swf-soak-events-")), monotonic()
    try:
        figures = asyncio.run(Soak(folder, Size(**given)).run())
    finally:
        if keep:
            sys.stderr.write(f"{folder}\n")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    _print(figures, monotonic() - began)
    sys.exit(not figures.is_right)


def _print(figures: Figures, seconds: float) -> None:
    sent = ", ".join(f"{count} events {way}" for way, count in sorted(figures.sent.items()))
    killed = ", ".join(f"{name} {count}" for name, count in sorted(figures.killed.items()))
    sys.stdout.write(
        f"{sent}, in {seconds:.0f} s; {figures.repeated} times an event was sent again\n"
        f"{figures.right} instances took each of their events once; {len(figures.lost)} lost, {len(figures.double)} "
        f"double, {len(figures.others)} instances too many\n"
        f"killed: {killed}; the server restarted {figures.restarts} times\n"
    )
    for kind in ("lost", "double", "others"):
        for one in getattr(figures, kind)[:20]:
            sys.stdout.write(f"  {kind}: {one}\n")


if __name__ == "__main__":
    main()
