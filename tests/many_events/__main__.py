"""Flood mailboxes: `python -m tests.many_events --events 20000 --kills 6`.

What came of it is printed; the exit code is 1 if an accepted event was lost, taken twice, or taken out of order.
"""

import argparse
import asyncio
import logging
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from swf_temporal.sdk.logs import be_quiet
from swf_temporal.temporal.server import local_server
from tests.brokers.servers import HOST, free_ports
from tests.many_events.flood import Figures, Flood

_SIZES = (0, 10_000)


async def flood(
    folder: Path, *, events: int, kills: int, sizes: Sequence[int] = _SIZES, instances: Sequence[bool] = (True, False)
) -> dict[str, Figures]:
    """Send *events* of each size, with and without an instance; return what came of each, by its name."""
    [port] = free_ports(1)
    found: dict[str, Figures] = {}
    async with local_server(port=port) as server:
        for size, has_instance in product(sizes, instances):
            name = f"{events} events of {size} bytes, {'with' if has_instance else 'without'} an instance"
            one = Flood(server.client, folder, f"{HOST}:{port}", name, events, size, has_instance, kills)
            began = monotonic()
            found[name] = await one.run()
            _print(name, found[name], monotonic() - began)
    return found


def _print(name: str, figures: Figures, seconds: float) -> None:
    waits = sorted(figures.waits) or [0.0]
    verdict = "right" if figures.is_right else f"WRONG: {figures.taken}, not {figures.wanted}"
    sys.stdout.write(
        f"{name}: {figures.accepted} accepted, {figures.refused} times refused, {figures.kills} workers killed, "
        f"in {seconds:.0f} s; {verdict}\n"
        f"  {len(waits)} instances of other keys: {waits[len(waits) // 2]:.2f} s (median), "
        f"{waits[len(waits) * 95 // 100]:.2f} s (p95), {waits[-1]:.2f} s (max)\n"
    )
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.many_events", description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=20_000, help="how many are sent for one key")
    parser.add_argument("--kills", type=int, default=6, help="how many workers are killed meanwhile")
    given = parser.parse_args()
    logging.disable()
    be_quiet()
    with TemporaryDirectory(prefix="swf-many-events-") as folder:
        found = asyncio.run(flood(Path(folder), events=given.events, kills=given.kills))
    sys.exit(not all(one.is_right for one in found.values()))


if __name__ == "__main__":
    main()
