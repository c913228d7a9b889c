"""Runs scripts in a definition, by SonataFlow's function `script:python`.

A script runs in a separate process: with limits, without the worker's environment, in a folder that is removed
afterwards, and killed with everything that it started when it times out or is no longer needed. That limits accidents;
it is not a sandbox. A script has the rights of the worker's user, so operators decide whether scripts are allowed.
"""

import asyncio
import contextlib
import math
import os
import signal
import sys
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from asyncio.subprocess import DEVNULL, PIPE, Process
from tempfile import TemporaryDirectory
from typing import Any, cast

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.grammar import with_article
from swf_temporal.base.strict_json import NotJSON, read_json, write_json
from swf_temporal.functions.call import RETURNS_VARIABLES, Call, switch
from swf_temporal.functions.custom import script_process
from swf_temporal.functions.custom.script_process import LENGTH
from swf_temporal.settings.calls import Options, Settings, merged

MEMORY = 1 << 30
"""The limit of a script's address space in bytes, including Python."""

_MAX_GOODBYE = 1.0
"""Seconds to wait until the pipes of a killed script are closed."""
_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PATH": os.defpath}


def is_script(operation: object) -> bool:
    """Return whether *operation* is `script:python`, with or without code after it."""
    word, language, *_ = [*str(operation).strip().split(":", 2), "", ""]
    return isinstance(operation, str) and word == "script" and language.strip().lower() == "python"


class Scripts:
    """Runs scripts, if the operator allows them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def perform(self, call: Call) -> JSON:
        """Return the script's variable `result`, or else the value of its last line if that is an expression.

        With `returnsVariables` in the function's metadata, return all variables of the script that are JSON.
        """
        name = call.function.name
        if not self._settings.scripts:
            message = f"function '{name}' is a script, and this worker does not run scripts"
            raise permanent_failure("ScriptsOff", f"{message}: its operator may allow them with SWF_SCRIPTS=1")
        code, arguments = _script(call)
        options = merged(Options, self._settings.for_callee(call.callee), self._settings.calls)
        limit = options.timeout.total_seconds()
        request = {"code": code, "arguments": arguments, "seconds": math.ceil(limit), "memory": MEMORY}
        request["variables"] = switch(call, RETURNS_VARIABLES) is True
        try:
            async with asyncio.timeout(limit):
                written = await _run(call, write_json(request).encode(), options.max_response_bytes)
        except TimeoutError:
            raise CallFailed(
                f"the script of function '{name}' did not end within {limit:g} s", code="Timeout"
            ) from None
        try:
            return _result(call, read_json(written))
        except (NotJSON, TypeError, KeyError):
            # A script controls its process, so it can also write to the pipe for its result.
            message = f"the script of function '{name}' wrote something other than its result, or nested it too deeply"
            raise CallFailed(message, code="ScriptCrashed") from None


async def _run(call: Call, request: bytes, largest: int) -> bytes:
    with TemporaryDirectory(prefix="swf-script-", ignore_cleanup_errors=True) as folder:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", script_process.__file__,
            stdin=PIPE, stdout=PIPE, stderr=DEVNULL,
            cwd=folder, env={**_ENVIRONMENT, "HOME": folder, "TMPDIR": folder}, start_new_session=True,
        )  # fmt: skip
        try:
            return await _exchange(call, process, request, largest)
        finally:
            _kill(process.pid)
            await _ended(process)


async def _ended(process: Process) -> None:
    """Wait until *process* has ended, and discard its unread output."""
    try:
        async with asyncio.timeout(_MAX_GOODBYE):
            await process.communicate()
    except TimeoutError:
        # What a script has started in a new session continues, and holds the other end of the pipes.
        process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001 - there is no public way to let go


async def _exchange(call: Call, process: Process, request: bytes, largest: int) -> bytes:
    name, stdin, stdout = call.function.name, cast("StreamWriter", process.stdin), cast("StreamReader", process.stdout)
    try:
        stdin.write(LENGTH.pack(len(request)) + request)
        await stdin.drain()
        (length,) = LENGTH.unpack(await stdout.readexactly(LENGTH.size))
        if length > largest:
            raise permanent_failure(
                "AnswerTooLarge", f"the result of the script '{name}' is larger than {largest} bytes"
            )
        return await stdout.readexactly(length)
    except (IncompleteReadError, ConnectionError):
        raise _crashed(name, await process.wait()) from None


def _script(call: Call) -> tuple[str, JSON]:
    """Return the code of a call, and the arguments that become its variables."""
    function, arguments = call.function, call.arguments
    code = str(function.operation).strip().removeprefix("script:").partition(":")[2]
    given = code if code.strip() else function.metadata.get("script")
    if given is None and isinstance(arguments, dict):
        given = arguments.get("script")
        arguments = {key: value for key, value in arguments.items() if key != "script"}
    if not isinstance(given, str):
        where = "after script:python: in its operation, as 'script' in its metadata, or as the argument 'script'"
        raise permanent_failure("BadOperation", f"function '{function.name}' has no code: write it {where}")
    return given, arguments


def _result(call: Call, answer: dict[str, Any]) -> JSON:
    name = call.function.name
    if "notJson" in answer:
        what = with_article(answer["notJson"])
        message = f"the script of function '{name}' ended with {what}, not JSON: {answer['message']}"
        raise permanent_failure("NotJSON", message)
    if "error" in answer:
        where = f"line {answer['line']} of " if answer["line"] else ""
        message = f"{where}the script of function '{name}': {answer['message'] or answer['error']}"
        kind = answer["error"]
        raise CallFailed(message, name=kind, code=kind, cause=kind, retryable=not answer.get("syntax"))
    try:
        result: JSON = read_json(answer["result"])
    except NotJSON as error:
        message = f"the script of function '{name}' ended with a value that is not JSON: {error}"
        raise permanent_failure("NotJSON", message) from None
    return result


def _crashed(name: str, status: int) -> CallFailed:
    if -status in {signal.SIGXCPU, signal.SIGKILL}:
        message = f"the script of function '{name}' took more processor time than it may, or was killed"
        return CallFailed(message, code="Timeout", cause=signal.Signals(-status).name)
    how = f"by {signal.Signals(-status).name}" if status < 0 else f"with the status {status}"
    return CallFailed(f"the script of function '{name}' ended its process {how}", code="ScriptCrashed")


def _kill(group: int) -> None:
    """Kill a script's process, and those that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
