"""How do servers of tests listen? In a thread of their own, until the test is done with them."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from socketserver import BaseServer
from typing import Any


@contextmanager
def listening(server: BaseServer) -> Iterator[None]:
    """Let *server* answer until the block ends, and then close it."""
    # So short that no test waits for its server to notice that it is over.
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Quiet(BaseHTTPRequestHandler):
    """Prints nothing of what it is asked, whatever the method, and lets a subclass answer it."""

    protocol_version = "HTTP/1.1"

    def respond(self, content: bytes) -> None:
        raise NotImplementedError

    def answer(self, content: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {"Content-Type": "application/json"}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _read(self) -> None:
        self.respond(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._read
        raise AttributeError(name)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the library uses
        pass
