"""How is one contender started, given work, and measured?"""

import asyncio
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count

from temporalio.client import Client, WorkflowHandle

from bench.work import GO, SIGNALLED, Work
from bench.worker import CPU, INTERPRETED, READY
from swf_temporal.base.data import JSON
from swf_temporal.languages.loading import load
from swf_temporal.temporal.client import start

_numbers = count(1)
_FIRST_TASK = 4
"""The length of a history whose first workflow task is over."""

MAX_LINE = 16 * 1024 * 1024
"""Bytes of the longest line that a worker may write: the SDK's own log goes to the same output."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one workflow of a batch took, on average, in seconds."""

    wall: float
    """From its start to its result, as the client sees it."""
    cpu: float
    """Of the worker's process, in user and system mode."""


class Contender:
    """A worker in a process of its own, and a client that gives it work."""

    def __init__(self, name: str, client: Client, process: Process, service: str) -> None:
        self.name = name
        self.latest = ""
        """The id of the workflow that was started last."""
        self._service = service
        self._client = client
        self._process = process

    @property
    def pid(self) -> int:
        """The worker's process."""
        return self._process.pid

    async def measure(self, work: Work) -> Cost:
        """Run a batch of *work*, one workflow after the other."""
        cpu, wall = await self.cpu(), time.perf_counter()
        for _ in range(work.batch):
            await self.run(work)
        wall, cpu = time.perf_counter() - wall, await self.cpu() - cpu
        return Cost(wall / work.batch, cpu / work.batch)

    async def run(self, work: Work) -> JSON:
        """Run one workflow and return its output."""
        self.latest = f"{self.name}-{next(_numbers)}"
        handle = await self._started(work, self.latest)
        if work.signalled:
            while (await handle.describe()).history_length < _FIRST_TASK:
                pass
            await handle.signal(GO, SIGNALLED)
        output: JSON = await handle.result()
        return output

    async def _started(self, work: Work, workflow_id: str) -> WorkflowHandle[object, JSON]:
        data = work.data_for(self._service)
        if self.name == INTERPRETED and not work.by_type:
            workflow = load(work.definition(self._service), name=work.name)
            return await start(self._client, [workflow], data, workflow_id=workflow_id, task_queue=self.name)
        name = work.name if self.name == INTERPRETED else work.by_hand or work.name
        return await self._client.start_workflow(name, data, id=workflow_id, task_queue=self.name)

    async def cpu(self) -> float:
        """Return how many seconds of processor time the worker's process has used."""
        assert self._process.stdin
        self._process.stdin.write(b"\n")
        return float((await line_of(self._process, CPU)).removeprefix(CPU))


@asynccontextmanager
async def contender(name: str, client: Client, service: str) -> AsyncIterator[Contender]:
    """Start the worker *name*, which may call *service*, for as long as the context lasts."""
    address = client.service_client.config.target_host
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.worker", name, address, service, stdin=PIPE, stdout=PIPE, limit=MAX_LINE
    )
    assert process.stdin
    await line_of(process, READY)
    try:
        yield Contender(name, client, process, service)
    finally:
        await end(process)


@asynccontextmanager
async def service(*options: str) -> AsyncIterator[str]:
    """Start the service that is called, for as long as the context lasts, and yield its URL."""
    command = sys.executable, "-m", "bench.service", *options
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    assert process.stdin
    try:
        yield (await line_of(process, "http")).strip()
    finally:
        await end(process)


async def end(process: Process) -> None:
    """End a worker by closing its input. Its output is read until then: a full pipe would keep it from ending."""
    await process.communicate(b"")


async def line_of(process: Process, word: str) -> str:
    """Return the next line of a worker that begins with *word*; the SDK's own log comes in between."""
    assert process.stdout
    while line := (await process.stdout.readline()).decode():
        if line.startswith(word):
            return line
    raise RuntimeError("the worker ended before its work did")
