"""`python -m bench.processes`: `swf worker --processes 2` against one process, and what a process that is killed costs.

The work is for the worker alone: many expressions, and neither calls nor waits. A batch of instances is run, twenty at
once, for one worker and for the other in turn. What is told is the median of the rounds, and the proportional set size
of all processes of a command before there is any work, with those that evaluate expressions. Then each of the two
processes is killed with -9 under the same load: the time until both are ready again, and what became of the instances.
"""

import argparse
import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx
from temporalio.client import Client

from swf_temporal.base.strict_json import write_json
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.temporal.client import result, start
from swf_temporal.temporal.server import local_server
from tests.processes import ending_with_us

_PATIENCE: Final = 120.0
"""Seconds in which a worker has to be ready."""
_LOOK: Final = 0.02
_AT_ONCE: Final = 20
"""How many instances run at once: one begins when another ends, so that no process waits for the last of a batch."""


def definition() -> dict[str, Any]:
    """Return a definition that evaluates an expression for each number up to that of its input."""
    return {
        "id": "doubling",
        "version": "1.0",
        "specVersion": "0.8",
        "functions": [{"name": "double", "type": "expression", "operation": "${ {last: (2 * .number)} }"}],
        "states": [
            {
                "name": "Each",
                "type": "foreach",
                "inputCollection": "${ [range(.count)] }",
                "iterationParam": "number",
                "mode": "sequential",
                "actions": [{"functionRef": "double"}],
                "stateDataFilter": {"output": "${ .last }"},
                "end": True,
            }
        ],
    }


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured."""

    rates: dict[int, list[float]]
    """By the number of processes, instances a second in each round."""
    back: Sequence[float]
    """Seconds after which both processes were ready again, once one was killed."""
    lost: int
    """How many of the instances that ran meanwhile came to something else than their output."""
    idle: Mapping[int, float]
    """By the number of processes, the memory of all before there is any work, in MiB."""


@dataclass(frozen=True, slots=True)
class _Serving:
    """A worker of some processes."""

    client: Client
    definition: Definition
    steps: int
    pid: int
    health: int

    @property
    def queue(self) -> str:
        return f"processes-{self.health}"

    async def batch(self, name: str, count: int) -> int:
        """Run so many instances, some at once; return how many came to something else than their output."""
        free = asyncio.Semaphore(_AT_ONCE)

        async def run(number: int) -> Any:
            async with free:
                return await self._run(f"{name}-{number}")

        outputs = await asyncio.gather(*map(run, range(count)))
        return sum(output != 2 * (self.steps - 1) for output in outputs)

    async def _run(self, workflow_id: str) -> Any:
        data = {"count": self.steps}
        return await result(
            await start(self.client, [self.definition], data, workflow_id=workflow_id, task_queue=self.queue)
        )

    async def until_ready(self, *, ready: bool = True) -> None:
        """Wait until all processes are ready, or one is not."""
        async with asyncio.timeout(_PATIENCE), httpx.AsyncClient() as asking:
            while True:
                try:
                    found = await asking.get(f"http://127.0.0.1:{self.health}/readyz")
                    is_ready = found.status_code == httpx.codes.OK
                except httpx.TransportError:
                    is_ready = False
                if is_ready == ready:
                    return
                await asyncio.sleep(_LOOK)

    def processes(self) -> list[int]:
        """Return the ids of the processes that work."""
        return _children(self.pid)

    def memory(self) -> float:
        """Return the proportional set size of all its processes, in MiB."""
        return sum(map(_proportional, [self.pid, *_below(self.pid)])) / 1024


def _free_port() -> int:
    with socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(one) for task in tasks for one in (task / "children").read_text(encoding="ascii").split()]


def _below(pid: int) -> list[int]:
    return [one for child in _children(pid) for one in (child, *_below(child))]


def _proportional(pid: int) -> int:
    """Return the proportional set size of a process, in KiB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _write(folder: Path) -> None:
    (folder / "doubling.json").write_text(write_json(definition()), encoding="utf-8")


@asynccontextmanager
async def _serving(client: Client, folder: Path, steps: int, processes: int) -> AsyncIterator[_Serving]:
    health = _free_port()
    given = load(definition(), name="doubling")
    address = client.service_client.config.target_host
    process = await asyncio.create_subprocess_exec(
        *ending_with_us(),
        *(sys.executable, "-c", "from swf_temporal.cli.entry import main; main()", "worker", str(folder)),
        *("--processes", str(processes), "--health", str(health), "--address", address),
        *("--task-queue", f"processes-{health}"),
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        serving = _Serving(client, given, steps, process.pid, health)
        await serving.until_ready()
        yield serving
    finally:
        process.terminate()
        await process.wait()


async def measure(rounds: int, batch: int, steps: int) -> Figures:
    """Return what the workers did in each round, and what became of those that were killed."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    with TemporaryDirectory(prefix="swf-processes-") as folder:
        _write(Path(folder))
        async with (
            local_server(as_installed=True) as server,
            _serving(server.client, Path(folder), steps, 1) as one,
            _serving(server.client, Path(folder), steps, 2) as two,
        ):
            idle = {1: one.memory(), 2: two.memory()}
            lost = 0
            for number in range(rounds + 1):
                for processes, serving in ((1, one), (2, two)):
                    began = time.perf_counter()
                    lost += await serving.batch(f"{processes}-{number}", batch)
                    if number:  # in the first round they get warm
                        rates[processes].append(batch / (time.perf_counter() - began))
            killing = asyncio.create_task(_kill_each(two))
            number = 0
            while not killing.done():
                number += 1
                lost += await two.batch(f"beside-{number}", batch)
            back = await killing
    return Figures(rates, back, lost, idle)


async def _kill_each(serving: _Serving) -> list[float]:
    """Kill one process after the other; return after how many seconds all were ready again."""
    seconds = []
    for pid in serving.processes():
        os.kill(pid, signal.SIGKILL)
        began = time.perf_counter()
        await serving.until_ready(ready=False)
        await serving.until_ready()
        seconds.append(time.perf_counter() - began)
    return seconds


def table(figures: Figures) -> str:
    """Return what the figures come to, as lines."""
    one, two = figures.rates[1], figures.rates[2]
    ratio = median(b / a for a, b in zip(one, two, strict=True))
    back = ", ".join(f"{seconds:.1f}" for seconds in figures.back)
    return (
        "| processes | instances a second | idle memory (PSS), MiB |\n|---|---|---|\n"
        f"| 1 | {median(one):.1f} | {figures.idle[1]:.0f} |\n| 2 | {median(two):.1f} | {figures.idle[2]:.0f} |\n\n"
        f"two do {ratio:.2f} times as much as one, the median of {len(one)} rounds\n"
        f"each killed in turn under load: both ready again after {back} s; {figures.lost} instances lost"
    )


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.processes", description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured")
    parser.add_argument("--batch", type=int, default=40, help="how many instances a batch has")
    parser.add_argument("--steps", type=int, default=20_000, help="how many expressions each evaluates")
    given = parser.parse_args()
    print(table(asyncio.run(measure(given.rounds, given.batch, given.steps))))


if __name__ == "__main__":
    main()
