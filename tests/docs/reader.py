"""Somebody who follows a page: writes its files, types its commands, and compares what is printed."""

import os
import re
import select
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.conftest import free_port
from tests.cli.forked import quick_command
from tests.docs.pages import APART, ROOT, Block, Command, blocks_of, of_the_checkout
from tests.processes import ending_with_us

PATIENCE = 90
"""Seconds that a command may take; machines are busy."""

A_WHILE = 30
"""Seconds after which everybody sees what was done, and a program in another terminal has said what it has to say."""

_CTRL_C = "^C\n"

PLACEHOLDERS = (
    (
        re.compile(r"(?!2020)\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|\+00:00)?"),
        "TIME",
    ),  # 2020 is over: what is said of that year stays so
    (re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "RUN"),
    (re.compile(r"(?<=/)[0-9a-f]{12}(?=/)"), "RUN"),
    (re.compile(r"(?<=[a-z]-)[0-9a-f]{8}\b"), "ID"),
    (re.compile(r"(?:127\.0\.0\.1|localhost):\d{4,5}"), "HOST:PORT"),
    (re.compile(r"(?:\b\d+|(?<=\bby )[\w.-]+)@[\w.-]+"), "PROCESS"),
    (re.compile(r" --address HOST:PORT"), ""),  # the reader's server listens at the usual port, the test's elsewhere
    (re.compile(r"^no worker has started it yet: .* 'swf'\?\n", re.MULTILINE), ""),  # within two seconds; it is busy
    (re.compile(r" +$", re.MULTILINE), ""),
)
"""What is another each time: what it looks like, and what stands for it when two outputs are compared.

Times of 2020 are compared: nothing happens then any more, so pages say what would.
"""

USUAL = "localhost:7233"
"""The server's address in the pages. The test has another, and puts it there."""

FUNCTION = "8081"
"""The port of a function that a page serves. The test has another, and puts it there and into what is written."""

GATEWAY = ":8080"
"""Where the gateway listens in the pages. The test has another port, and puts it there."""

SERVERS = {
    "swf dev": ("ready: ", ""),
    "swf worker": ("working for ", ""),
    "swf serve-function": ("http://", ""),
    "python3 receiver.py": ("receiving", ""),
    "python3 service.py": ("serving", ""),
    "uvicorn ": ("Uvicorn running on ", ""),
    "temporal server start-dev": ("Server: ", " --port {port} --ui-port {ui_port}"),
}
"""What runs on, in a terminal of its own: what it says when it is ready, and what the test has to add to what is typed.

`swf dev` needs nothing: its ports come from variables as well.
"""


LOOKS = ("swf status", "swf list", "swf tasks list", "swf tasks show", "swf events explain")
"""What only looks: a test is quicker than a reader, so it looks again until it sees what the page shows."""

QUIET = ("pip ", "python3 -m venv", "temporal server start-dev", "uvicorn ")
"""What prints more than a page should show, so that only its exit code counts."""


def comparable(text: str) -> str:
    for pattern, name in PLACEHOLDERS:
        text = pattern.sub(name, text)
    return text.strip("\n")


@dataclass(frozen=True)
class Comparison:
    """What a page says is printed, and what is."""

    where: str
    typed: str
    expected: str
    printed: str

    @property
    def holds(self) -> bool:
        """Whether both say the same, but for what is another each time."""
        return comparable(self.expected) == comparable(self.printed)

    def __str__(self) -> str:
        return f"{self.where}: {self.typed}\n--- the page says\n{self.expected}\n--- what is printed\n{self.printed}\n"


