"""Soak events: `python -m tests.soak_events --events 10000 --keys 1000 --kills 12 --restarts 1`.

What came of it is printed; the exit code is 1 if an event was lost, or taken twice.
"""

import sys
from time import monotonic

from tests.soak_events.soak import Figures, Size, Soak
from tests.soaking import parser_of, soaked


def main() -> None:
    parser = parser_of(
        "soak_events", __doc__, Size(), events="how many are sent", keys="to how many instances",
        producers="how many send at once", kills="how many processes are killed",
        restarts="1 restarts the server, 0 does not", turn="seconds between two kills",
        patience="seconds for what is left in the end",
    )  # fmt: skip
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    given, began = vars(parser.parse_args()), monotonic()
    keeps = given.pop("keep")
    figures = soaked("soak-events", lambda folder: Soak(folder, Size(**given)).run(), keeps=keeps)
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
