"""One helper process, as its parent sees it: see `guard`."""

import contextlib
import importlib.util
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from swf_temporal.base.accounting import current_account
from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.expressions.guarding import jq_process

_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
_CLOCK_ALLOWANCE = 10
_STARTING_SECONDS = 30
LOOK = 0.25
"""The interval, in seconds, at which a waiting thread wakes up: an exception may have been raised in it."""
_SLOW = 0.1
"""The time, in seconds, after which a helper at work yields to others."""
_LOWER_PRIORITY = 4
"""The increase of its nice value then, relative to that of the worker, which an operator may have set."""


WORKER_PROCESS: Final = "SWF_WORKER_PROCESS"
"""The variable for the number of a process of `swf worker --processes`, and the number of processes."""


def _share_of_cores() -> int:
    """Return the number of cores for each process of a worker, of which several may share the machine."""
    processes = int(os.environ.get(WORKER_PROCESS, "1/1").split("/")[1])
    return max(1, (os.cpu_count() or 1) // processes)


@dataclass(frozen=True, slots=True)
class EvaluationLimits:
    """The limits of one evaluation, and of the number that run at once."""

    seconds: float = 1.0
    """The limit of processor time."""
    memory: int = 1 << 30
    """The limit of address space in bytes, including jq and Python."""
    output: int = 8 << 20
    """The limit of all outputs together, in characters of JSON."""
    processes: int = field(default_factory=_share_of_cores)


class Engine(NamedTuple):
    """An engine that evaluates expressions in a helper process."""

    name: str
    module: str
    package: str
    """The package that contains the module."""
    file: str | None = None
    """The file that drives it in the helper, unless it is jq."""
    is_python: bool = False
    """Whether it is written in Python, and needs other packages, including ours."""


class EngineAnswer(NamedTuple):
    """The engine's answer: a status of `jq_process`, and the outputs or the message."""

    status: int
    text: str


class OutOfMemoryBefore(Exception):  # noqa: N818 - named for what happened
    """An evaluation took too much memory in a helper that still held some from earlier ones."""


class Helper:
    """One helper process, as its parent sees it."""

    def __init__(self, engine: Engine, limits: EvaluationLimits, generation: int) -> None:
        self.generation = generation
        self._limits = limits
        self._usual_priority: int | None = None
        self._asked = 0
        self._is_done = False
        # The helper sees only the engine's folder of all installed packages, so it starts as fast as Python can.
        command = [sys.executable, "-I", "-S", jq_process.__file__, _folder_of(engine)]
        driver = [] if engine.file is None else [engine.file]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter on our own file
            [*command, str(limits.seconds), str(limits.memory), str(limits.output), *driver],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_ENVIRONMENT,
            cwd="/",
            bufsize=0,
        )
        assert self._process.stdin is not None  # noqa: S101 - Popen was asked for both pipes
        assert self._process.stdout is not None  # noqa: S101 - as above
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)  # a request may be larger than the pipe
        self._writable, self._readable = select.poll(), select.poll()
        self._writable.register(self._to, select.POLLOUT)
        self._readable.register(self._from, select.POLLIN)
        try:
            self._await_answer(time.monotonic() + _STARTING_SECONDS, lets_others_go_first=False)
        except (EOFError, ExpressionLimitExceeded):
            self.end()
            code = self._process.returncode
            raise RuntimeError(f"the process that runs {engine.name} did not start (exit code {code})") from None

    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def was_fresh(self) -> bool:
        """Return whether the latest evaluation was the first."""
        return self._asked <= 1

    def ask(self, program: str, data: str | None) -> EngineAnswer:
        """Return its answer: see `Guard.run`. Raises OutOfMemoryBefore if a fresh helper may succeed."""
        self._asked += 1
        deadline = time.monotonic() + self._limits.seconds * _CLOCK_ALLOWANCE
        request = program.encode()
        body = None if data is None else data.encode()
        size = jq_process.NO_INPUT if body is None else len(body)
        try:
            self._send(jq_process.REQUEST.pack(len(request), size) + request, deadline)
            if body:
                self._send(body, deadline)
            return self._await_answer(deadline)
        except ExpressionLimitExceeded:  # by wall-clock time: its processor time is unknown
            current_account().seconds += self._limits.seconds
            raise
        except (BrokenPipeError, EOFError):
            current_account().seconds += self._limits.seconds
            cause = self._cause_of_death()
            if cause.is_memory and not self.was_fresh:
                raise OutOfMemoryBefore(cause.text) from None
            raise ExpressionLimitExceeded(cause.text) from None

    def is_last(self) -> bool:
        """Return whether it should be replaced: it holds much memory, or runs with a lower priority."""
        if self._usual_priority is not None:
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self._process.pid, self._usual_priority)
                self._usual_priority = None
        return self._usual_priority is not None or self._is_done

    def _await_answer(self, deadline: float, *, lets_others_go_first: bool = True) -> EngineAnswer:
        if lets_others_go_first and not self._readable.poll(_SLOW * 1000):
            with contextlib.suppress(OSError):
                usual = os.getpriority(os.PRIO_PROCESS, self._process.pid)
                os.setpriority(os.PRIO_PROCESS, self._process.pid, usual + _LOWER_PRIORITY)
                self._usual_priority = usual
        status, seconds, length = jq_process.ANSWER.unpack(self._receive(jq_process.ANSWER.size, deadline))
        current_account().seconds += seconds
        self._is_done = bool(status & jq_process.LAST)
        return EngineAnswer(status & ~jq_process.LAST, self._receive(length, deadline).decode())

    def end(self) -> None:
        """Kill the process, and leave nothing of it behind."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _send(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._to, view) :]
            except BlockingIOError:
                self._wait(self._writable, deadline)

    def _receive(self, size: int, deadline: float) -> bytes:
        parts: list[bytes] = []
        while size:
            self._wait(self._readable, deadline)
            part = os.read(self._from, min(size, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _wait(self, poll: select.poll, deadline: float) -> None:
        while not poll.poll(max(0.0, min(LOOK, deadline - time.monotonic())) * 1000):
            if time.monotonic() >= deadline:
                raise ExpressionLimitExceeded(self._too_long())

    def _too_long(self) -> str:
        return f"an expression ran longer than {self._limits.seconds:g} s"

    def _cause_of_death(self) -> "_CauseOfDeath":
        code, most = self._process.wait(), size_text(self._limits.memory)
        if code == -signal.SIGPROF:
            return _CauseOfDeath(self._too_long())
        if code == -signal.SIGSEGV:
            return _CauseOfDeath("an expression built a value that is nested too deeply")
        if code == -signal.SIGABRT:
            return _CauseOfDeath(f"an expression took more than {most} of memory", is_memory=True)
        return _CauseOfDeath(f"an expression ended the process that evaluated it (exit code {code})")


class _CauseOfDeath(NamedTuple):
    text: str
    is_memory: bool = False


def _folder_of(engine: Engine) -> str:
    found = importlib.util.find_spec(engine.module)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"the package {engine.package!r} is not installed", name=engine.module)
    if engine.is_python:
        return os.pathsep.join(path for path in sys.path if Path(path).is_absolute() and Path(path).is_dir())
    return str(Path(found.origin).parent)


def size_text(amount: int) -> str:
    return f"{amount / (1 << 20):g} MiB"
