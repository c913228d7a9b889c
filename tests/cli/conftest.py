"""The command `swf`, in this process or one of its own, and one development server for the whole session."""

import asyncio
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from random import SystemRandom
from typing import IO, Any, NamedTuple, TypeVar

import pytest

from swf_temporal.cli.main import code_of
from tests.cli.forked import quick_command, run
from tests.definitions import definition
from tests.processes import ending_with_us

T = TypeVar("T")
COMMAND = [sys.executable, "-c", "from swf_temporal.cli.entry import main; main()"]
PATIENCE = 60

HELLO = definition("""\
id: hello
states:
  - {name: Say, type: inject, data: {greeting: "Hello ${ .name }!"}, end: true}
""")
WAITER = definition("""\
id: waiter
events: [{name: Paid up, type: com.paid, source: shop}]
states:
  - {name: Wait, type: event, onEvents: [{eventRefs: [Paid up]}], end: true}
""")
CALLER = definition("""\
id: caller
functions: [{name: double, type: custom, operation: double}]
states:
  - {name: Work, type: operation, actions: [{functionRef: {refName: double, arguments: {n: "${ .n }"}}}], end: true}
""")
FUNCTIONS = """\
from swf_temporal import Registry

registry = Registry()


@registry.custom("double")
def double(n):
    if not isinstance(n, int):
        raise ValueError("that is no number")
    return {"doubled": 2 * n}
"""
BROKEN = definition("""\
id: broken
states:
  - {name: Say, type: inject, data: {}, transition: Sya}
  - {name: Say it, type: inject, data: {}, end: true}
""")


class Ended(NamedTuple):
    code: int
    out: str
    err: str


