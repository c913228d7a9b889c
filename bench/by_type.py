"""`python -m bench.by_type --before REVISION`: what an instance costs that the plain client starts by its type.

A worker of each revision serves the same definition, on one server, and runs batches of instances in turn with the
other. What is told of each is the least of its batches: events in the history, processor time of the worker and time on
the clock, for one instance.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from time import perf_counter

from temporalio.client import Client

from bench.revisions import ROOT, checked_out
from swf_temporal.temporal.server import local_server
from tests.processes import ending_with_us

_DEFINITION = """
id: typed
version: "1.0.0"
specVersion: "0.8"
states: [{name: Answer, type: inject, data: {accepted: true}, end: true}]
"""
_COMMAND = "from swf_temporal.cli.entry import main; main()"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Measured:
    """What the batches of one revision took, for one instance: seconds."""

    worker: "Popen[bytes]"
    events: int = 0
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def used(self) -> float:
        """Return the processor time of the worker until now."""
        fields = Path(f"/proc/{self.worker.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.by_type", description=__doc__.partition("\n")[0])
    parser.add_argument("--before", metavar="REVISION", required=True, help="compare with this revision of git")
    parser.add_argument("--rounds", type=int, default=7, help="how many batches each has")
    parser.add_argument("--batch", type=int, default=300, help="how many instances a batch has")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, checked_out(given.before) as before:
        Path(folder, "typed.yaml").write_text(_DEFINITION)
        trees = {"before": before, "after": ROOT}
        before_, after = asyncio.run(_measured(trees, Path(folder), given.rounds, given.batch)).values()
    print("| for one instance | before | after | after : before |\n|---|---|---|---|")
    print(f"| events | {before_.events} | {after.events} | {after.events / before_.events:.2f} |")
    for title, old, new in (("worker CPU", before_.cpu, after.cpu), ("wall", before_.wall, after.wall)):
        print(f"| {title}, ms | {1000 * min(old):.2f} | {1000 * min(new):.2f} | {min(new) / min(old):.2f} |")


async def _measured(trees: Mapping[str, Path], folder: Path, rounds: int, batch: int) -> dict[str, Measured]:
    async with local_server(as_installed=True) as server:
        address = server.client.service_client.config.target_host
        found = {name: Measured(_worker(tree, folder, address, name)) for name, tree in trees.items()}
        try:
            for name, one in found.items():
                await _batch(server.client, name, "warm", 50)
                handle = server.client.get_workflow_handle(f"{name}-warm-0")
                one.events = len((await handle.fetch_history()).events)
            for number in range(rounds):
                for name, one in found.items():
                    used, begun = one.used(), perf_counter()
                    await _batch(server.client, name, str(number), batch)
                    one.wall.append((perf_counter() - begun) / batch)
                    one.cpu.append((one.used() - used) / batch)
        finally:
            for one in found.values():
                one.worker.kill()
                one.worker.wait()
    return found


def _worker(tree: Path, folder: Path, address: str, name: str) -> "Popen[bytes]":
    command = [*ending_with_us(), sys.executable, "-P", "-c", _COMMAND, "worker", str(folder)]
    env = {"PYTHONPATH": str(tree), "PATH": "/usr/bin:/bin"}
    options = ["--address", address, "--task-queue", name]
    return Popen([*command, *options], env=env, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL)


async def _batch(client: Client, queue: str, batch: str, count: int) -> None:
    """Run *count* instances, one after the other."""
    for number in range(count):
        await client.execute_workflow("typed", {}, id=f"{queue}-{batch}-{number}", task_queue=queue)


if __name__ == "__main__":
    main()
