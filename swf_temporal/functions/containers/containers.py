"""Calls functions by the container contract of Direktiv.

A call is a POST whose body is the input. An error is reported in the header `Direktiv-ErrorCode`; without it the body
is the result, whatever the status. A call that is no longer needed is ended by a DELETE.
"""

import asyncio
import hmac
import logging
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes
from typing import Final

from swf_temporal.base.data import JSON, json_or_base64
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.strict_json import write_json
from swf_temporal.functions.call import IDEMPOTENCY_KEY, Call, is_made_again
from swf_temporal.functions.containers.endpoint import RunningCalls
from swf_temporal.functions.containers.folders import read_files, write_files
from swf_temporal.functions.http.client import HttpStatusError, Request
from swf_temporal.functions.port import Performer, Services
from swf_temporal.runtime.host import CallFolder
from swf_temporal.runtime.variables import Variable, VariableRef, VariableStore
from swf_temporal.settings.forms import SharedFolder

_log = logging.getLogger("swf")


@dataclass(frozen=True, slots=True)
class CallDirectory:
    path: Path
    """The path on the worker."""
    in_container: str
    given: CallFolder
    variables: VariableStore
    write_id: str

    async def keep(self) -> None:
        """Store the variables that the function left there: once, however often the call is attempted.

        Raises PayloadTooLarge and StoreUnavailable.
        """
        left = await asyncio.to_thread(read_files, self.path, self.given)
        if left:
            await self.variables.write_variables(left, self.write_id)


@asynccontextmanager
async def call_directory(
    shared: SharedFolder, call_name: str, call: Call, given: CallFolder, variables: VariableStore
) -> AsyncIterator[CallDirectory]:
    """Yield a directory with the files that *call* is *given*, within the context.

    The directories of earlier attempts on a lost worker are removed as well. Raises CallFailed and StoreUnavailable.
    """
    name = f"{call_name}-{call.attempt}"
    found = {file.of: await variables.read_variable(file.of) for file in given.files}
    path = Path(shared.worker, name)
    making = asyncio.ensure_future(asyncio.to_thread(_make, path, call_name, given, found))
    try:
        await asyncio.shield(making)
        yield CallDirectory(path, f"{shared.container.rstrip('/')}/{name}", given, variables, call_name)
    finally:
        await asyncio.wait([making])  # what is cancelled runs on in its thread
        await asyncio.to_thread(_remove, path)


def _make(path: Path, call_name: str, given: CallFolder, found: Mapping[VariableRef, Variable | None]) -> None:
    for former in path.parent.glob(f"{call_name}-*"):
        _remove(former)
    try:
        path.mkdir()
        path.chmod(0o777)  # the container may run as another user
    except OSError as error:
        message = f"the shared folder {path.parent} cannot be used: {error.strerror}; see 'sharedFolder'"
        raise permanent_failure("NoSharedFolder", message) from None
    write_files(path, given, found)


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        _log.warning("the directory %s of a call cannot be removed: it holds what another user may not delete", path)


ACTION_ID: Final = "Direktiv-ActionID"
TEMP_DIR: Final = "Direktiv-TempDir"
ERROR_CODE: Final = "Direktiv-ErrorCode"
ERROR_MESSAGE: Final = "Direktiv-ErrorMessage"
INTERNAL: Final = "direktiv.internal.error"
"""The code of an error that has a message alone: nothing can catch it."""
_GRACE: Final = 10.0
"""Seconds within which a function may be notified that it is no longer needed."""
_TIMEOUT: Final = "Timeout"


@dataclass(frozen=True, slots=True)
class _Answered:
    headers: Mapping[str, str]
    result: JSON


