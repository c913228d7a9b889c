"""Several worker processes under one command: a process that dies is restarted, and they appear as one.

Each process runs the given command again, with its number and ports (`WorkerProcess`) in the environment. It serves
health and metrics on its own ports, on loopback; the parent process aggregates them.
"""

import asyncio
import logging
import os
import socket
import sys
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Final

import httpx

from swf_temporal.base.errors import UsageError
from swf_temporal.base.exit_codes import ExitCode
from swf_temporal.base.grammar import counted
from swf_temporal.base.stopping import stop_signal
from swf_temporal.expressions.guarding.helper import WORKER_PROCESS
from swf_temporal.sdk.health import answering
from swf_temporal.sdk.logs import log_lines
from swf_temporal.sdk.worker_process import LOOPBACK, WorkerProcess
from swf_temporal.settings.values import Address
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.server import free_ports

_FIRST_PAUSE, _MAX_PAUSE = 0.2, 30.0
"""Seconds before a process is restarted: more each time that it dies early."""
_LONG: Final = 60.0
"""Seconds after which the death of a process no longer counts as early."""
_PATIENCE: Final = 2.0
"""Seconds within which a process has to answer a health check."""
_log = logging.getLogger("swf")


def wanted(processes: str) -> int:
    """Return the number in *processes*, or for `auto` the number of cores. Raises UsageError."""
    if processes == "auto":
        return len(os.sched_getaffinity(0))
    if not processes.isdecimal() or int(processes) < 1:
        raise UsageError(f"--processes must be a number from 1 on, or auto, not {processes!r}")
    return int(processes)


@dataclass(slots=True)
class _Child:
    number: int
    count: int
    process: asyncio.subprocess.Process | None = None
    place: WorkerProcess | None = None
    was_ready: bool = False
    serves: str | None = None
    """Its answer to a health check once it is ready, with a digest of its definitions."""
    pause: float = _FIRST_PAUSE

    async def start(self, command: Sequence[str]) -> None:
        health, metrics = free_ports()
        self.place = WorkerProcess(self.number, self.count, health, metrics, os.getpid())
        self.serves = None
        env = {**os.environ, WORKER_PROCESS: self.place.said()}
        # In a new session: Ctrl-C in a terminal is for the parent process, which passes it on.
        self.process = await asyncio.create_subprocess_exec(*command, env=env, start_new_session=True)

    def can_listen(self) -> bool:
        """Return whether the ports assigned to the process are still free, long before it listens there."""
        assert self.place is not None  # noqa: S101 - it was started
        with suppress(OSError):
            for port in (self.place.health_port, self.place.metrics_port):
                socket.create_server((LOOPBACK, port)).close()
            return True
        return False

    async def get(self, path: str, client: httpx.AsyncClient) -> httpx.Response | None:
        if self.place is None or self.process is None or self.process.returncode is not None:
            return None
        port = self.place.metrics_port if path == "/metrics" else self.place.health_port
        with suppress(httpx.HTTPError):
            return await client.get(f"http://{LOOPBACK}:{port}{path}")
        return None

    async def is_ready(self, client: httpx.AsyncClient) -> bool:
        answer = await self.get("/readyz", client)
        if answer is None or not answer.is_success:
            return False
        self.was_ready, self.serves = True, answer.text
        return True

    def stop(self) -> None:
        """Ask the process to end when its calls have ended, if it is running."""
        if self.process is not None and self.process.returncode is None:
            with suppress(ProcessLookupError):
                self.process.terminate()


