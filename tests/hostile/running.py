"""Gives hostile definitions to a worker in a process of its own, and watches what becomes of it and of others' runs."""

import asyncio
import os
import re
import signal
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import IO, Any, NamedTuple

from temporalio.api.enums.v1 import WorkflowExecutionStatus
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError

from tests.hostile.cases import Case, arguments
from tests.hostile.worker import READY
from tests.processes import ending_with_us

PATIENCE = 30.0
"""Seconds in which a run has to end or, if it goes on, to come further."""
_LAST_PROBES = 60.0
"""Seconds within which the last probes have to end."""
_MEMORY = 2 << 20
"""KiB that a worker may hold: one that holds more is taken for dead, before the machine suffers."""
_ENDED = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED
_RUNNING = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING
_PERIOD = 0.04
"""Seconds of which a slowed worker gets its share."""
_DEADLOCK = "TMPRL1101"
"""The SDK's number for a workflow task that worked for longer than two seconds without yielding."""
_numbers = count(1)


class Probe(NamedTuple):
    begun: float
    """By `time.monotonic`."""
    seconds: float


@dataclass
class Outcome:
    case: Case
    seconds: float
    how: str
    """`completed`, `failed`, `goes on`, `stuck`, or `not started`."""
    told: str = ""
    begun: float = field(default_factory=time.monotonic)


@dataclass
class Hostile:
    """A worker that is given hostile definitions, and what is seen of it."""

    client: Client
    address: str
    queue: str
    slowed: int = 1
    """By how much the worker and its helpers are slowed: each runs for this part of the time."""
    deaths: list[str] = field(default_factory=list)
    peak: int = 0
    """The most MiB that the worker has held since this was last set to 0."""
    _process: Process | None = None
    _emptying: asyncio.Task[bytes] | None = None
    _log: IO[bytes] = field(default_factory=tempfile.TemporaryFile)

    @property
    def deadlocks(self) -> int:
        """The number of workflow tasks that the SDK has taken for deadlocked."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace").count(f"[{_DEADLOCK}]")

    async def start_worker(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *ending_with_us(), sys.executable, "-m", "tests.hostile.worker", self.address, self.queue,
            stdin=PIPE, stdout=PIPE,
            stderr=None if os.environ.get("HOSTILE_LOG") else self._log,
        )  # fmt: skip
        assert self._process.stdout is not None
        while READY.encode() not in (line := await self._process.stdout.readline()):
            if not line:
                raise RuntimeError("the worker did not start")
        # The engine warns there: once a pipe that nobody empties is full, the whole worker stands still.
        self._emptying = asyncio.create_task(self._process.stdout.read())

    async def end(self) -> None:
        """End the worker, and forget its log."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        self._log.close()

    async def keep_alive(self, running: dict[str, str]) -> None:
        while True:
            assert self._process is not None
            code = await self._end()
            self.deaths.append(f"{code} while {', '.join(running.values()) or 'nothing'} ran")
            try:
                await self.start_worker()
            except RuntimeError as error:  # the machine may be too busy: it is counted, and tried again
                self.deaths.append(str(error))

    async def _end(self) -> str:
        """Return how the process ended; one that takes more memory than it may is ended."""
        assert self._process is not None
        status = Path(f"/proc/{self._process.pid}/status")
        while self._process.returncode is None:
            await asyncio.sleep(0.1)
            with suppress(OSError):
                held = re.search(r"VmRSS:\s*(\d+)", status.read_text())  # noqa: ASYNC240 - a file of the kernel
                self.peak = max(self.peak, int(held[1]) >> 10 if held else 0)
                if held and int(held[1]) > _MEMORY:
                    self._process.kill()
                    await self._process.wait()
                    return f"more than {_MEMORY >> 20} GiB"
        return f"exit code {self._process.returncode}"

    async def slow_down(self) -> None:
        """Let the worker and its helpers run for their part of the time alone, as on a slower machine."""
        while self.slowed > 1:
            pids = [] if self._process is None else [self._process.pid, *_children(self._process.pid)]
            for sent, seconds in (
                (signal.SIGSTOP, _PERIOD * (1 - 1 / self.slowed)),
                (signal.SIGCONT, _PERIOD / self.slowed),
            ):
                for pid in pids:
                    with suppress(ProcessLookupError):
                        os.kill(pid, sent)
                await asyncio.sleep(seconds)

    async def begin(self, definition: Any, data: Any) -> WorkflowHandle[Any, Any]:
        return await self.client.start_workflow(
            "hostile",
            args=await asyncio.to_thread(arguments, definition, data),
            id=f"hostile-{os.getpid()}-{next(_numbers)}",
            task_queue=self.queue,
        )

    async def outcome(self, case: Case, patience: float = PATIENCE) -> Outcome:
        definition, data = await asyncio.to_thread(case.made)
        begun = time.monotonic()
        try:
            handle = await self.begin(definition, data)
        except (RPCError, ValueError, RecursionError) as error:
            return Outcome(case, 0, "not started", _short(str(error)))
        try:
            return await self._watched(case, handle, begun, patience)
        finally:
            with suppress(RPCError):
                await handle.terminate()

    async def _watched(self, case: Case, handle: WorkflowHandle[Any, Any], begun: float, patience: float) -> Outcome:
        length = 0
        while time.monotonic() - begun < patience:
            await asyncio.sleep(0.1)
            found = (await handle.describe()).raw_description
            if found.workflow_execution_info.status != _RUNNING:
                done = found.workflow_execution_info.status == _ENDED
                told = "" if done else await _failure(handle)
                return Outcome(case, time.monotonic() - begun, "completed" if done else "failed", told)
            if time.monotonic() - begun < patience / 2:
                length = found.workflow_execution_info.history_length
        attempt = found.pending_workflow_task.attempt
        if found.workflow_execution_info.history_length > length and attempt < 3:
            told = f"{found.workflow_execution_info.history_length} events"
            return Outcome(case, time.monotonic() - begun, "goes on", told)
        return Outcome(case, time.monotonic() - begun, "stuck", f"attempt {attempt} at its task")

    @asynccontextmanager
    async def probed(self, probes: list[Probe]) -> AsyncIterator[None]:
        command = [*ending_with_us(), sys.executable, "-m", "tests.hostile.probe", self.address, self.queue]
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
        try:
            yield
        finally:
            try:
                output, _ = await asyncio.wait_for(process.communicate(b""), _LAST_PROBES)
            except TimeoutError:
                process.kill()
                raise RuntimeError("probes did not end within a minute") from None
        probes += [Probe(*map(float, line.split())) for line in output.decode().splitlines()]