class Terminal:
    """A shell in which one command is typed after the other."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._shell = subprocess.Popen(
            [*ending_with_us(), "bash", "--noprofile", "--norc"], cwd=folder, env=dict(env), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def type(self, command: str, patience: float = PATIENCE) -> tuple[int, str]:
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"{{ {command}\n}} < /dev/null; printf '\\0%d\\n' $?\n".encode())
        self._shell.stdin.flush()
        printing = select.poll()
        printing.register(self._shell.stdout, select.POLLIN)
        read, end = b"", time.monotonic() + patience
        while not re.search(rb"\0\d+\n$", read):
            assert printing.poll(max(0, end - time.monotonic()) * 1000), f"it did not end: {command}\n{read.decode()}"
            fresh = os.read(self._shell.stdout.fileno(), 65536)
            assert fresh, f"the shell ended: {command}\n{read.decode()}"
            read += fresh
        printed, _, code = read.decode().rpartition("\0")
        return int(code), printed

    def variables(self) -> dict[str, str]:
        pairs = self.type("env -0 | tr '\\0' '\\1'")[1].split("\1")
        return dict(pair.split("=", 1) for pair in pairs if "=" in pair)

    def close(self) -> None:
        self._shell.kill()
        self._shell.communicate()


@dataclass
class Background:
    """A command that runs in a terminal of its own."""

    typed: str
    process: subprocess.Popen[bytes]
    log: Path
    read: int = 0

    def until(self, text: str, patience: float = PATIENCE) -> str:
        end = time.monotonic() + patience
        while True:
            ended = self.process.poll() is not None
            fresh = self.log.read_text(encoding="utf-8")[self.read :]
            if comparable(text) in comparable(fresh) or ended or time.monotonic() > end:
                return fresh
            time.sleep(0.05)

    def seen(self, text: str) -> str:
        self.read += len(text)
        return text

    def stop(self) -> None:
        """Stop it as Ctrl-C would, by a signal that nobody who starts a test can have it ignore."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


@dataclass
class Reader:
    """A folder, a terminal, what runs in others, and what was compared."""

    folder: Path
    terminal: Terminal
    ports: dict[str, int]
    written: str = ""
    running: list[Background] = field(default_factory=list)
    compared: list[Comparison] = field(default_factory=list)

    def follow(self, block: Block) -> None:
        if block.language == "console":
            for command in block.commands:
                self.do(command)
        elif block.language == "diff":
            self._change(block)
        elif block.language == "text":
            self._look(block)
        else:
            assert block.file, f"{block.where}: the paragraph before does not say which file this is"
            self._write(block.file, block.text)

    def do(self, command: Command) -> None:
        for server in SERVERS:
            if command.typed.startswith(server):
                self._start(command, server)
                return
        typed, end = self._on_our_server(command.typed), time.monotonic() + A_WHILE
        code, printed = self.terminal.type(typed)
        while command.typed.startswith(LOOKS) and comparable(printed) != comparable(command.printed):
            if time.monotonic() > end:
                break
            code, printed = self.terminal.type(typed)
        if command.typed.startswith(QUIET):
            assert not command.printed, f"{command.where}: what this prints is too much for a page"
            assert not code, f"{command.where}: exit code {code}\n{printed}"
            return
        if code and not printed:
            printed = f"exit code {code}"
        self._compare(command.where, f"$ {command.typed}", command.printed, printed)

    def _start(self, command: Command, server: str) -> None:
        ready, added = SERVERS[server]
        log = self.folder.parent / f"{self.folder.name}-{len(self.running)}.log"
        env = self.terminal.variables()
        typed = self._on_our_server(command.typed).partition("#")[0] + added.format(**self.ports)
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*ending_with_us(), "bash", "-c", f"exec {typed}"],
                cwd=self.folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            )  # fmt: skip
        started = Background(command.typed, process, log)
        self.running.append(started)
        started.until(ready)
        printed = started.until(command.printed, 0 if server in QUIET else A_WHILE)
        if command.printed and comparable(printed).startswith(comparable(command.printed)):
            # It may go on at once with what it logs; the page shows that where it wants to.
            printed = "".join(printed.splitlines(keepends=True)[: len(command.printed.splitlines())])
        started.seen(printed)
        if server not in QUIET or ready not in printed:
            self._compare(command.where, f"$ {command.typed}", command.printed, printed)
        if server not in ("swf worker", "swf serve-function", "python3 receiver.py", "python3 service.py", "uvicorn "):
            self.terminal.type(f"export TEMPORAL_ADDRESS=localhost:{self.ports['port']}")

    def _look(self, block: Block) -> None:
        """Look at what the terminal that was opened last has printed since."""
        latest, (before, ctrl_c, after) = self.running[-1], block.text.partition(_CTRL_C)
        printed = latest.seen(latest.until(before, A_WHILE))
        if ctrl_c:
            latest.stop()
            self.terminal.type("unset TEMPORAL_ADDRESS")
            printed += ctrl_c + latest.seen(latest.until(after, A_WHILE))
        self._compare(block.where, latest.typed, block.text, printed)

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = text.replace(FUNCTION, str(self.ports["function_port"]))
        path.write_text(text.replace(GATEWAY, f":{self.ports['gateway_port']}"), encoding="utf-8")
        self.written = name

    def _change(self, block: Block) -> None:
        """Change the file that is named, or was written last: lines with a minus to those with a plus after them."""
        name = block.file or self.written
        text = (self.folder / name).read_text(encoding="utf-8")
        for old, new in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", block.text, re.MULTILINE):
            before, after = (re.sub(r"^[-+]", "", part, flags=re.MULTILINE) for part in (old, new))
            assert text.count(before) == 1, f"{block.where}: {name} does not have once\n{before}"
            text = text.replace(before, after)
        self._write(name, text)
        code, printed = self.terminal.type(f"swf validate --strict {name}")
        assert not code, f"{block.where}: after this change {name} is not right\n{printed}"

    def _on_our_server(self, typed: str) -> str:
        ours = typed.replace(USUAL, f"localhost:{self.ports['port']}")
        ours = ours.replace(GATEWAY, f":{self.ports['gateway_port']}")
        return ours.replace(FUNCTION, str(self.ports["function_port"]))

    def _compare(self, where: str, typed: str, expected: str, printed: str) -> None:
        self.compared.append(Comparison(where, typed, expected.strip("\n"), printed.strip("\n")))


