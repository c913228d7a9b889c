"""Soak brokers: `python -m tests.soak_brokers --keys 25 --events 10 --faults 16`.

What came of it is printed, a line for each broker; the exit code is 1 if an event was lost, or taken twice.
"""

import argparse
import asyncio
import logging
import shutil
import sys
from pathlib import Path
from tempfile import mkdtemp

from swf_temporal.sdk.logs import be_quiet
from tests.soak_brokers.brokers import FAMILIES
from tests.soak_brokers.soak import Figures, Size, Soak


def main() -> None:
    usual = Size()
    parser = argparse.ArgumentParser(prog="python -m tests.soak_brokers", description=__doc__.partition("\n")[0])
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=usual.families, help="which brokers")
    parser.add_argument("--keys", type=int, default=usual.keys, help="how many instances each broker has")
    parser.add_argument("--events", type=int, default=usual.events, help="how many events each instance gets")
    parser.add_argument("--faults", type=int, default=usual.faults, help="how often a broker is restarted or stalled")
    parser.add_argument("--turn", type=float, default=usual.turn, help="seconds between two faults")
    parser.add_argument("--patience", type=float, default=usual.patience, help="seconds for what is left in the end")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    given = vars(parser.parse_args())
    keep, families = given.pop("keep"), tuple(given.pop("families"))
    logging.disable()
    be_quiet()
    folder, size = Path(mkdtemp(prefix="swf-soak-brokers-")), Size(families, **given)
    try:
        found = asyncio.run(Soak(folder, size).run())
    finally:
        if keep:
            sys.stderr.write(f"{folder}\n")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    for family, figures in found.items():
        _print(family, figures)
    sys.exit(not all(figures.is_right(size) for figures in found.values()))


def _print(family: str, figures: Figures) -> None:
    faults = " and ".join(f"{how} {count} times" for how, count in sorted(figures.faults.items())) or "not disturbed"
    again = sum(figures.told.values()) - len(figures.told)
    sys.stdout.write(
        f"{family}, {faults}: {figures.events} events, {figures.instances} instances, {figures.doubled} doubled, "
        f"{figures.lost} lost; {len(figures.told)} events of instances, {again} of them again\n"
    )


if __name__ == "__main__":
    main()