def _children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    with suppress(OSError):
        return [
            int(one) for task in Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split()
        ]
    return []


@asynccontextmanager
async def hostile_worker(client: Client, slowed: int = 1) -> AsyncIterator[Hostile]:
    queue = f"hostile-{os.getpid()}-{next(_numbers)}"
    hostile = Hostile(client, client.service_client.config.target_host, queue, slowed)
    await hostile.start_worker()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(hostile.end)
        slowing = asyncio.create_task(hostile.slow_down())
        stack.callback(slowing.cancel)
        yield hostile


async def run_all(
    hostile: Hostile, cases: Sequence[Case], at_once: int, told: Any, patience: float = PATIENCE
) -> list[Outcome]:
    """Run *cases*, a few *at_once*, with a worker that is started again if it dies; *told* is given each outcome."""
    running: dict[str, str] = {}
    room = asyncio.Semaphore(at_once)
    outcomes: list[Outcome] = []

    async def one(case: Case) -> None:
        async with room:
            running[case.id] = case.id
            begun = time.monotonic()
            outcome = await hostile.outcome(case, patience)
            outcome.begun = begun
            del running[case.id]
            outcomes.append(outcome)
            told(outcome)

    keeping = asyncio.create_task(hostile.keep_alive(running))
    try:
        async with asyncio.TaskGroup() as group:
            for case in cases:
                group.create_task(one(case))
    finally:
        if keeping.done():
            keeping.result()  # without a worker, what is told of the runs means nothing
        keeping.cancel()
    return outcomes


async def _failure(handle: WorkflowHandle[Any, Any]) -> str:
    try:
        await handle.result()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        cause = getattr(error, "cause", error)
        return f"{getattr(cause, 'type', '')}: {_short(str(cause))}"
    return ""


def _short(text: str) -> str:
    return " ".join(text.split())[:150]
