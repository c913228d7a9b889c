"""Serves one function by the container contract of Direktiv: a POST for each call, a DELETE to end one.

This is the other side of `functions/containers`. Each request has a thread.
"""

import asyncio
import re
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, Final, cast
from uuid import uuid4

from swf_temporal.base.errors import UsageError
from swf_temporal.functions.containers.containers import ACTION_ID, ERROR_CODE, ERROR_MESSAGE, TEMP_DIR
from swf_temporal.http.container_functions import CallInProgress, FunctionError, Request, ServedFunction

_MAX_MESSAGE: Final = 4000
"""The length limit of a message in a header, in bytes: HTTP clients refuse long headers."""
_IDLE: Final = 60
"""Seconds after which a connection is closed that sends nothing."""
_MAX_WAITING: Final = 256
"""How many connections may wait for a request. Of more, the one is closed that has waited for longest."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class FunctionServer(ThreadingHTTPServer):
    """Serves a function. Any number of calls may be under way."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, function: ServedFunction, host: str, port: int, tell: Callable[[str], None]) -> None:
        """Listen at *host* and *port*; port 0 is any that is free. Errors of the function are told to *tell*.

        Raises UsageError if that is not possible.
        """
        self.function = function
        self.tell = tell
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._calls: dict[str, list[CallInProgress]] = {}
        self._waiting: dict[socket.socket, None] = {}
        self._lock = threading.Lock()
        self._is_closing = False
        self._folders = TemporaryDirectory(prefix="functions-", ignore_cleanup_errors=True)
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            why = f"nothing can listen at port {port} of {host}: {error.strerror}"
            raise UsageError(why, "choose another with --port, or another address with --host") from None

    def server_bind(self) -> None:
        """Bind the socket, without asking for the name of this machine, which may take long."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]  # an address has both

    def server_close(self) -> None:
        """Close the socket, and remove what calls left that are still under way."""
        super().server_close()
        self._folders.cleanup()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        host = f"[{self.server_name}]" if ":" in self.server_name else self.server_name
        return f"http://{host}:{self.server_port}/"

    def wait_for_request(self, connection: socket.socket) -> None:
        """Let *connection* wait for a request, for as long as there are not too many that do."""
        with self._lock:
            self._waiting[connection] = None
            oldest = next(iter(self._waiting)) if len(self._waiting) > _MAX_WAITING else None
            if oldest is not None:
                del self._waiting[oldest]
                with suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)

    def take_request(self, connection: socket.socket) -> None:
        """Take in that all of a request has come."""
        with self._lock:
            self._waiting.pop(connection, None)

    def call(self, request: Request) -> bytes:
        """Return the result of a call. Raises FunctionError."""
        running = self.function(request)
        with self._lock:
            self._calls.setdefault(request.action_id, []).append(running)
            is_closing = self._is_closing
        try:
            if is_closing:
                running.end()
            return running.result()
        finally:
            with self._lock:
                self._calls[request.action_id].remove(running)
                if not self._calls[request.action_id]:
                    del self._calls[request.action_id]

    def end_call(self, action_id: str) -> bool:
        """End the calls with that id, all attempts that are under way; tell whether there are any."""
        with self._lock:
            calls = list(self._calls.get(action_id, ()))
        _end_all(calls)
        return bool(calls)

    def end_all(self) -> None:
        """End all calls that are under way, and those that still begin."""
        with self._lock:
            self._is_closing = True
            calls = [one for several in self._calls.values() for one in several]
        _end_all(calls)

    @contextmanager
    def folder(self, given: str | None) -> Iterator[Path]:
        """Yield the folder of a call: the one that is *given*, or an empty one for as long as the call lasts.

        Raises FunctionError if the one that is given is not on this machine.
        """
        path = Path(given or mkdtemp(dir=self._folders.name))
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
    """Serve *function* until cancelled; *ready* is told the URL. Calls that are under way end with it."""
    with FunctionServer(function, host, port, tell) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            ready(server.url)
            await asyncio.Event().wait()
        finally:
            server.shutdown()
            server.end_all()
    return 0


def _end_all(calls: list[CallInProgress]) -> None:
    """End *calls*, all at once, since each may take as long as it is allowed to."""
    threads = [threading.Thread(target=call.end, daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _IDLE

    def handle_one_request(self) -> None:
        """Wait for a request, and answer it."""
        self._server.wait_for_request(self.connection)
        try:
            super().handle_one_request()
        finally:
            self._server.take_request(self.connection)

    def do_POST(self) -> None:
        """Answer with the result of a call, or with headers that tell of its error."""
        try:
            content = self._content()
        except ValueError:
            self.close_connection = True
            self._answer(400, b"the body cannot be read\n")
            return
        self._server.take_request(self.connection)
        action_id = self.headers.get(ACTION_ID) or uuid4().hex
        try:
            with self._server.folder(self.headers.get(TEMP_DIR)) as folder:
                result = self._server.call(Request(content, folder, action_id))
        except FunctionError as error:
            self._server.tell(f"{action_id}: {f'{error.code}: ' if error.code else ''}{error.message}")
            # 200, whatever the error is: the contract does not look at it, and proxies repeat what fails otherwise.
            self._answer(200, b"", {ERROR_CODE: error.code or "", ERROR_MESSAGE: error.message})
        else:
            self._answer(200, result)

    def do_DELETE(self) -> None:
        if self._server.end_call(self.headers.get(ACTION_ID, "")):
            self._answer(200, b"ended\n")
        else:
            self._answer(404, f"no call with this {ACTION_ID} is under way\n".encode())

    def do_GET(self) -> None:
        """Say what this is, which health checks ask for."""
        self._answer(200, b"this is a function: POST its input\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Log nothing for a request: the errors of functions are told."""

    def _content(self) -> bytes:
        """Read the body. Raises ValueError if it cannot be told where it ends, or it ends early."""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            chunks = []
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                chunks.append(self._read(size))
                self.rfile.readline()
            while self.rfile.readline().strip():  # what may come after the last chunk
                pass
            return b"".join(chunks)
        return self._read(int(self.headers.get("Content-Length", "0")))

    def _read(self, size: int) -> bytes:
        content = self.rfile.read(size) if size >= 0 else b""
        if len(content) != size:
            raise ValueError("it ends early")
        return content

    @property
    def _server(self) -> FunctionServer:
        return cast("FunctionServer", self.server)

    def _answer(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        with suppress(OSError):  # who asked does not listen any more
            self.send_response(status)
            for name, value in (headers or {}).items():
                if value:
                    self.send_header(name, _in_header(value))
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)


def _in_header(text: str) -> str:
    """Return *text* as a header can have it: in one line, not too long, in UTF-8 where the library writes Latin-1."""
    line = _CONTROL.sub("?", " ".join(text.split()))
    whole = line.encode(errors="replace")[:_MAX_MESSAGE].decode(errors="ignore")
    return whole.encode().decode("latin-1")