@contextmanager
def hearing_ctrl_c() -> Iterator[None]:
    """Let the processes that are started here hear SIGINT, though the tests may run where it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Place:
    """A folder of its own for commands, which know of no server but those that they are told of."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TEMPORAL_", "SWF_"))}
        self.env = {**kept, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "NO_COLOR": "1"}

    def command(self) -> Sequence[str]:
        return COMMAND

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name

    @contextmanager
    def running(
        self, *arguments: str, command: Sequence[str] | None = None, stream: str = "stderr"
    ) -> Iterator["Running"]:
        """Run beside the test, which reads *stream*; what is still running at the end is killed."""
        command = self.command() if command is None else command
        with hearing_ctrl_c():
            process = subprocess.Popen(
                [*ending_with_us(), *command, *arguments], cwd=self.folder, env=self.env, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
        try:
            yield Running(process, stream=stream)
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()


_APART = frozenset({"dev", "worker", "gateway", "consume", "run"})
"""The commands that work, serve or start a server, and leave it to the end of their process to take that down."""


@contextmanager
def logging_as_it_is() -> Iterator[None]:
    root = logging.getLogger()
    loggers = [root, *(one for one in root.manager.loggerDict.values() if isinstance(one, logging.Logger))]
    before = [(one, one.level, one.propagate, one.disabled, one.handlers[:], one.filters[:]) for one in loggers]
    known = set(loggers)
    try:
        yield
    finally:
        for one, level, propagate, disabled, handlers, filters in before:
            one.setLevel(level)
            one.propagate, one.disabled = propagate, disabled
            one.handlers[:], one.filters[:] = handlers, filters
        for added in root.manager.loggerDict.values():
            if not isinstance(added, logging.Logger) or added in known:
                continue
            added.setLevel(logging.NOTSET)
            added.propagate, added.handlers[:], added.filters[:] = True, [], []


class Swf(Place):
    """Runs commands to their end, too: in this process, but for those that need one of their own."""

    def command(self) -> Sequence[str]:
        return quick_command()

    def __call__(self, *arguments: str, stdin: str = "", env: Mapping[str, str] | None = None) -> Ended:
        env = {**self.env, **(env or {})}
        if _is_apart(arguments, env):
            return Ended(*run(arguments, self.folder, env, stdin, PATIENCE))
        given = TextIOWrapper(BytesIO(stdin.encode()), "utf-8")
        out, err = (TextIOWrapper(BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with pytest.MonkeyPatch.context() as patched, redirect_stdout(out), redirect_stderr(err), logging_as_it_is():
            patched.setattr(sys, "stdin", given)
            patched.chdir(self.folder)
            for name in os.environ.keys() - env.keys():
                patched.delenv(name)
            for name, value in env.items():
                patched.setenv(name, value)
            code = code_of(arguments)
        return Ended(code, *(one.buffer.getvalue().decode() for one in (out, err)))

    def refused(self, *arguments: str, stdin: str = "", env: Mapping[str, str] | None = None) -> str:
        """Return what is said of a mistake: on stderr alone, without a traceback, with exit code 2."""
        ended = self(*arguments, stdin=stdin, env=env)
        assert (ended.code, ended.out, "Traceback" in ended.err) == (2, "", False), ended
        return ended.err


def _is_apart(arguments: Sequence[str], env: Mapping[str, str]) -> bool:
    if not arguments or any(name.startswith(("OTEL_", "_SWF_COMPLETE", "SWF_SERVER_TIMEOUT")) for name in env):
        return True
    if threading.current_thread() is not threading.main_thread():  # where no signal can be heard
        return True
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        return True
    name = arguments[0]
    return (name in _APART and "--simulate" not in arguments) or (name == "test" and "--host" in arguments)


class On:
    """Runs commands on the server of `swf dev`; none of them may end in a traceback."""

    def __init__(self, swf: Swf, dev: "Dev") -> None:
        self.swf = swf
        self.env = {"TEMPORAL_ADDRESS": dev.address}

    def __call__(self, *arguments: str) -> Ended:
        ended = self.swf(*arguments, env=self.env)
        assert "Traceback" not in ended.err
        return ended

    def json(self, *arguments: str) -> Any:
        code, out, err = self(*arguments, "--output", "json")
        assert code == 0, err
        return json.loads(out)

    def refused(self, *arguments: str) -> str:
        return self.swf.refused(*arguments, env=self.env)

    def until(self, holds: Callable[[Ended], bool], *arguments: str) -> Ended:
        """Return what a command says, once that is what is waited for: the lists of a server are a moment behind."""
        return until(lambda: self(*arguments), holds)


def until(look: Callable[[], T], holds: Callable[[T], object] = bool) -> T:
    """Look again and again, until what is seen is what is waited for; return that."""
    end = time.monotonic() + PATIENCE
    while not holds(seen := look()):
        assert time.monotonic() < end, seen
        time.sleep(0.02)
    return seen


@dataclass
class Running:
    process: subprocess.Popen[str]
    output: str = ""
    stream: str = "stderr"

    def until(self, text: str) -> str:
        lines: IO[str] = getattr(self.process, self.stream)
        for line in lines:
            self.output += line
            if text in line:
                return line
        pytest.fail(f"it ended without writing {text!r}, but wrote:\n{self.output}")

    def stop(self, number: signal.Signals) -> Ended:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return Ended(self.process.returncode, out, self.output + err)


@pytest.fixture
def swf(tmp_path: Path) -> Swf:
    command = Swf(tmp_path)
    command.write("hello.yaml", HELLO)
    command.write("waiter.yaml", WAITER)
    command.write("caller.yaml", CALLER)
    command.write("functions.py", FUNCTIONS)
    return command


@pytest.fixture
def on(swf: Swf, dev: "Dev") -> On:
    return On(swf, dev)


@dataclass(frozen=True)
class Dev:
    address: str
    folder: Path
    log: Path

    def until(self, text: str) -> str:
        """Return what it has said, once *text* is in it."""
        return until(self.log.read_text, lambda said: text in said)


@pytest.fixture(scope="session")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    """Return `swf dev` over a folder of definitions, on free ports; told to stop it ends with 0 and leaves nothing."""
    folder = tmp_path_factory.mktemp("dev")
    command = Place(folder)
    for name, text in (("hello.yaml", HELLO), ("waiter.yaml", WAITER), ("caller.yaml", CALLER)):
        command.write(name, text)
    command.write("functions.py", FUNCTIONS)
    port, ui_port = free_port(), free_port()
    with (folder / "log").open("w") as log:
        process = _dev(command, port, ui_port, log)
        running = Dev(f"127.0.0.1:{port}", folder, folder / "log")
        try:
            running.until("ready")
            yield running
        finally:
            process.send_signal(signal.SIGTERM)
            code = process.wait(PATIENCE)
    assert code == 0, running.log.read_text()
    assert not listens(port)
    assert not listens(ui_port)


def _dev(command: Place, port: int, ui_port: int, log: IO[str]) -> subprocess.Popen[str]:
    ports = ["--port", str(port), "--ui-port", str(ui_port)]
    arguments = ["dev", "--functions", "functions.py", *ports, "--sonataflow-api"]
    return subprocess.Popen(
        [*ending_with_us(), *quick_command(), *arguments], cwd=command.folder, env=command.env, stdout=log, stderr=log,
        text=True,
    )  # fmt: skip


def free_port() -> int:
    """Return a port on the loopback address that nothing listens on, and that no server is given which asks for any."""
    while True:
        port = SystemRandom().randrange(10_000, 30_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def listens(port: int, host: str = "127.0.0.1") -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) == 0


def answer_of(port: int, path: str) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=10) as answer:
            status: int = answer.status
            return status
    except urllib.error.HTTPError as error:
        with error:
            return error.code
