"""Runs a process, within limits of time and output, and leaves nothing of it behind.

A process has its own process group, a folder that is removed afterwards, and an environment that contains nothing of
the worker's. That limits accidents; it is not a sandbox. A process has the rights of the worker's user, so operators
decide which processes are allowed.
"""

import asyncio
import contextlib
import errno
import os
import re
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.strict_json import write_json
from swf_temporal.functions.call import Call
from swf_temporal.functions.named_arguments import NamedArguments
from swf_temporal.settings.calls import Settings

STDOUT: Final = 1
STDERR: Final = 2

_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_MAX_GRACE: Final = 2.0
"""Seconds for which a process may react to SIGTERM before it is killed."""
_MAX_GOODBYE: Final = 1.0
"""Seconds to wait until the pipes of a killed process are closed."""
_VARIABLE: Final = re.compile(r"[^=\0]+")
_FROM_SIGNAL: Final = 128
"""The number that a shell adds to the number of the signal that ended a process."""


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """The result of a process that has ended."""

    code: int
    """The exit code; 128 and the number of the signal for a process that a signal ended."""
    stdout: str
    stderr: str

    def to_json(self) -> dict[str, JSON]:
        return {"code": self.code, "stdout": self.stdout, "stderr": self.stderr}


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one process."""

    timeout: timedelta
    output: int
    """The maximum number of bytes of standard output, and of standard error."""


def limits_for(settings: Settings, call: Call) -> Limits:
    """Return the limits of the process that *call* starts."""
    own = settings.for_callee(call.callee)
    timeout = own.timeout if "timeout" in own.model_fields_set else settings.runners.timeout
    return Limits(timeout, settings.runners.max_output_bytes)


def runner_off(call: Call, what: str, setting: str) -> CallFailed:
    """Return the fault of a call that the operator does not allow, with the setting that would allow it."""
    message = f"function '{call.function.name}' {what}, and this worker does not allow that"
    return permanent_failure("RunnerOff", f"{message}: its operator may set {setting}")


def clean_environment(folder: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a process in *folder*: what it is *given*, and little else."""
    return {"PATH": _PATH, "LANG": "C.UTF-8", "HOME": folder, "TMPDIR": folder, **given}


def checked_environment(given: Mapping[str, str]) -> Mapping[str, str]:
    """Return *given*. Raises CallFailed if it cannot be an environment."""
    for name, value in given.items():
        if not _VARIABLE.fullmatch(name):
            raise permanent_failure("BadArguments", f"{name!r} cannot be the name of an environment variable")
        if "\0" in value:
            raise permanent_failure("BadArguments", f"the environment variable {name!r} contains a NUL character")
    return given


class RunningProcess(asyncio.SubprocessProtocol):
    """A process that was started, with its output so far."""

    def __init__(self, what: str, limit: int) -> None:
        self._what, self._limit = what, limit
        self._output = {STDOUT: bytearray(), STDERR: bytearray()}
        self._transport: asyncio.SubprocessTransport
        self._changed = asyncio.Event()
        self._has_ended = self._is_too_much = False
        self._closed = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)  # noqa: S101 - what the event loop makes
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        output = self._output[fd]
        output += data[: self._limit + 1 - len(output)]
        if len(output) > self._limit:
            self._is_too_much = True
            if not self._has_ended:
                self._signal(signal.SIGKILL)
        self._changed.set()

    def process_exited(self) -> None:
        self._has_ended = True
        self._changed.set()
        # Not waited for: what it has started may keep its pipes open.
        self._signal(signal.SIGKILL)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - of the protocol
        self._closed.set()
        self._changed.set()

    def write(self, content: bytes) -> None:
        """Send *content* to the standard input. A process that does not read it misses it."""
        pipe = self._transport.get_pipe_transport(0)
        if pipe is not None and not pipe.is_closing():
            pipe.write(content)  # type: ignore[attr-defined]  # the standard input can be written

    def close_stdin(self) -> None:
        pipe = self._transport.get_pipe_transport(0)
        if pipe is not None:
            pipe.close()

    def take_lines(self) -> list[bytes]:
        """Return the complete lines of standard output, and forget them."""
        *lines, rest = bytes(self._output[STDOUT]).split(b"\n")
        self._output[STDOUT][:] = rest
        return lines

    @property
    def stderr(self) -> str:
        return self._text(STDERR)

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended; what it wrote may not have arrived yet."""
        return self._has_ended

    async def changed(self) -> None:
        """Wait for output, or the end. Raises CallFailed if there is too much output."""
        await self._changed.wait()
        self._changed.clear()
        if self._is_too_much:
            message = f"{self._what} writes more than {self._limit} bytes: see 'maxOutputBytes' of 'runners'"
            raise permanent_failure("AnswerTooLarge", message)

    async def result(self) -> ProcessResult:
        """Return the result once it has ended. Raises CallFailed if there is too much output."""
        while not self._has_ended:
            await self.changed()
        await self._let_go()
        if self._is_too_much:
            await self.changed()
        code = self._transport.get_returncode() or 0
        return ProcessResult(_FROM_SIGNAL - code if code < 0 else code, self._text(STDOUT), self._text(STDERR))

    async def end(self) -> None:
        """End it and what it has started: with SIGTERM, and with SIGKILL if that has no effect."""
        if not self._has_ended:
            self._signal(signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_MAX_GRACE):
                    while not self._has_ended:
                        await self._changed.wait()
                        self._changed.clear()
            self._signal(signal.SIGKILL)
        await self._let_go()

    async def _let_go(self) -> None:
        """Wait until its pipes are closed. What was started in another session may hold them, and continues."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_MAX_GOODBYE):
                await self._closed.wait()
        self._transport.close()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._transport.get_pid(), number)

    def _text(self, fd: int) -> str:
        return self._output[fd].decode(errors="replace")


