"""Served functions: Python callables and programs. A call can be ended from another thread."""

import asyncio
import inspect
import os
import signal
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.base.grammar import with_article
from swf_temporal.base.strict_json import NotJSON, read_json, write_json
from swf_temporal.sdk.function_modules import import_module_or_file
from swf_temporal.simulation.variables import wants_folder
from swf_temporal.text.suggestions import nearest

GRACE: Final = 5.0
"""Seconds between SIGTERM and SIGKILL for a program. The caller that ends a call waits for ten seconds at most."""
_LAST_LINES: Final = 5


class FunctionError(Exception):
    """An error of a served function. Without a code, no definition can catch it."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


@dataclass(frozen=True, slots=True)
class Request:
    content: bytes
    """The input: JSON, or other bytes."""
    folder: Path
    """The folder with the files of the call, where the function may leave some."""
    action_id: str


class CallInProgress(ABC):
    """A call in progress."""

    @abstractmethod
    def result(self) -> bytes:
        """Wait for the result: JSON, or other bytes. Raises FunctionError."""

    @abstractmethod
    def end(self) -> None:
        """End the call, from another thread; return once it has ended, if it can be ended."""


ServedFunction = Callable[[Request], CallInProgress]
"""Starts a call."""


def served_function(words: Sequence[str]) -> ServedFunction:
    """Return the function that *words* name: `module:function`, `file.py:function`, or a program and its arguments.

    Raises UsageError if it does not exist.
    """
    first, *others = words
    module, colon, name = first.rpartition(":")
    if not colon or not name.isidentifier() or Path(first).exists():
        return _program(first, others)
    if others:
        raise UsageError(f"{first} is a Python function, which takes no argument {others[0]!r}", "leave it out")
    function = _attribute(import_module_or_file(module), module, name)
    return lambda request: _PythonCall(function, request)


def _attribute(module: object, module_name: str, name: str) -> Callable[..., Any]:
    found = getattr(module, name, None)
    if callable(found):
        return found  # type: ignore[no-any-return]  # its type is not known
    if found is not None:
        raise UsageError(f"{name!r} in {module_name} is not a function but of the type {type(found).__name__}")
    known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
    near = nearest(name, known)
    hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known)}" if known else None
    raise UsageError(f"{module_name} has no function {name!r}", hint)


def _program(name: str, arguments: Sequence[str]) -> ServedFunction:
    path = Path(name)
    command = [name, *arguments]
    if path.suffix == ".py" and path.is_file():
        command = [sys.executable, *command]
    elif path.is_file() and os.sep not in name and which(name) is None:
        command[0] = f".{os.sep}{name}"
    if which(command[0]) is None:
        if path.is_file():
            raise UsageError(f"{name} cannot be executed", f"make it executable: chmod +x {name}; or name what runs it")
        raise UsageError(
            f"the program {name!r} does not exist", "a function is module:function, file.py:function, or a program"
        )
    return lambda request: _ProgramCall(command, request)


class _PythonCall(CallInProgress):
    """A call of a Python function, which may be a coroutine function."""

    def __init__(self, function: Callable[..., Any], request: Request) -> None:
        self._function = function
        self._request = request
        self._is_ended = False
        self._cancel: Callable[[], object] = lambda: None

    def result(self) -> bytes:
        given = _value_of(self._request.content)
        arguments = (given, self._request.folder) if wants_folder(self._function) else (given,)
        try:
            value = self._function(*arguments)
            if inspect.isawaitable(value):
                value = asyncio.run(self._awaited(value))
        except BaseException as error:  # it may raise KeyboardInterrupt, and this is a separate thread
            if self._is_ended:
                raise FunctionError("the call was ended") from None
            raise _failure(error) from error
        if isinstance(value, bytes):
            return value
        try:
            return write_json(value, ensure_ascii=False).encode()
        except NotJSON as error:
            message = (
                f"the function returned {with_article(type(value).__name__)}, which is neither JSON nor bytes: {error}"
            )
            raise FunctionError(message) from None

    def end(self) -> None:
        self._is_ended = True
        with suppress(RuntimeError):  # its loop has ended
            self._cancel()

    async def _awaited(self, value: Any) -> Any:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # noqa: S101 - for the type checker
        self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        if self._is_ended:
            task.cancel()
        return await value


class _ProgramCall(CallInProgress):
    """A run of a program: the input is its stdin, and stdout is the result."""

    def __init__(self, command: Sequence[str], request: Request) -> None:
        variables = {"DIREKTIV_ACTION_ID": request.action_id, "DIREKTIV_TEMP_DIR": str(request.folder)}
        try:
            # A new session, so that it can be ended together with all that it started.
            self._process = subprocess.Popen(  # noqa: S603 - the command is what the user asked for
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **variables},
                start_new_session=True,
            )
        except OSError as error:
            raise FunctionError(f"{command[0]} cannot be run: {error.strerror}") from None
        self._content = request.content
        self._is_ended = False
        self._done = threading.Event()

    def result(self) -> bytes:
        try:
            out, err = self._process.communicate(self._content)
        finally:
            self._done.set()
        sys.stderr.buffer.write(err)
        sys.stderr.flush()
        if self._is_ended:
            raise FunctionError("the call was ended")
        if self._process.returncode != 0:
            raise _error_of_program(self._process.returncode, out, err)
        return out

    def end(self) -> None:
        self._is_ended = True
        self._signal(signal.SIGTERM)
        if not self._done.wait(GRACE):
            self._signal(signal.SIGKILL)
            self._done.wait(GRACE)

    def _signal(self, number: signal.Signals) -> None:
        if not self._done.is_set():
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)


def _value_of(content: bytes) -> JSON | bytes:
    """Return the input as Python functions get it: JSON, None for an empty body, or else bytes."""
    if not content:
        return None
    try:
        value: JSON = read_json(content)
    except NotJSON:
        return content
    return value


def _failure(error: BaseException) -> FunctionError:
    """Return the error for an exception: its `code`, if that is a text, and its message."""
    code: object = getattr(error, "code", None)
    if isinstance(code, str) and code and not isinstance(error, SystemExit):
        return FunctionError(str(getattr(error, "message", error)), code)
    return FunctionError(f"{type(error).__name__}: {error}")


def _error_of_program(status: int, out: bytes, err: bytes) -> FunctionError:
    """Return the error of a program: the object with code and message that it wrote, or the end of its stderr."""
    written: Mapping[str, JSON] | Any = None
    with suppress(NotJSON):
        written = read_json(out)
    if isinstance(written, dict) and isinstance(written.get("code"), str):
        return FunctionError(str(written.get("message", "")), written["code"])
    lines = err.decode(errors="replace").strip().splitlines()[-_LAST_LINES:]
    how = f"exit code {status}" if status > 0 else signal.strsignal(-status)
    return FunctionError("\n".join((f"the program failed: {how}", *lines)))
