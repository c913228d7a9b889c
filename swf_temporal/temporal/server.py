"""A Temporal server: one that is already running, or a development server that is started."""

import asyncio
import os
import shutil
import socket
import sys
import sysconfig
import time
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from temporalio.client import Client
from temporalio.converter import DataConverter
from temporalio.service import RPCError

from swf_temporal.base.errors import MissingExtra, UsageError
from swf_temporal.base.strict_json import read_json, write_json
from swf_temporal.temporal.connecting import Server, is_free
from swf_temporal.temporal.converter import converter_of
from swf_temporal.temporal.process_watchdog import with_watchdog

if TYPE_CHECKING:
    from swf_temporal.settings.payloads import PayloadSettings


_HINT = "stop that one, or name another database with --db"
_LOCK_PATIENCE = 8.0
"""Seconds within which the server of a killed process ends."""
_LOCK_PAUSE = 0.1

if sys.platform == "win32":
    import msvcrt

    _BEYOND = 1 << 20

    def _lock(file: int) -> None:
        os.lseek(file, _BEYOND, os.SEEK_SET)  # a locked region cannot be read, but the holder's text must be
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def prepare(database: Path) -> None:
    """Make the folder of *database*, excluded from version control if it is our own. Raises UsageError."""
    if database.is_dir():
        raise UsageError(f"{database} is a folder", "--db names a file in one")
    try:
        database.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {database.parent} cannot be made: {error.strerror}", "see --db") from None
    ignoring = database.parent / ".gitignore"
    if database.parent.name == ".swf" and not ignoring.exists():
        with suppress(OSError):  # the server needs the folder, not this
            ignoring.write_text("*\n", encoding="utf-8")


def refuse_held(database: Path) -> None:
    """Raise UsageError if *database* is in use, before creating anything for it."""
    if _file(database).exists():
        with held(database, None):
            pass


