"""`python -m bench.tuning`: what a worker does in a second, and what it takes, with a few of its settings.

Each setting has a worker of its own, `swf worker` with its options, on one server. They work in turn: many instances at
once, each with five calls in sequence of a function that waits for 20 milliseconds. What is told is the median of the
rounds, for each setting: instances in a second, and processor time of the worker for one instance.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from subprocess import DEVNULL, Popen
from time import perf_counter
from uuid import uuid4

from temporalio.client import Client

from bench.revisions import ROOT
from bench.server_cpu import used
from swf_temporal.temporal.server import local_server
from tests.processes import ending_with_us

DEFAULTS = "the defaults"
SETTINGS: dict[str, tuple[str, ...]] = {
    DEFAULTS: (),
    "`--max-cached-workflows 8`": ("--max-cached-workflows", "8"),
    "`--max-workflow-tasks 2`": ("--max-workflow-tasks", "2"),
    "`--max-activities 4`": ("--max-activities", "4"),
    "`--pollers 2`": ("--pollers", "2"),
    "`--pollers 20`": ("--pollers", "20"),
    "`--pollers auto`": ("--pollers", "auto"),
    "`--target-memory 0.9 --target-cpu 0.9`": ("--target-memory", "0.9", "--target-cpu", "0.9"),
}
_ACTION = "{functionRef: wait}"
_DEFINITION = f"""
id: tuned
version: "1.0.0"
specVersion: "0.8"
functions: [{{name: wait, type: custom}}]
states: [{{name: Work, type: operation, actions: [{", ".join([_ACTION] * 5)}], end: true}}]
"""
_FUNCTIONS = """
import asyncio

async def wait():
    await asyncio.sleep(0.02)
"""
_COMMAND = "from swf_temporal.cli.entry import main; main()"


@dataclass
class Measured:
    """What the batches of one setting took: instances in a second, and milliseconds of the worker for one."""

    queue: str
    worker: "Popen[bytes]"
    rates: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    async def batch(self, client: Client, count: int, at_once: int) -> None:
        """Run *count* instances, so many *at_once*, and take down what that took."""
        places = asyncio.Semaphore(at_once)

        async def one() -> None:
            async with places:
                await client.execute_workflow("tuned", {}, id=f"{self.queue}-{uuid4()}", task_queue=self.queue)

        cpu, begun = used(self.worker.pid), perf_counter()
        await asyncio.gather(*(one() for _ in range(count)))
        self.rates.append(count / (perf_counter() - begun))
        self.cpu.append(1000 * (used(self.worker.pid) - cpu) / count)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.tuning", description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="how many batches each setting has")
    parser.add_argument("--batch", type=int, default=24, help="how many instances a batch has")
    parser.add_argument("--at-once", type=int, default=12, help="how many of them run at once")
    given = parser.parse_args()
    print(table(asyncio.run(measure(SETTINGS, given.rounds, given.batch, given.at_once))))


async def measure(settings: Mapping[str, Sequence[str]], rounds: int, batch: int, at_once: int) -> dict[str, Measured]:
    """Return what the batches of each setting took; in a round before them, workers get warm."""
    async with local_server(as_installed=True) as server:
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            _write(Path(folder))
            found: dict[str, Measured] = {}
            for number, (name, options) in enumerate(settings.items()):
                process = _worker(folder, server.client.service_client.config.target_host, f"q{number}", options)
                stack.callback(process.wait)
                stack.callback(process.kill)
                found[name] = Measured(f"q{number}", process)
            for number in range(-1, rounds):
                for one in found.values():
                    await one.batch(server.client, batch if number >= 0 else at_once, at_once)
    for one in found.values():
        del one.rates[0], one.cpu[0]
    return found


def _write(folder: Path) -> None:
    (folder / "tuned.yaml").write_text(_DEFINITION)
    (folder / "functions.py").write_text(_FUNCTIONS)


def _worker(folder: str, address: str, queue: str, options: Sequence[str]) -> "Popen[bytes]":
    command = [
        *ending_with_us(),
        sys.executable,
        "-P",
        "-c",
        _COMMAND,
        "worker",
        folder,
        "-f",
        f"{folder}/functions.py",
    ]
    env = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "HOME": folder}
    given = ["-f", f"{folder}/functions.py", "--address", address, "--task-queue", queue, *options]
    return Popen([*command, *given], env=env, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)


def table(found: Mapping[str, Measured]) -> str:
    """Return the medians of all rounds."""
    lines = ["| setting | instances a second | worker CPU for one, ms |", "|---|---|---|"]
    lines += [f"| {name} | {median(one.rates):.1f} | {median(one.cpu):.0f} |" for name, one in found.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
