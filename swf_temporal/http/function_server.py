"""Serves one function by the container contract of Direktiv: a POST for each call, a DELETE to end one.

This is the other side of `functions/containers`. Each call has its own thread.
"""

import asyncio
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Final, TypeVar
from uuid import uuid4

from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from swf_temporal.base.request_bodies import BodyTooLargeError, SlowBodyError, body_of
from swf_temporal.functions.containers.containers import ACTION_ID, ERROR_CODE, ERROR_MESSAGE, TEMP_DIR
from swf_temporal.http.authentication import foreign_host, foreign_page
from swf_temporal.http.container_functions import CallInProgress, FunctionError, Request, ServedFunction
from swf_temporal.sdk.asgi_server import asgi_server
from swf_temporal.settings.http import LOOPBACK
from swf_temporal.settings.values import Address

T = TypeVar("T")

_MAX_MESSAGE: Final = 4000
"""The length limit of a message in a header, in bytes: HTTP clients refuse long headers."""
_MAX_BODY: Final = 32 * 1024 * 1024
"""The size limit of an input, in bytes."""
_MAX_INPUTS: Final = 256 * 1024 * 1024
"""The same of all calls in progress, each of which may take long."""
_MAX_CALLS: Final = 1000
"""The number of calls in progress; further ones wait for their turn."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class FunctionServer:
    """Serves a function, with many concurrent calls."""

    def __init__(self, function: ServedFunction, tell: Callable[[str], None], folders: str, *, is_local: bool) -> None:
        """Serve *function*; *tell* is called with its errors. *folders* is where calls have their folders.

        If it *is_local*, only requests that name this machine as their host are answered.
        """
        self._function = function
        self._tell = tell
        self._is_local = is_local
        self._calls: dict[str, list[CallInProgress]] = {}
        self._is_closing = False
        self._room = asyncio.Semaphore(_MAX_CALLS)
        self._folders = folders
        self.application = Starlette(routes=[Route("/{path:path}", self._answer, methods=["GET", "POST", "DELETE"])])

    async def end_all(self) -> None:
        """End all calls in progress, and those that still begin."""
        self._is_closing = True
        await self._end([one for several in self._calls.values() for one in several])

    async def _end(self, calls: list[CallInProgress]) -> None:
        """End *calls* concurrently, since each may take up to the limit."""
        await asyncio.gather(*(_in_thread(call.end) for call in calls))

    async def _answer(self, request: HttpRequest) -> Response:
        if foreign_page(request.headers) is not None:
            return PlainTextResponse("a web page of another origin may not call this function\n", 403)
        if self._is_local and (host := foreign_host(request.headers)) is not None:
            return PlainTextResponse(f"this function does not serve the host {host!r}\n", 421)
        if request.method == "POST":
            return await self._call(request)
        if request.method == "DELETE":
            return await self._end_call(request.headers.get(ACTION_ID, ""))
        return PlainTextResponse("this is a function: POST its input\n")  # health checks

    async def _call(self, request: HttpRequest) -> Response:
        try:
            content = await body_of(request, _MAX_BODY)
        except (BodyTooLargeError, SlowBodyError) as error:
            status = 413 if isinstance(error, BodyTooLargeError) else 408
            return PlainTextResponse(f"{error}\n", status, {"connection": "close"})
        action_id = request.headers.get(ACTION_ID) or uuid4().hex
        try:
            with self._folder(request.headers.get(TEMP_DIR)) as folder:
                return Response(await self._result(Request(content, folder, action_id)))
        except FunctionError as error:
            self._tell(f"{action_id}: {f'{error.code}: ' if error.code else ''}{error.message}")
            said = {ERROR_CODE: error.code or "", ERROR_MESSAGE: error.message}
            response = Response()  # 200 for errors, too: the contract ignores the status, and proxies retry other ones
            response.raw_headers += [(key.lower().encode(), _in_header(text)) for key, text in said.items() if text]
            return response

    async def _result(self, request: Request) -> bytes:
        """Return the result of a call. Raises FunctionError."""
        running = self._function(request)
        if self._is_closing:
            running.end()
        self._calls.setdefault(request.action_id, []).append(running)
        try:
            async with self._room:
                return await _in_thread(running.result)
        finally:
            self._calls[request.action_id].remove(running)
            if not self._calls[request.action_id]:
                del self._calls[request.action_id]

    async def _end_call(self, action_id: str) -> Response:
        """End all calls in progress with that id: all attempts."""
        calls = list(self._calls.get(action_id, ()))
        if not calls:
            return PlainTextResponse(f"no call with this {ACTION_ID} is in progress\n", 404)
        await self._end(calls)
        return PlainTextResponse("ended\n")

    @contextmanager
    def _folder(self, given: str | None) -> Iterator[Path]:
        """Yield the folder of a call: the one *given*, or an empty one that is removed after the call.

        Raises FunctionError if the given one does not exist on this machine.
        """
        path = Path(given or mkdtemp(dir=self._folders))
        if not path.is_dir():
            message = f"the folder {path} of this call does not exist: the function has to share it with the caller"
            raise FunctionError(message)
        try:
            yield path
        finally:
            if not given:
                shutil.rmtree(path, ignore_errors=True)


async def serve_function(
    function: ServedFunction, host: str, port: int, tell: Callable[[str], None], ready: Callable[[str], None]
) -> int:
    """Serve *function* until cancelled; call *ready* with the URL. Calls in progress end with it.

    Raises UsageError if nothing can listen at *host* and *port*.
    """
    hint = "choose another with --port, or another address with --host"
    with TemporaryDirectory(prefix="functions-", ignore_cleanup_errors=True) as folders:
        server = FunctionServer(function, tell, folders, is_local=host in LOOPBACK)
        async with asgi_server(server.application, Address(host, port), hint, _MAX_INPUTS) as address:
            try:
                ready(f"http://{address}/")
                await asyncio.Event().wait()
            finally:
                await server.end_all()
    return 0


async def _in_thread(work: Callable[[], T]) -> T:
    """Return the result of *work*, in a thread of its own that does not keep the process from ending."""
    loop, future = asyncio.get_running_loop(), Future[T]()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(future, loop=loop)


def _in_header(text: str) -> bytes:
    """Return *text* for a header: in one line, not too long, and in UTF-8."""
    line = _CONTROL.sub("?", " ".join(text.split()))
    return line.encode(errors="replace")[:_MAX_MESSAGE].decode(errors="ignore").encode()
