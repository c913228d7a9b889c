"""Runs jq, and other engines, so that it cannot stop, kill or read this process.

Theory of operation. jq is C code that holds Python's interpreter lock while it works: an endless program
would freeze every thread here, and a value nested deeply enough would end the process. So jq is never loaded
here. A pool of small helper processes runs it; a call is one request and one answer over a pair of pipes, and
other threads go on meanwhile. Helpers start when they are first needed, are reused last in first out, and die
by themselves when their standard input closes.

Three limits hold for one call. Processor time: a timer in the helper, whose signal ends it; processor time,
because a busy machine should not change what an expression yields. Memory: the helper's address space. Size
of the output: counted by the helper. Time on the clock is a backstop, several times as long. A helper that
went beyond a limit, or died in any other way, is replaced at the next call, and the caller meets
ExpressionLimitExceeded.

JavaScript, JSON Schemas with patterns, and JSONPath run in helpers of their own, in the same way.

Helpers are started as programs and never forked, since threads are running when the first is needed. Their
environment is empty but for the locale and the time zone.
"""

import atexit
import contextlib
import importlib.util
import os
import select
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from swf_temporal.errors import ExpressionLimitExceeded
from swf_temporal.guarding import jq_process

_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
_CLOCK_ALLOWANCE = 10
_STARTING_SECONDS = 30
_LOOK = 0.25
"""Seconds after which a waiting thread looks whether it is to wait on: an exception may have been raised in it."""
_SPARE = 4
"""How many times as many helpers there are as may work at once without being slowed down."""
_SLOW = 0.1
"""Seconds after which a helper at work lets others go first."""
_LOWER_PRIORITY = 4


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one evaluation may take, and how many may run at once."""

    seconds: float = 1.0
    """Of processor time."""
    memory: int = 1 << 30
    """Bytes of address space, jq and Python included."""
    output: int = 8 << 20
    """Characters of JSON, all outputs together."""
    processes: int = os.cpu_count() or 1


class Engine(NamedTuple):
    """What evaluates expressions in a helper process."""

    name: str
    module: str
    package: str
    """What brings the module."""
    file: str | None = None
    """What drives it in the helper, if that is not jq."""
    is_python: bool = False
    """Whether it is written in Python, and needs other packages, and ours."""


_PACKAGE = Path(__file__).parents[1]
JQ = Engine("jq", "jq", "jq")
JAVASCRIPT = Engine("JavaScript", "_quickjs", "quickjs-ng", str(_PACKAGE / "expressions" / "js_process.py"))
SCHEMAS = Engine(
    "JSON Schema", "jsonschema", "jsonschema", str(_PACKAGE / "schema_checking" / "schema_process.py"), is_python=True
)
JSONPATH = Engine(
    "JSONPath", "jsonpath", "python-jsonpath", str(_PACKAGE / "expressions" / "jsonpath_process.py"), is_python=True
)


class Spent:
    """Processor time of helpers that answered one thread."""

    def __init__(self) -> None:
        self.seconds = 0.0


class _Here(threading.local):
    def __init__(self) -> None:
        self.spent = Spent()


_here = _Here()


def spent_here() -> Spent:
    """Return the account of the helpers' processor time for the thread that asks; others may read it, too."""
    return _here.spent


class Answer(NamedTuple):
    """What the engine said: one of the statuses of `jq_process`, and the outputs or the message."""

    status: int
    text: str


class Guard:
    """A pool of helper processes that run an engine. May be used from several threads at once."""

    def __init__(self, limits: Limits | None = None, engine: Engine = JQ) -> None:
        self.limits = limits or Limits()
        self.engine = engine
        self._idle: list[_Helper] = []
        self._running = 0
        self._generation = 0
        self._changed = threading.Condition()

    def run(self, program: str, data: str | None) -> Answer:
        """Run *program* on the JSON text *data*, or only compile it where that is None.

        Raises ExpressionLimitExceeded where an evaluation takes more than it may, and ModuleNotFoundError where the
        engine is not installed.
        """
        helper = self._take()
        try:
            answer = helper.ask(program, data)
        except BaseException:
            helper.end()
            self._give_back(None)
            raise
        if helper.is_last():
            helper.end()
            self._give_back(None)
        else:
            self._give_back(helper)
        if answer.status == jq_process.TOO_LARGE:
            raise ExpressionLimitExceeded(f"an expression yielded more than {_size(self.limits.output)}")
        if answer.status == jq_process.OUT_OF_MEMORY:
            raise ExpressionLimitExceeded(f"an expression took more than {_size(self.limits.memory)} of memory")
        return answer

    def start(self) -> None:
        """Start one helper ahead of its first use."""
        self._give_back(self._take())

    def stop(self) -> None:
        """End the helpers, those at work when they have answered. A later call starts new ones."""
        with self._changed:
            idle, self._idle = self._idle, []
            self._running -= len(idle)
            self._generation += 1
            self._changed.notify_all()
        for helper in idle:
            helper.end()

    def _take(self) -> "_Helper":
        with self._changed:
            # Those at work may be slow ones, for which others need not wait long.
            most = self.limits.processes
            while not self._idle and self._running >= most:
                if not self._changed.wait(_LOOK):
                    most = self.limits.processes * _SPARE
            while self._idle:
                helper = self._idle.pop()
                if helper.is_alive():
                    return helper
                helper.end()  # something else killed it while it was idle
                self._running -= 1
            self._running += 1
            generation = self._generation
        try:
            return _Helper(self.engine, self.limits, generation)
        except BaseException:
            self._give_back(None)
            raise

    def _give_back(self, helper: "_Helper | None") -> None:
        with self._changed:
            if helper is not None and helper.generation == self._generation:
                self._idle.append(helper)
                helper = None
            else:
                self._running -= 1
            self._changed.notify()
        if helper is not None:
            helper.end()