class Containers(Performer):
    """Sends requests to functions in containers."""

    def __init__(
        self, services: Services, variables: VariableStore | None = None, running: RunningCalls | None = None
    ) -> None:
        """Let functions read and write *variables*, if there is a store; calls are registered in *running*."""
        self._services = services
        self._variables = variables
        self._running = RunningCalls() if running is None else running
        # An id admits to the endpoint: it must not follow from what pages, services or other functions see.
        self._key = token_bytes()

    def check(self, call: Call) -> None:
        """Raise CallFailed if the address of the function is not configured."""
        self._url(call)

    async def perform(self, call: Call) -> JSON:
        """Return the result of one attempt. Raises CallFailed, and errors of the variable store.

        Files that the function leaves in its directory become variables, even if it reports an error.
        """
        url, name = self._url(call), _name(call)
        action = hmac.digest(self._key, name.encode(), "sha256").hex()[:32]
        async with self._directory(call, name) as directory:
            headers = [(ACTION_ID, action), ("Content-Type", "application/json")]
            if (key := call.key_in_headers) is not None:
                headers.append((IDEMPOTENCY_KEY, key))
            if directory is not None:
                headers.append((TEMP_DIR, directory.in_container))
            body = write_json(call.arguments, ensure_ascii=False).encode()
            with self._running.entered(action, call):
                answered = await self._ask(Request("POST", url, tuple(headers), body, call.callee))
            if directory is not None:
                await directory.keep()
        _raise_reported(answered.headers)
        return answered.result

    @asynccontextmanager
    async def _directory(self, call: Call, name: str) -> AsyncIterator[CallDirectory | None]:
        """Yield the directory of *call*, or None if no folder is shared with the function."""
        shared = self._services.settings.shared_folder_for(call.callee)
        if shared is None or call.folder is None or self._variables is None:
            if call.folder is not None and call.folder.files:
                known = f"'functions: {{{write_json(call.function.name)}: {{sharedFolder: …}}}}'"
                message = f"function {call.function.name!r} gets files, but shares no folder with the worker"
                raise permanent_failure("NoSharedFolder", f"{message}: the configuration needs {known}")
            yield None
            return
        async with call_directory(shared, name, call, call.folder, self._variables) as directory:
            yield directory

    async def _ask(self, request: Request) -> _Answered:
        """Return the function's answer, whatever the status: the contract ignores it."""
        try:
            content, headers = await self._services.http.request_raw(request)
        except HttpStatusError as error:
            answer = error.answer
            return _Answered(answer.headers, "" if answer.is_empty else answer.body)
        except CallFailed as fault:
            if fault.code == _TIMEOUT:
                await self._end(request)
            raise
        except asyncio.CancelledError:
            if not await is_made_again():  # which has the same id, and would be ended, too
                await self._end(request)
            raise
        return _Answered(headers, json_or_base64(content))

    async def _end(self, request: Request) -> None:
        """Notify the function that its result is no longer needed, if possible."""
        headers = tuple((name, value) for name, value in request.headers if name == ACTION_ID)
        with suppress(CallFailed, TimeoutError):
            async with asyncio.timeout(_GRACE):
                await self._services.http.request_raw(Request("DELETE", request.url, headers, None, request.callee))

    def _url(self, call: Call) -> str:
        url = self._services.settings.base_url_for(call.callee)
        if url is None:
            known = f"'functions: {{{write_json(call.function.name)}: {{baseUrl: …}}}}'"
            message = (
                f"the address of function {call.function.name!r} is not configured: the configuration needs {known}"
            )
            raise permanent_failure("NoServer", message)
        return url


def _name(call: Call) -> str:
    """Return a name of the call that is the same for every attempt on any worker, and valid in a path."""
    return sha256((call.idempotency_key or call.function.name).encode()).hexdigest()[:32]


def _raise_reported(headers: Mapping[str, str]) -> None:
    code, message = headers.get(ERROR_CODE.lower(), ""), headers.get(ERROR_MESSAGE.lower(), "")
    if code:
        raise CallFailed(message, code=code)
    if message:
        raise CallFailed(message, code=INTERNAL, retryable=False)
