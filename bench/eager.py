"""`python -m bench.eager`: a start whose worker is in the process of the client, and shares its connection or does not.

Where it does, the server gives the first workflow task with its answer. The workflow does nothing. What is told is the
median of the rounds, for one workflow: the time from the start to the output, and processor time of the server.
"""

import argparse
import asyncio
import time
from statistics import median

from temporalio.client import Client

from bench.server_cpu import pid_of, used
from swf_temporal.events.sinks import Sinks
from swf_temporal.functions.calling import Calls
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.temporal.client import result, start
from swf_temporal.temporal.server import local_server
from swf_temporal.temporal.worker import make_worker

_NOTHING = load({
    "id": "nothing", "version": "1", "specVersion": "0.8",
    "states": [{"name": "End", "type": "inject", "data": {}, "end": True}],
})  # fmt: skip
_QUEUE = "eager"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.eager", description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7, help="how often everything is measured")
    parser.add_argument("--batch", type=int, default=60, help="how many workflows one measurement has")
    given = parser.parse_args()
    print(table(asyncio.run(measure(given.rounds, given.batch))))


async def measure(rounds: int, batch: int) -> dict[str, list[tuple[float, float]]]:
    """Return, for each connection, what a workflow took in each round: milliseconds on the clock, and of the server."""
    async with local_server(as_installed=True) as server:
        shared, pid = server.client, pid_of(server)
        address = shared.service_client.config.target_host
        own = await Client.connect(address, data_converter=shared.data_converter)
        clients = {"the worker's": shared, "its own": own}
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in clients}
        async with make_worker(shared, Catalogue([_NOTHING]), Calls({}), Sinks(), task_queue=_QUEUE):
            for number in range(rounds + 1):
                for name, client in clients.items():
                    cost = await _batch(client, f"{name} {number}", batch, pid)
                    if number:  # in the first round they get warm
                        found[name].append(cost)
        return found


async def _batch(client: Client, name: str, batch: int, pid: int) -> tuple[float, float]:
    cpu, wall = used(pid), time.perf_counter()
    for number in range(batch):
        await result(await start(client, [_NOTHING], {}, workflow_id=f"{name}-{number}", task_queue=_QUEUE))
    each = 1000 / batch
    return (time.perf_counter() - wall) * each, (used(pid) - cpu) * each


def table(found: dict[str, list[tuple[float, float]]]) -> str:
    """Return the medians of all rounds."""
    lines = ["| the client's connection | start to output, ms | server CPU, ms |", "|---|---|---|"]
    for name, costs in found.items():
        wall, cpu = (median(values) for values in zip(*costs, strict=True))
        lines.append(f"| {name} | {wall:.1f} | {cpu:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