@contextmanager
def held(database: Path, address: str | None) -> Iterator[int]:
    """Lock *database* for the server at *address* while the context lasts; yields the lock file.

    A server that inherits it keeps the lock until it has ended, even if this process ends earlier. The system releases
    the lock of a killed process. Raises UsageError, naming the process that has the database, if one does.
    """
    with _writing(database):
        file = os.open(_file(database), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _take(file, database)
        if address is not None:
            since = datetime.now().astimezone().isoformat(" ", "seconds")
            with _writing(database):
                os.lseek(file, 0, os.SEEK_SET)
                record = write_json({"pid": os.getpid(), "address": address, "since": since})
                os.ftruncate(file, os.write(file, record.encode()))
        yield file
    finally:
        os.close(file)


@contextmanager
def _writing(database: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{_file(database)} cannot be written: {error.strerror}", "see --db") from None


def _take(file: int, database: Path) -> None:
    end = time.monotonic() + _LOCK_PATIENCE
    while True:
        try:
            _lock(file)
        except (BlockingIOError, PermissionError):
            holder = _holder(file)
            if _is_alive(holder) or time.monotonic() > end:
                raise UsageError(f"{database} is in use{_by_whom(holder)}", _HINT) from None
            time.sleep(_LOCK_PAUSE)
        except OSError:
            return  # a file system without locks
        else:
            return


def _file(database: Path) -> Path:
    real = database.resolve()  # the same lock for any link to it
    return real.with_name(f"{real.name}.lock")


def _holder(file: int) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        os.lseek(file, 0, os.SEEK_SET)
        found = read_json(os.read(file, 1024))
        if isinstance(found, dict):
            return found
    return {}


def _by_whom(holder: dict[str, Any]) -> str:
    if not {"pid", "address", "since"} <= holder.keys():
        return " by another server"
    return f" by process {holder['pid']}, whose server is at {holder['address']} since {holder['since']}"


def _is_alive(holder: dict[str, Any]) -> bool:
    pid = holder.get("pid")
    if sys.platform == "win32" or not isinstance(pid, int):
        return True  # it has the lock, and nothing more is known
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


QUICK = (
    "--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000",
    "--dynamic-config-value", "history.timerProcessorMaxPollRPS=2000",
    "--dynamic-config-value", 'history.timerProcessorMaxTimeShift="1ms"',
    "--dynamic-config-value", "matching.numTaskqueueReadPartitions=1",
    "--dynamic-config-value", "matching.numTaskqueueWritePartitions=1",
    "--dynamic-config-value", "history.eventsCacheMaxSizeBytes=33554432",
)  # fmt: skip
"""Settings that make the development server answer in milliseconds, and its timers exact below a second.

If a task queue has several partitions, a task waits up to a tenth of a second to be forwarded to the one that a worker
polls: partitions are for many workers. If the events of 1,000 sub-workflows started at once exceed its cache, half a
MiB by default, it reads all of them from its database for each that it starts.
"""

_PAUSING = ("--dynamic-config-value", "frontend.WorkflowPauseEnabled=true")
"""Allows pausing workflows, which a server does not by default."""

_FAIRNESS = ("--dynamic-config-value", "matching.enableFairness=true")
"""Gives the sub-workflows under each instance their turn, by fairness keys that a server ignores by default."""

_STARTS = 3
"""The number of attempts to start the server: it chooses further ports itself, which other programs may take."""
_PATIENCE = 40
"""Seconds that a server has to start, in each attempt: one whose port was taken may end, or wait for it for ever."""
_PAUSE = 0.025
"""Seconds between two attempts to connect to it."""

_LAST_LINES = 20
_CHUNK = 1 << 16


@asynccontextmanager
async def local_server(
    *,
    port: int | None = None,
    ui_port: int | None = None,
    database: Path | None = None,
    extra: Sequence[str] = (),
    payloads: "PayloadSettings | None" = None,
    as_installed: bool = False,
) -> AsyncIterator[Server]:
    """Start a development server for as long as the context lasts; free ports are chosen where none are given.

    It is tuned for speed and can pause workflows, unless it is *as_installed*: with a server's default settings.

    *payloads* says how payloads are encoded in transit. With *database* the server keeps its workflows from one start
    to the next. It ends with this process, even if that is killed. Raises UsageError if a port is taken, another server
    uses the database, or no server program can be found.
    """
    converter = converter_of(payloads)
    if database is not None:
        refuse_held(database)
    program = find_program()
    for left in reversed(range(_STARTS)):
        for one, option in ((port, "--port"), (ui_port, "--ui-port")):
            if one is not None and not is_free(one):
                raise UsageError(f"port {one} is taken", f"stop what listens there, or choose another with {option}")
        # Ports chosen here are chosen anew in each attempt, as another process may have taken them.
        free, ui_free = free_ports()
        chosen, ui_chosen = port or free, ui_port or ui_free
        with _holding(database, chosen) as inherited:
            if program is None:
                async with _downloaded(chosen, ui_chosen, database, extra, converter) as client:
                    yield Server(client, f"http://127.0.0.1:{ui_chosen}")
                return
            command = [program, "server", "start-dev", "--ip", "127.0.0.1", "--port", str(chosen)]
            own = () if as_installed else (*QUICK, *_PAUSING, *_FAIRNESS)
            command += ["--ui-port", str(ui_chosen), "--log-level", "error", *own, *extra]
            if database is not None:
                command += ["--db-filename", str(database)]
            async with _started(with_watchdog(command, gently=database is not None), inherited) as started:
                try:
                    client = await _ready(started, chosen, converter)
                except _StartError:
                    if not left:
                        raise
                    continue
                yield Server(client, f"http://127.0.0.1:{ui_chosen}")
                return


@contextmanager
def _holding(database: Path | None, port: int) -> Iterator[list[int]]:
    """Lock *database*, if there is one, for a server at *port*; yield the files that the server is to inherit."""
    if database is None:
        yield []
        return
    prepare(database)
    with held(database, f"127.0.0.1:{port}") as file:
        yield [file]


class _StartError(UsageError):
    """The server ended, or did not answer, perhaps because another program took one of its ports first."""


@dataclass(frozen=True, slots=True)
class _Started:
    """A server's process, and its output."""

    process: Process
    greeting: asyncio.Future[bool]
    """Whether it wrote to its standard output: the first thing that it writes is where it listens."""
    error_lines: deque[str]
    """The last lines of its standard error."""
    reading: asyncio.Future[Any]


@asynccontextmanager
async def _started(command: Sequence[str], inherited: Sequence[int]) -> AsyncIterator[_Started]:
    """Run the server that *command* starts while the context lasts. It inherits the files *inherited*."""
    # A separate session: Ctrl-C should end the worker first, and the server only when the worker no longer needs it.
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        start_new_session=True,
        pass_fds=inherited if os.name == "posix" else (),
    )
    assert process.stdout is not None  # noqa: S101 - for the type checker
    assert process.stderr is not None  # noqa: S101 - as above
    error_lines = deque[str](maxlen=_LAST_LINES)
    greeting = asyncio.get_running_loop().create_future()
    # Read continuously: a server whose output is not read would block once the pipe is full.
    reading = asyncio.gather(_read_output(process.stdout, greeting), _read_errors(process.stderr, error_lines))
    try:
        yield _Started(process, greeting, error_lines, reading)
    finally:
        await _stop(process)
        reading.cancel()
        await asyncio.wait([reading])


async def _read_output(output: asyncio.StreamReader, greeting: "asyncio.Future[bool]") -> None:
    greeting.set_result(bool(await output.read(_CHUNK)))
    while await output.read(_CHUNK):
        pass


async def _read_errors(errors: asyncio.StreamReader, error_lines: deque[str]) -> None:
    while chunk := await errors.read(_CHUNK):
        error_lines.extend(chunk.decode(errors="replace").splitlines())


async def _ready(started: _Started, port: int, converter: DataConverter) -> Client:
    """Return a client of the server, once it has started. Raises UsageError with what it wrote if it ended instead.

    An answer at *port* is not enough: it may be from another server, which took the port first.
    """
    try:
        async with asyncio.timeout(_PATIENCE):
            if not await started.greeting:
                code = await started.process.wait()
                await asyncio.wait([started.reading])
                reason = " ".join(started.error_lines) or code
                raise _StartError(f"the Temporal server ended as it started: {reason}")
            while True:
                with suppress(RuntimeError, RPCError):
                    return await Client.connect(f"127.0.0.1:{port}", data_converter=converter)
                await asyncio.sleep(_PAUSE)
    except TimeoutError:
        raise _StartError(f"the Temporal server did not answer on port {port} in time") from None


async def _stop(process: Process) -> None:
    """End the server. One without a database is not given the second or two of a graceful shutdown."""
    if process.returncode is None:
        if os.name == "posix" and process.stdin is not None:
            process.stdin.close()  # its watchdog ends it
        else:
            process.terminate()
    try:
        await asyncio.wait_for(process.wait(), 10)
    except TimeoutError:
        process.kill()
        await process.wait()


@asynccontextmanager
async def _downloaded(
    port: int, ui_port: int, database: Path | None, extra: Sequence[str], converter: DataConverter
) -> AsyncIterator[Client]:
    """Start the server that the SDK downloads if this machine has none."""
    from temporalio.testing import WorkflowEnvironment  # noqa: PLC0415 - seldom needed, and not quickly imported

    try:
        environment = await WorkflowEnvironment.start_local(
            port=port,
            ui=True,
            ui_port=ui_port,
            dev_server_database_filename=str(database) if database else None,
            data_converter=converter,
            dev_server_log_level="error",
            dev_server_extra_args=[*QUICK, *_PAUSING, *_FAIRNESS, *extra],
        )
    except RuntimeError as error:
        raise UsageError(
            f"no Temporal server could be started: {error}",
            MissingExtra("local", "a server").hint,
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


def free_ports() -> tuple[int, int]:
    """Return two ports on the loopback address that nothing listens on."""
    with socket.socket() as one, socket.socket() as other:
        for probe in (one, other):
            probe.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
