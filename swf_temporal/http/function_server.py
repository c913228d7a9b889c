"""Serves one function by the container contract of Direktiv: a POST for each call, a DELETE to end one.

This is the other side of `functions/containers`. Each request has its own thread.
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
"""Seconds after which an idle connection is closed."""
_MAX_WAITING: Final = 256
"""The number of idle connections. Beyond that, the one that has been idle for longest is closed."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class FunctionServer(ThreadingHTTPServer):
    """Serves a function, with any number of concurrent calls."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, function: ServedFunction, host: str, port: int, tell: Callable[[str], None]) -> None:
        """Listen at *host* and *port*; port 0 is any free one. *tell* is called with errors of the function.

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
        """Bind the socket, without looking up the name of this machine, which may take long."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]  # an address has both

    def server_close(self) -> None:
        """Close the socket, and remove what calls in progress left."""
        super().server_close()
        self._folders.cleanup()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that have disconnected."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        host = f"[{self.server_name}]" if ":" in self.server_name else self.server_name
        return f"http://{host}:{self.server_port}/"

    def wait_for_request(self, connection: socket.socket) -> None:
        """Add *connection* to those that wait for a request; close the oldest if there are too many."""
        with self._lock:
            self._waiting[connection] = None
            oldest = next(iter(self._waiting)) if len(self._waiting) > _MAX_WAITING else None
            if oldest is not None:
                del self._waiting[oldest]
                with suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)

    def take_request(self, connection: socket.socket) -> None:
        """Note that a request has arrived completely."""
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
        """End all calls in progress with that id (all attempts); return whether there were any."""
        with self._lock:
            calls = list(self._calls.get(action_id, ()))
        _end_all(calls)
        return bool(calls)

    def end_all(self) -> None:
        """End all calls in progress, and those that still begin."""
        with self._lock:
            self._is_closing = True
            calls = [one for several in self._calls.values() for one in several]
        _end_all(calls)

    @contextmanager
    def folder(self, given: str | None) -> Iterator[Path]:
        """Yield the folder of a call: the one *given*, or an empty one that is removed after the call.

        Raises FunctionError if the given one does not exist on this machine.
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
    """Serve *function* until cancelled; call *ready* with the URL. Calls in progress end with it."""
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
    """End *calls* concurrently, since each may take up to the limit."""
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
        """Answer with the result of a call, or with headers that describe its error."""
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
            # 200 for errors, too: the contract ignores the status, and proxies retry other ones.
            self._answer(200, b"", {ERROR_CODE: error.code or "", ERROR_MESSAGE: error.message})
        else:
            self._answer(200, result)

    def do_DELETE(self) -> None:
        if self._server.end_call(self.headers.get(ACTION_ID, "")):
            self._answer(200, b"ended\n")
        else:
            self._answer(404, f"no call with this {ACTION_ID} is under way\n".encode())

    def do_GET(self) -> None:
        """Answer health checks with a description of this server."""
        self._answer(200, b"this is a function: POST its input\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Log nothing for a request: errors of functions are reported elsewhere."""

    def _content(self) -> bytes:
        """Read the body. Raises ValueError if its length is unknown, or it ends early."""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            chunks = []
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                chunks.append(self._read(size))
                self.rfile.readline()
            while self.rfile.readline().strip():  # trailers after the last chunk
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
        with suppress(OSError):  # the client has disconnected
            self.send_response(status)
            for name, value in (headers or {}).items():
                if value:
                    self.send_header(name, _in_header(value))
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)


def _in_header(text: str) -> str:
    """Return *text* for a header: in one line, not too long, and UTF-8 bytes where the library writes Latin-1."""
    line = _CONTROL.sub("?", " ".join(text.split()))
    whole = line.encode(errors="replace")[:_MAX_MESSAGE].decode(errors="ignore")
    return whole.encode().decode("latin-1")
