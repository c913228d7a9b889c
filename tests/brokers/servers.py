"""How are brokers started for the tests? Each from its own program, on free ports, in a folder of its own."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.cli.conftest import free_port
from tests.processes import ending_with_us

HOST = "127.0.0.1"
_PATH = os.pathsep.join(("/usr/lib/rabbitmq/bin", os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
"""Where programs are. What Debian has under the name of RabbitMQ's in the usual place can be started by root alone."""
_STARTING = 90.0
_STOPPING = 30.0


@dataclass(frozen=True)
class Server:
    port: int
    secure_port: int = 0
    """Where it wants TLS and credentials."""


def program(name: str, package: str) -> str:
    """Return where a broker's program is. A machine without it skips the test that asks, and says so."""
    path = shutil.which(name, path=_PATH)
    if path is None:
        pytest.skip(f"the broker {name} is not on this machine; on Debian: apt-get install {package}")
    return path


def free_ports(count: int) -> list[int]:
    """Return ports that nothing listens on, and that no server is given which asks for any."""
    ports: set[int] = set()
    while len(ports) < count:
        ports.add(free_port())
    return list(ports)


@contextmanager
def running(
    command: Sequence[str], ports: Sequence[int], log: Path, env: Mapping[str, str] | None = None, *,
    stop: int = signal.SIGTERM, **options: Any,
) -> Iterator[subprocess.Popen[bytes]]:  # fmt: skip
    """Run *command* until the context is left, from when it listens on all of *ports*."""
    with log.open("wb") as output:
        facts = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.STDOUT, **options}
        process = subprocess.Popen([*ending_with_us(), *command], env={**os.environ, **(env or {})}, **facts)
    try:
        for port in ports:
            _await_listening(port, process, log)
        yield process
    finally:
        process.send_signal(stop)
        try:
            process.wait(_STOPPING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def write_certificates(authority: trustme.CA, folder: Path) -> None:
    authority.cert_pem.write_to_path(folder / "ca.pem")
    authority.issue_cert(HOST, "localhost").private_key_and_cert_chain_pem.write_to_path(folder / "server.pem")


def _await_listening(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _STARTING
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError), socket.create_connection((HOST, port), 1):
            return
        time.sleep(0.05)
    tail = log.read_text(errors="replace")[-2000:]
    raise RuntimeError(f"{process.args!r} does not listen on port {port}:\n{tail}")


class Link:
    """A way to a broker that can be cut, as when a cable breaks, or blocked."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._writers: list[asyncio.StreamWriter] = []
        self.port = 0
        self.connections = 0
        """How many have been made."""
        self.answers = asyncio.Event()
        """Whether what the broker says comes through. It is kept as long as it does not."""
        self.answers.set()

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator["Link"]:
        server = await asyncio.start_server(self._lead, HOST, 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            self.cut()
            server.close()
            await server.wait_closed()

    async def _lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        far_reader, far_writer = await asyncio.open_connection(HOST, self._to)
        self._writers += [writer, far_writer]
        async with asyncio.TaskGroup() as directions:
            directions.create_task(_copy(reader, far_writer))
            directions.create_task(_copy(far_reader, writer, self.answers))


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_open: asyncio.Event | None = None
) -> None:
    with suppress(ConnectionError):
        while content := await reader.read(65536):
            if is_open is not None:
                await is_open.wait()
            writer.write(content)
            await writer.drain()
    writer.close()


@dataclass(frozen=True)
class Silent:
    """Something that listens, and never says a word."""

    port: int
    called: asyncio.Event
    """Whether somebody has connected."""


@asynccontextmanager
async def silent() -> AsyncIterator[Silent]:
    called = asyncio.Event()
    writers: list[asyncio.StreamWriter] = []

    def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        called.set()

    server = await asyncio.start_server(connected, HOST, 0)
    try:
        yield Silent(server.sockets[0].getsockname()[1], called)
    finally:
        for writer in writers:
            writer.transport.abort()
        server.close()
        await server.wait_closed()
