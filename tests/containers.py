"""A function in a container, as its caller sees it: an HTTP server, and a folder that it shares with the worker."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.listening import listening

MOUNTED = "/mnt/shared"
"""Where the function sees the folder that it shares."""


class Refused(Exception):  # noqa: N818 - what a function tells
    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class Asked:
    method: str
    action_id: str
    body: Any
    folder: Path | None
    """The directory of the call, on this machine; None without one."""
    headers: Mapping[str, str]


Function = Callable[[Asked], Any]


@dataclass
class Container:
    url: str
    folder: Path
    requests: list[Asked] = field(default_factory=list)

    @property
    def posts(self) -> list[Asked]:
        return [one for one in self.requests if one.method == "POST"]

    @property
    def is_empty(self) -> bool:
        return not list(self.folder.iterdir())


@contextmanager
def container(folder: Path, function: Function, port: int = 0) -> Iterator[Container]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self._asked()
            try:
                content, told = json.dumps(function(asked)).encode(), {}
            except Refused as error:
                content, told = b"", {"Direktiv-ErrorCode": error.code, "Direktiv-ErrorMessage": error.message}
            self._answer(content, told)

        def do_DELETE(self) -> None:
            self._asked()
            self._answer(b"", {})

        def _asked(self) -> Asked:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            name = self.headers.get("Direktiv-TempDir")
            directory = None if name is None else folder / Path(name).relative_to(MOUNTED)
            body = json.loads(content) if content else None
            headers = dict(self.headers.items())
            asked = Asked(self.command, self.headers["Direktiv-ActionID"], body, directory, headers)
            served.requests.append(asked)
            return asked

        def _answer(self, content: bytes, headers: Mapping[str, str]) -> None:
            try:
                self.send_response(200)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                pass  # whoever called is gone

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the library uses
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    served = Container(f"http://127.0.0.1:{server.server_port}/", folder)
    with listening(server):
        yield served