class _Helper:
    """One helper process, as its parent sees it."""

    def __init__(self, engine: Engine, limits: Limits, generation: int) -> None:
        self.generation = generation
        self._limits = limits
        self._is_behind = False
        # Of the environment's packages the helper sees the engine's folder alone, so it starts as fast as Python can.
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
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)
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

    def ask(self, program: str, data: str | None) -> Answer:
        deadline = time.monotonic() + self._limits.seconds * _CLOCK_ALLOWANCE
        request = program.encode()
        body = None if data is None else data.encode()
        size = jq_process.NO_INPUT if body is None else len(body)
        try:
            self._send(jq_process.REQUEST.pack(len(request), size) + request + (body or b""), deadline)
            return self._await_answer(deadline)
        except (BrokenPipeError, EOFError):
            _here.spent.seconds += self._limits.seconds
            raise ExpressionLimitExceeded(self._cause_of_death()) from None

    def is_last(self) -> bool:
        """Tell whether the helper cannot be as quick as before, because it had to let others go first."""
        if self._is_behind:
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self._process.pid, 0)
                self._is_behind = False
        return self._is_behind

    def _await_answer(self, deadline: float, *, lets_others_go_first: bool = True) -> Answer:
        if lets_others_go_first and not self._readable.poll(_SLOW * 1000):
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self._process.pid, _LOWER_PRIORITY)
                self._is_behind = True
        status, seconds, length = jq_process.ANSWER.unpack(self._receive(jq_process.ANSWER.size, deadline))
        _here.spent.seconds += seconds
        return Answer(status, self._receive(length, deadline).decode())

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
        while not poll.poll(max(0.0, min(_LOOK, deadline - time.monotonic())) * 1000):
            if time.monotonic() >= deadline:
                raise ExpressionLimitExceeded(self._too_long())

    def _too_long(self) -> str:
        return f"an expression ran longer than {self._limits.seconds:g} s"

    def _cause_of_death(self) -> str:
        code = self._process.wait()
        if code == -signal.SIGPROF:
            return self._too_long()
        if code == -signal.SIGSEGV:
            return "an expression built a value that is nested too deeply"
        if code == -signal.SIGABRT:
            return f"an expression took more than {_size(self._limits.memory)} of memory"
        return f"an expression ended the process that evaluated it (exit code {code})"


def _folder_of(engine: Engine) -> str:
    found = importlib.util.find_spec(engine.module)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"the package {engine.package!r} is not installed", name=engine.module)
    if engine.is_python:
        return os.pathsep.join(path for path in sys.path if Path(path).is_absolute() and Path(path).is_dir())
    return str(Path(found.origin).parent)


def _size(amount: int) -> str:
    return f"{amount / (1 << 20):g} MiB"


_guards = {engine: Guard(engine=engine) for engine in (JQ, JAVASCRIPT, SCHEMAS, JSONPATH)}


def guard(engine: Engine = JQ) -> Guard:
    """Return the pool that expressions of *engine* use."""
    return _guards[engine]


def configure(limits: Limits) -> None:
    """Use *limits* from the next evaluation on."""
    for engine, old in _guards.items():
        _guards[engine] = Guard(limits, engine)
        old.stop()


def start() -> None:
    """Start a helper ahead of the first evaluation by jq: most definitions need no other."""
    _guards[JQ].start()


def stop() -> None:
    """End the helpers; a later evaluation starts new ones."""
    for pool in _guards.values():
        pool.stop()


atexit.register(stop)