def follow(reader: Reader, blocks: list[Block]) -> None:
    """Follow the blocks; whatever was not as the page says is told in one."""
    for block in blocks:
        reader.follow(block)
    told = "\n".join(str(one) for one in reader.compared if not one.holds)
    assert not told, f"\n{told}\nIf this is meant: python -m tests.docs.refresh {blocks[0].page} puts it into the page"


def follow_page(page: str, folder: Path, *, apart: bool = False, quick: bool = True) -> int:
    """Follow *page*, or its section that is followed apart, from an empty folder, with an empty environment.

    Each command prints what the page says, or an assertion fails. Return how many blocks were followed. If it is
    *quick*, `swf` is a copy of a process that has imported it.
    """
    of_page = [block for block in blocks_of(page) if apart or not of_the_checkout(block)]
    blocks = [block for block in of_page if (block.heading == APART.get(page)) is apart]
    with reading(folder, quick=quick) as reader:
        follow(reader, blocks)
    return len(blocks)


@contextmanager
def reading(folder: Path, variables: Mapping[str, str] | None = None, *, quick: bool = False) -> Iterator[Reader]:
    """Give a reader an empty folder and a terminal that knows `swf` and no settings; stop what he started."""
    home, here = folder / "home", folder / "here"
    home.mkdir()
    here.mkdir()
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}{os.pathsep}/usr/local/bin"
    if quick:
        swf = folder / "bin" / "swf"
        swf.parent.mkdir()
        swf.write_text(f'#!/bin/sh\nexec {shlex.join(quick_command())} "$@"\n')
        swf.chmod(0o755)
        programs = f"{swf.parent}{os.pathsep}{programs}"
    port = _free_ports()
    ports = {"port": port, "ui_port": port + 1000, "function_port": free_port(), "gateway_port": free_port()}
    env = {
        "HOME": str(home),
        "PATH": programs,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        **({} if quick else {"PYTHONPATH": str(ROOT)}),  # the environment of Python may have another checkout installed
        "SWF_DEV_PORT": str(ports["port"]),
        "SWF_DEV_UI_PORT": str(ports["ui_port"]),
        "SWF_DEV_GATEWAY_PORT": str(ports["gateway_port"]),
        **(variables or {}),
    }
    terminal = Terminal(here, env)
    reader = Reader(here, terminal, ports)
    try:
        yield reader
    finally:
        for started in reversed(reader.running):
            if started.process.poll() is None:
                started.stop()
        terminal.close()


def _free_ports() -> int:
    """Return a port on the loopback address that is free, and so is the one where a server there has its UI."""
    while True:
        port = free_port()
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port + 1000))
            return port
