"""Where is a Temporal server to be had: one that runs already, or one that we start?"""

import asyncio
import os
import shutil
import socket
import sys
import sysconfig
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment

from swf_temporal.errors import UsageError
from swf_temporal.temporal.converter import CONVERTER

QUICK = (
    "--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000",
    "--dynamic-config-value", "history.timerProcessorMaxPollRPS=2000",
    "--dynamic-config-value", 'history.timerProcessorMaxTimeShift="1ms"',
)  # fmt: skip
"""What makes the development server answer in milliseconds, and its timers exact below a second."""

DEFAULT_PORT = 7233
DEFAULT_UI_PORT = 8233

_TRIES = 600
_PAUSE = 0.025
"""Seconds between two looks at a server that is starting."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers, and where its UI is."""

    client: Client
    ui: str | None

    def link(self, workflow_id: str, run_id: str | None = None) -> str | None:
        """Return the address of a run in the UI."""
        if self.ui is None:
            return None
        where = f"{self.ui}/namespaces/{self.client.namespace}/workflows/{workflow_id}"
        return f"{where}/{run_id}/history" if run_id else where


@asynccontextmanager
async def local_server(
    *,
    port: int | None = None,
    ui_port: int | None = None,
    database: Path | None = None,
    extra: Sequence[str] = (),
) -> AsyncIterator[Server]:
    """Start a development server for as long as the context lasts; free ports are chosen where none are given.

    With *database* the server remembers its workflows from one start to the next. Raises UsageError if a port is
    taken or no server program can be found.
    """
    for one, option in ((port, "--port"), (ui_port, "--ui-port")):
        if one is not None and not is_free(one):
            raise UsageError(f"port {one} is taken", f"stop what listens there, or choose another with {option}")
    port, ui_port = port or free_port(), ui_port or free_port()
    if database is not None:
        try:
            database.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"there can be no folder {database.parent}: {error.strerror}", "see --db") from None
    program = find_program()
    if program is None:
        async with _downloaded(port, ui_port, database, extra) as client:
            yield Server(client, f"http://127.0.0.1:{ui_port}")
        return
    command = [
        program,
        "server",
        "start-dev",
        "--ip",
        "127.0.0.1",
        "--port",
        str(port),
        "--ui-port",
        str(ui_port),
    ]
    command += ["--log-level", "error", *QUICK, *extra]
    if database is not None:
        command += ["--db-filename", str(database)]
    # A session of its own: Ctrl-C is to end the worker first, and the server only when nobody needs it any more.
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=DEVNULL, stderr=PIPE, start_new_session=True
    )
    try:
        yield Server(await _ready(process, port), f"http://127.0.0.1:{ui_port}")
    finally:
        await _stop(process, gently=database is not None)


async def _ready(process: Process, port: int) -> Client:
    """Return a client as soon as the server answers. Raises UsageError with what it said if it ended instead."""
    for _ in range(_TRIES):
        if process.returncode is not None:
            said = (await process.stderr.read()).decode(errors="replace").strip() if process.stderr else ""
            raise UsageError(f"the Temporal server ended as it started: {said or process.returncode}")
        if not is_free(port):
            with suppress(RuntimeError, RPCError):
                return await Client.connect(f"127.0.0.1:{port}", data_converter=CONVERTER)
        await asyncio.sleep(_PAUSE)
    raise UsageError(f"the Temporal server did not answer on port {port} in time")


async def _stop(process: Process, *, gently: bool) -> None:
    """End the server. One that remembers nothing need not be given the second or two in which it says farewell."""
    if process.returncode is None:
        if gently:
            process.terminate()
        else:
            process.kill()
    try:
        await asyncio.wait_for(process.wait(), 10)
    except TimeoutError:
        process.kill()
        await process.wait()


@asynccontextmanager
async def _downloaded(port: int, ui_port: int, database: Path | None, extra: Sequence[str]) -> AsyncIterator[Client]:
    """Start the server that the SDK downloads when this machine has none."""
    try:
        environment = await WorkflowEnvironment.start_local(
            port=port,
            ui=True,
            ui_port=ui_port,
            dev_server_database_filename=str(database) if database else None,
            data_converter=CONVERTER,
            dev_server_log_level="error",
            dev_server_extra_args=[*QUICK, *extra],
        )
    except RuntimeError as error:
        raise UsageError(
            f"no Temporal server could be started: {error}",
            "install one with `pip install 'swf-temporal[local]'`",
        ) from None
    async with environment:
        yield environment.client


def find_program() -> str | None:
    """Return the path of the `temporal` program: beside the interpreter, else on PATH. None if it is in neither."""
    name = "temporal.exe" if os.name == "nt" else "temporal"
    for folder in (sysconfig.get_path("scripts"), Path(sys.executable).parent):
        beside = Path(folder) / name
        if beside.is_file():
            return str(beside)
    return shutil.which("temporal")


def free_port() -> int:
    """Return a port on the loopback address that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_free(port: int) -> bool:
    """Tell whether nothing listens on *port*. Raises UsageError if this user may not listen there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            raise UsageError(f"port {port} is not for this user to listen on", "choose one above 1023") from None
        except OSError:
            return False
    return True
