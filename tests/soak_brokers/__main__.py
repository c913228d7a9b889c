"""Soak brokers: `python -m tests.soak_brokers --keys 25 --events 10 --faults 16`.

What came of it is printed, a line for each broker; the exit code is 1 if an event was lost, or taken twice.
"""

import sys

from tests.soak_brokers.brokers import FAMILIES
from tests.soak_brokers.soak import Figures, Size, Soak
from tests.soaking import parser_of, soaked


def main() -> None:
    usual = Size()
    parser = parser_of(
        "soak_brokers", __doc__, usual, keys="how many instances each broker has", events="how many events each gets",
        faults="how often a broker is restarted or stalled", turn="seconds between two faults",
        patience="seconds for what is left in the end",
    )  # fmt: skip
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=usual.families, help="which brokers")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    given = vars(parser.parse_args())
    keeps, families = given.pop("keep"), tuple(given.pop("families"))
    size = Size(families, **given)
    found = soaked("soak-brokers", lambda folder: Soak(folder, size).run(), keeps=keeps)
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
