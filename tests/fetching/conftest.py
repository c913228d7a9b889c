"""Real HTTP servers on free ports of this machine, which give out documents as a test tells them to."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@dataclass(frozen=True)
class Page:
    content: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False


class Site:
    """A server, what stands on it, and who asked for it."""

    def __init__(self, port: int) -> None:
        self.host = f"127.0.0.1:{port}"
        self.url = f"http://{self.host}"
        self.variable = f"127_0_0_1_{port}"
        self.pages: dict[str, Page] = {}
        self.asked: list[tuple[str, Message]] = []
        self.closing = threading.Event()

    def has(self, path: str, content: bytes = b"", status: int = 200, kind: str = "", **headers: str) -> None:
        self.pages[path] = Page(content, status, {"Content-Type": kind} | headers)

    def hangs(self, path: str) -> None:
        self.pages[path] = Page(hangs=True)

    def authorizations(self) -> list[str | None]:
        return [headers.get("Authorization") for _, headers in self.asked]


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    site: Site


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        site = self.server.site
        site.asked.append((self.path, self.headers))
        page = site.pages.get(self.path, Page(status=404))
        if page.hangs:
            site.closing.wait()
            return
        etag = page.headers.get("ETag")
        is_known = etag is not None and self.headers.get("If-None-Match") == etag
        self.send_response(304 if is_known else page.status)
        for name, value in page.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0" if is_known else str(len(page.content)))
        self.end_headers()
        if not is_known:
            self.wfile.write(page.content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that it has where it comes from
        """Say nothing."""


def _fresh(stack: ExitStack) -> _Server:
    """Return a server on a port that no test had before: documents are kept by their URL for all of the process."""
    while True:
        server = stack.enter_context(_Server(("127.0.0.1", 0), _Handler))
        if server.server_port not in _PORTS:
            _PORTS.add(server.server_port)
            return server


_PORTS: set[int] = set()


@pytest.fixture
def new_site() -> Iterator[Callable[[], Site]]:
    """A maker of servers, which are stopped when the test is over."""
    with ExitStack() as stack:

        def make() -> Site:
            server = _fresh(stack)
            server.site = Site(server.server_port)
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
            stack.callback(server.site.closing.set)
            return server.site

        yield make


@pytest.fixture
def site(new_site: Callable[[], Site]) -> Site:
    return new_site()
