"""Soak events: `python -m tests.soak_events --ways amqp kafka mqtt nats http --keys 25 --events 10 --faults 16`.

What came of it is printed, a line for each way; the exit code is 1 if an event was lost, or taken twice.
"""

import sys

from tests.soak_events.brokers import WAYS
from tests.soak_events.soak import Figures, Size, Soak
from tests.soaking import parser_of, soaked


def main() -> None:
    usual = Size()
    parser = parser_of(
        "soak_events", __doc__, usual, keys="how many instances each way has", events="how many events each gets",
        faults="how often a broker is restarted or stalled, or the gateway killed", turn="seconds between two faults",
        restarts="how often the server is restarted", patience="seconds for what is left in the end",
    )  # fmt: skip
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=usual.ways, help="over which events come")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    given = vars(parser.parse_args())
    keeps, ways = given.pop("keep"), tuple(given.pop("ways"))
    size = Size(ways, **given)
    found = soaked("soak-events", lambda folder: Soak(folder, size).run(), keeps=keeps)
    for way, figures in found.items():
        _print(way, figures)
    sys.exit(not all(figures.is_right(size) for figures in found.values()))


def _print(way: str, figures: Figures) -> None:
    faults = " and ".join(f"{how} {count} times" for how, count in sorted(figures.faults.items())) or "not disturbed"
    again = sum(figures.told.values()) - len(figures.told)
    sys.stdout.write(
        f"{way}, {faults}: {figures.events} events, {figures.repeated} times sent again, {figures.instances} "
        f"instances, {figures.others} too many, {figures.doubled} doubled, {figures.lost} lost; {len(figures.told)} "
        f"events of instances, {again} of them again\n"
    )


if __name__ == "__main__":
    main()
