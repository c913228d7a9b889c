"""How a run is started, followed, and measured."""

import asyncio
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from statistics import median

from temporalio.client import Client, WorkflowHandle, WorkflowHistoryEventFilterType

from bench.contender import MAX_LINE, end, line_of
from bench.scale.work import Work
from bench.scale.worker import BY_HAND, INTERPRETED, READY, USED, stored_in
from swf_temporal.base.data import JSON
from swf_temporal.languages.loading import load
from swf_temporal.temporal.client import start
from swf_temporal.temporal.server import local_server

SAMPLE_SECONDS = 2.0
MIB = 1024 * 1024

Tell = Callable[[str], None]

_numbers = count(1)


@dataclass(slots=True)
class Cost:
    """What one run took."""

    items: int
    wall: float = 0.0
    cpu: float = 0.0
    """Of the worker's process, in user and system mode."""
    executions: int = 0
    longest: int = 0
    """The events of the longest execution."""
    memory: list[int] = field(default_factory=list)
    """What the worker had in memory, in bytes, every two seconds."""

    @property
    def rate(self) -> float:
        """Items a second."""
        return self.items / self.wall

    @property
    def peak(self) -> float:
        """The most that the worker had in memory, in MiB."""
        return max(self.memory) / MIB

    @property
    def slope(self) -> float:
        """How much more it had in the last quarter of the run than in the second, in MiB."""
        quarter = max(1, len(self.memory) // 4)
        second, last = self.memory[quarter : 2 * quarter] or self.memory, self.memory[-quarter:]
        return (sum(last) / len(last) - sum(second) / len(second)) / MIB


def middle(rounds: Sequence[Cost]) -> Cost:
    """Return what one round took in the middle, and the most events and all memory of them."""
    return Cost(
        items=rounds[0].items,
        wall=median(one.wall for one in rounds),
        cpu=median(one.cpu for one in rounds),
        executions=rounds[0].executions,
        longest=max(one.longest for one in rounds),
        memory=[resident for one in rounds for resident in one.memory],
    )


class Contender:
    """A worker in a process of its own, and a client that gives it work."""

    def __init__(self, name: str, client: Client, process: Process) -> None:
        self.name = name
        self._client = client
        self._process = process

    async def measure(self, work: Work, items: int, tell: Tell) -> Cost:
        """Run *work* once, over so many items, and *tell* how far it is. Fails if it does not do them all."""
        cost = Cost(items)
        (cpu, _), begun = await self._used(), time.perf_counter()
        handle = await self._started(work, items)
        ending = asyncio.ensure_future(handle.result())
        while not (await asyncio.wait([ending], timeout=SAMPLE_SECONDS))[0]:
            used, resident = await self._used()
            cost.memory.append(resident)
            described = await handle.describe()
            seconds = time.perf_counter() - begun
            told = f"{seconds:5.0f} s  CPU {used - cpu:5.1f} s  {resident / MIB:5.0f} MiB"
            tell(f"{work.name}, {self.name}: {told}  event {described.history_length:,}")
        cost.wall = time.perf_counter() - begun
        used, resident = await self._used()
        cost.cpu = used - cpu
        cost.memory.append(resident)
        done = ending.result()
        if done != items:
            raise RuntimeError(f"{work.title}, {self.name}: {done!r} of {items:,} items were done")
        cost.executions, cost.longest = await _lengths(self._client, handle)
        each = f"{cost.rate:,.0f} a second, CPU {1000 * cost.cpu / items:.2f} ms each"
        length = f"{cost.executions} executions, {cost.longest:,} events in the longest"
        tell(f"{work.name}, {self.name}: {items:,} items done, {each}; {length}; peak {cost.peak:.0f} MiB")
        return cost

    async def _started(self, work: Work, items: int) -> WorkflowHandle[object, JSON]:
        workflow_id = f"{work.name}-{self.name}-{next(_numbers)}"
        data: dict[str, JSON] = {"items": items, "number": 0}
        if self.name == INTERPRETED:
            definitions = [load(one, name=str(one["id"])) for one in work.definitions()]
            return await start(self._client, definitions, data, workflow_id=workflow_id, task_queue=self.name)
        return await self._client.start_workflow(work.name, data, id=workflow_id, task_queue=self.name)

    async def _used(self) -> tuple[float, int]:
        assert self._process.stdin
        self._process.stdin.write(b"\n")
        cpu, resident = (await line_of(self._process, USED)).split()[1:]
        return float(cpu), int(resident)


@asynccontextmanager
async def contenders(by_hand: str | None = BY_HAND) -> AsyncIterator[Sequence[Contender]]:
    """Start a server and both contenders, the interpreted one first, for as long as the context lasts.

    There is no other where *by_hand* is None.
    """
    async with AsyncExitStack() as stack:
        storage = stack.enter_context(tempfile.TemporaryDirectory())
        server = await stack.enter_async_context(local_server(payloads=stored_in(storage), as_installed=True))
        yield [
            await stack.enter_async_context(_contender(name, server.client, storage))
            for name in (INTERPRETED, by_hand)
            if name is not None
        ]


@asynccontextmanager
async def _contender(name: str, client: Client, storage: str) -> AsyncIterator[Contender]:
    address = client.service_client.config.target_host
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.scale.worker", name, address, storage, stdin=PIPE, stdout=PIPE, limit=MAX_LINE
    )
    assert process.stdin
    try:
        await line_of(process, READY)
        yield Contender(name, client, process)
    finally:
        await end(process)


async def _lengths(client: Client, handle: WorkflowHandle[object, JSON]) -> tuple[int, int]:
    """Return how many executions a run had, and the events of the longest."""
    executions, longest = 0, 0
    run_id = handle.first_execution_run_id
    while run_id:
        one = client.get_workflow_handle(handle.id, run_id=run_id)
        executions += 1
        longest = max(longest, (await one.describe()).history_length)
        run_id = None
        async for event in one.fetch_history_events(event_filter_type=WorkflowHistoryEventFilterType.CLOSE_EVENT):
            run_id = event.workflow_execution_continued_as_new_event_attributes.new_execution_run_id
    return executions, longest