@dataclass(slots=True)
class Processes:
    """The processes that a command runs in."""

    command: Sequence[str]
    """The command that each of them runs."""
    count: int
    health_port: int | None = None
    metrics: Address | None = None
    _children: list[_Child] = field(default_factory=list)
    _client: httpx.AsyncClient = field(default_factory=lambda: httpx.AsyncClient(timeout=_PATIENCE, trust_env=False))

    async def run(self) -> int:
        """Run them until this process is asked to stop; return the exit code.

        A process that ends is restarted; but if one cannot start, by a mistake that all would make, all end.
        """
        stopping = stop_signal()
        self._children = [_Child(number, self.count) for number in range(1, self.count + 1)]
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._client)
            if self.health_port is not None:
                await stack.enter_async_context(answering(self.health_port, self._answer, "--health"))
            if self.metrics is not None:
                host = self.metrics.host or LOOPBACK
                await stack.enter_async_context(answering(self.metrics.port, self._answer, "--metrics", host))
            _log.info("working in %s", counted(self.count, "process"))
            tasks = [asyncio.create_task(self._keep(child)) for child in self._children]
            stop = asyncio.create_task(stopping.wait())
            try:
                done, _ = await asyncio.wait([stop, *tasks], return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (stop, *tasks):
                    task.cancel()
                await asyncio.wait([stop, *tasks])
                await self._end()
        failed = [task for task in done if task is not stop]
        return failed[0].result() if failed else 0

    async def _keep(self, child: _Child) -> int:
        """Restart a process whenever it ends; return its exit code if it cannot start."""
        loop = asyncio.get_running_loop()
        while True:
            begun = loop.time()
            await child.start(self.command)
            assert child.process is not None  # noqa: S101 - it was started
            watcher = asyncio.create_task(self._notice_ready(child))
            code = await child.process.wait()
            watcher.cancel()
            if code == ExitCode.USAGE and not child.was_ready and child.can_listen():
                return code
            if loop.time() - begun > _LONG:
                child.pause = _FIRST_PAUSE
            _log.error(
                "process %d of %d ended (%s), and is restarted in %g s",
                child.number, self.count, f"signal {-code}" if code < 0 else f"exit code {code}", child.pause,
            )  # fmt: skip
            await asyncio.sleep(child.pause)
            child.pause = min(2 * child.pause, _MAX_PAUSE)

    async def _notice_ready(self, child: _Child) -> None:
        """Wait until a process is ready. Restart others that have read the definitions before they changed."""
        while not await child.is_ready(self._client):  # noqa: ASYNC110 - another process can only be polled
            await asyncio.sleep(0.5)
        others = [one for one in self._children if one.serves not in (None, child.serves)]
        if others:
            _log.warning("the definitions have changed: all processes start again, so that they serve the same")
        for other in others:
            other.stop()

    async def _end(self) -> None:
        """Ask all to stop, and wait for them: each has the grace period of its settings."""
        running = [one.process for one in self._children if one.process is not None and one.process.returncode is None]
        for child in self._children:
            child.stop()
        try:
            await asyncio.gather(*(process.wait() for process in running))
        except asyncio.CancelledError:
            for process in running:
                with suppress(ProcessLookupError):
                    process.kill()
            raise

    async def _answer(self, path: str) -> tuple[int, str]:
        """Answer a health check or a scrape for all of them."""
        if path == "/livez":
            return 200, "alive\n"
        if path == "/readyz":
            ready = sum(await asyncio.gather(*(one.is_ready(self._client) for one in self._children)))
            return (200 if ready == self.count else 503), f"{ready} of {self.count} processes are ready\n"
        if path == "/metrics":
            answers = await asyncio.gather(*(one.get(path, self._client) for one in self._children))
            return 200, merged(answer.text for answer in answers if answer is not None and answer.is_success)
        return 404, "there are /livez, /readyz and /metrics\n"


def merged(texts: Iterable[str]) -> str:
    """Return the metrics of several processes as one text, each family once: their labels distinguish them."""
    heads: dict[str, list[str]] = {}
    samples: dict[str, list[str]] = {}
    for text in texts:
        family = ""
        for line in text.splitlines():
            if line.startswith("# "):
                family = line.split(" ", 3)[2]
                head = heads.setdefault(family, [])
                if line not in head:
                    head.append(line)
            elif line:
                samples.setdefault(family, []).append(line)
    return "".join(f"{line}\n" for family in heads for line in (*heads[family], *samples.get(family, ())))


async def supervised(settings: WorkerSettings) -> int:
    """Run the command of this process in the number of processes in *settings*; return the exit code."""
    log_lines(settings.log_format, settings.log_level)
    processes = Processes(own_command(), wanted(settings.processes), settings.health_port, settings.metrics)
    return await processes.run()


def own_command() -> list[str]:
    """Return the command line of this process, to run it again."""
    return [sys.executable, "-m", "swf_temporal.cli", *sys.argv[1:]]
