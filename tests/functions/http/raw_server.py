"""A server that writes what a test tells it to, byte by byte, whether that is HTTP or not."""

import fcntl
import json
import socket
import ssl
import struct
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any, cast
from urllib.parse import urlsplit

import trustme

from tests.listening import listening

_LIMIT = 20.0
_PIECE = 65536


class Wire:
    """A connection as the server has it: what is sent at once leaves at once, with TLS as a record for each piece."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.client = connection.getpeername()
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls: ssl.SSLObject | None = None

    def secure(self, context: ssl.SSLContext) -> None:
        tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._perform(tls.do_handshake)
        self._tls = tls

    def receive(self) -> bytes:
        tls = self._tls
        if tls is None:
            return self.connection.recv(_PIECE)
        return cast("bytes", self._perform(lambda: tls.read(_PIECE)))

    def written(self, *pieces: bytes) -> bytes:
        if self._tls is None:
            return b"".join(pieces)
        for piece in pieces:
            self._tls.write(piece)
        return self._outgoing.read()

    def send(self, *pieces: bytes) -> None:
        self.send_raw(self.written(*pieces))

    def send_raw(self, data: bytes) -> None:
        """Send *data* as it is, and return when the client's machine has it. Raises ConnectionError if it hung up."""
        self.connection.sendall(data)
        until = time.monotonic() + _LIMIT
        while any(fcntl.ioctl(self.connection, termios.TIOCOUTQ, struct.pack("i", 0))) and time.monotonic() < until:
            if self.connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise ConnectionResetError
            time.sleep(0.0005)

    def _perform(self, step: Callable[[], Any]) -> Any:
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self.connection.sendall(self._outgoing.read())
                if received := self.connection.recv(_PIECE):
                    self._incoming.write(received)
                else:
                    self._incoming.write_eof()
            else:
                self.connection.sendall(self._outgoing.read())
                return result


Script = Callable[[Wire], None]
"""What a server does when it is asked for a path; without one it answers with that path."""


class RawServer:
    def __init__(self, context: ssl.SSLContext | None) -> None:
        self.context = context
        self.is_proxy = False
        """Whether it does not speak TLS before it is asked to connect to the server that it then is itself."""
        self.scripts: dict[str, Script] = {}
        self.requests: list[tuple[str, str, tuple[str, int]]] = []
        """Method, path and client of each request."""
        self.was_read, self.was_sent = threading.Event(), threading.Event()
        """For a script that waits until the test has an answer, and tells it that it has sent more."""
        self.url = ""

    @property
    def connections(self) -> int:
        return len({client for _, _, client in self.requests})

    def serve(self, wire: Wire) -> None:
        if self.context and not self.is_proxy:
            wire.secure(self.context)
        unread = b""
        while received := wire.receive():
            unread += received
            head, end, rest = unread.partition(b"\r\n\r\n")
            length = next(
                (int(line[15:]) for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"), 0
            )
            if not end or len(rest) < length:
                continue
            unread = rest[length:]
            method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
            if method == "CONNECT" and self.context:
                wire.send(b"HTTP/1.1 200 OK\r\n\r\n")
                wire.secure(self.context)
                continue
            path = urlsplit(target).path
            self.requests.append((method, path, wire.client))
            script = self.scripts.get(path)
            if script:
                script(wire)
            else:
                wire.send(answer(path))


def answer(body: Any, *more: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """Return an answer of HTTP, with the header lines *more*, and with a wrong *length*."""
    content = json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", *more]
    return (
        "\r\n".join([*lines, f"Content-Length: {len(content) if length is None else length}", "", ""]).encode()
        + content
    )


@contextmanager
def raw_server(authority: Path | None = None) -> Iterator[RawServer]:
    context = None
    if authority:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        issuer = trustme.CA()
        issuer.issue_cert("localhost").configure_cert(context)
        issuer.cert_pem.write_to_path(authority)
    served = RawServer(context)

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                served.serve(Wire(self.request))

    class Server(ThreadingTCPServer):
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Handler) as server, listening(server):
        served.url = f"{'https' if context else 'http'}://localhost:{server.server_address[1]}"
        yield served
