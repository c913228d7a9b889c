"""Several worker processes under one command: a process that dies is restarted, and they appear as one.

This process imports what a worker needs, and forks: the processes share the memory for that. It has no other threads,
and no connection to a server. Each process runs the same command, with its number and ports (`WorkerProcess`) in the
environment. It serves health and metrics on its own ports, on loopback; the parent process aggregates them.
"""

import asyncio
import gc
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from swf_temporal.base.errors import UsageError
from swf_temporal.base.exit_codes import ExitCode
from swf_temporal.base.grammar import counted
from swf_temporal.base.stopping import stop_signal
from swf_temporal.expressions.guarding import guard
from swf_temporal.expressions.guarding.helper import WORKER_PROCESS, EvaluationLimits
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
_FIRST_OWN: Final = 3
"""The first file descriptor after those of the standard streams."""
_USUAL_HANDLERS: Final[Mapping[signal.Signals, Any]] = {
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGINT: signal.default_int_handler,
    signal.SIGCHLD: signal.SIG_DFL,
}
"""The handlers that a new process has for signals which this process handles itself."""
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
    pid: int | None = None
    """None unless it is running."""
    code: "asyncio.Future[int] | None" = None
    """Its exit code, or the negative number of the signal that killed it."""
    place: WorkerProcess | None = None
    was_ready: bool = False
    serves: str | None = None
    """Its answer to a health check once it is ready, with a digest of its definitions."""
    pause: float = _FIRST_PAUSE

    def start(self, work: Callable[[], int]) -> "asyncio.Future[int]":
        health, metrics = free_ports()
        self.place = WorkerProcess(self.number, self.count, health, metrics, os.getpid())
        self.serves = None
        self.code = asyncio.get_running_loop().create_future()
        self.pid = _forked(work, self.place)
        return self.code

    def notice_end(self) -> None:
        """Set its exit code if it has ended."""
        if self.pid is not None and self.code is not None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = None
                self.code.set_result(os.waitstatus_to_exitcode(status))

    def can_listen(self) -> bool:
        """Return whether the ports assigned to the process are still free, long before it listens there."""
        assert self.place is not None  # noqa: S101 - it was started
        with suppress(OSError):
            for port in (self.place.health_port, self.place.metrics_port):
                socket.create_server((LOOPBACK, port)).close()
            return True
        return False

    async def get(self, path: str, client: httpx.AsyncClient) -> httpx.Response | None:
        if self.place is None or self.pid is None:
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

    def stop(self, how: int = signal.SIGTERM) -> None:
        """Ask the process to end when its calls have ended, if it is running."""
        if self.pid is not None:
            os.kill(self.pid, how)


def _forked(work: Callable[[], int], place: WorkerProcess) -> int:
    """Do *work* in a new process at *place*, which ends with its exit code; return the id of the process."""
    gc.collect()
    gc.freeze()  # a collection would write to the shared memory
    signal.pthread_sigmask(signal.SIG_BLOCK, _USUAL_HANDLERS)
    pid = os.fork()
    if pid == 0:
        code: int = ExitCode.BUG
        try:
            # The event loop is not for this process, nor are its signals and sockets, nor Ctrl-C in a terminal.
            os.setsid()
            signal.set_wakeup_fd(-1)
            for number, usual in _USUAL_HANDLERS.items():
                if signal.getsignal(number) is not signal.SIG_IGN:
                    signal.signal(number, usual)
            asyncio._set_running_loop(None)  # noqa: SLF001 - documented for event loops
            os.closerange(_FIRST_OWN, os.sysconf("SC_OPEN_MAX"))
            os.environ[WORKER_PROCESS] = place.said()
            guard.configure(EvaluationLimits())  # its share of the cores
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _USUAL_HANDLERS)
            code = work()
        finally:
            os._exit(code)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _USUAL_HANDLERS)
    return pid


@dataclass(slots=True)
class Processes:
    """The processes that a command runs in."""

    work: Callable[[], int]
    """The work of each process, which returns the exit code."""
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
        asyncio.get_running_loop().add_signal_handler(signal.SIGCHLD, self._notice_ends)
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
            ended = child.start(self.work)
            watcher = asyncio.create_task(self._notice_ready(child))
            code = await asyncio.shield(ended)
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

    def _notice_ends(self) -> None:
        for child in self._children:
            child.notice_end()

    async def _end(self) -> None:
        """Ask all to stop, and wait for them: each has the grace period of its settings."""
        running = [one for one in self._children if one.pid is not None]
        for child in running:
            child.stop()
        try:
            await asyncio.gather(*(asyncio.shield(one.code) for one in running if one.code is not None))
        except asyncio.CancelledError:
            for child in running:
                child.stop(signal.SIGKILL)
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


async def supervised(settings: WorkerSettings, work: Callable[[], int]) -> int:
    """Do *work* in the number of processes in *settings*; return the exit code."""
    log_lines(settings.log_format, settings.log_level, uses_server=False)
    processes = Processes(work, wanted(settings.processes), settings.health_port, settings.metrics)
    return await processes.run()