@asynccontextmanager
async def started(
    what: str, command: Sequence[str], environment: Mapping[str, str], folder: str, limit: int
) -> AsyncIterator[RunningProcess]:
    """Yield a process that is ended with the context. *what* names it in messages, which raise CallFailed."""
    try:
        _, process = await asyncio.get_running_loop().subprocess_exec(
            lambda: RunningProcess(what, limit), *command, cwd=folder, env=environment, start_new_session=True
        )
    except (OSError, ValueError) as error:
        raise _not_started(what, command[0], error) from error
    try:
        yield process
    finally:
        # A second cancellation must not leave it behind.
        await asyncio.shield(process.end())


async def run(
    what: str,
    command: Sequence[str],
    limits: Limits,
    *,
    stdin: str = "",
    environment: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
) -> ProcessResult:
    """Return the result of a process. It runs in a folder of its own, with *files*, in a clean environment.

    Raises CallFailed.
    """
    with TemporaryDirectory(prefix="swf-process-", ignore_cleanup_errors=True) as folder:
        _write(folder, files or {})
        given = clean_environment(folder, environment or {})
        return await run_in(folder, what, command, limits, stdin=stdin, environment=given)


async def run_in(
    folder: str,
    what: str,
    command: Sequence[str],
    limits: Limits,
    *,
    stdin: str = "",
    environment: Mapping[str, str],
) -> ProcessResult:
    """Return the result of a process in *folder*, with *environment* as it is. Raises CallFailed."""
    try:
        async with asyncio.timeout(limits.timeout.total_seconds()):
            async with started(what, command, environment, folder, limits.output) as process:
                process.write(stdin.encode(errors="replace"))
                process.close_stdin()
                return await process.result()
    except TimeoutError:
        seconds = limits.timeout.total_seconds()
        raise CallFailed(f"{what} did not end within {seconds:g} s", code="Timeout") from None


def _write(folder: str, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        Path(folder, name).write_text(text, encoding="utf-8", errors="replace")


def _not_started(what: str, command: str, error: OSError | ValueError) -> CallFailed:
    if isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError):
        message = f"{what}: this worker cannot run the command {command!r}: {error.strerror}"
        return permanent_failure("NotInstalled", message)
    if isinstance(error, ValueError) or error.errno == errno.E2BIG:
        return permanent_failure("BadArguments", f"{what}: the command cannot be passed to a process: {error}")
    return CallFailed(f"{what} could not be started: {error}", code="InternalError", cause=type(error).__name__)


RETURNS: Final = ("stdout", "stderr", "code", "all", "none")


class ProcessArguments(NamedArguments):
    """The arguments of a call that starts a process."""

    def stdin(self) -> str:
        """Return the standard input: a text as it is, anything else as JSON."""
        value = self.value("stdin")
        return value if isinstance(value, str) else "" if value is None else write_json(value, ensure_ascii=False)

    def environment(self) -> Mapping[str, str]:
        """Return the environment. Raises CallFailed if it is invalid."""
        return checked_environment(self.pairs("environment"))
