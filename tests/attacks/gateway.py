"""Requests that are made to stop a gateway, or to fill its memory."""

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from tests.cli.conftest import COMMAND, HELLO, Place

EVENT: Final = b'{"specversion":"1.0","id":"1","source":"s","type":"t"}'
STRUCTURED: Final = "application/cloudevents+json"
BATCH: Final = "application/cloudevents-batch+json"
_PATIENCE: Final = 100
"""Seconds after which an attack is taken for one that has no end."""
_ENDLESS: Final = 40_000_000
"""The bytes that are sent of what has no end."""
_PIECE: Final = 64 * 1024


class Target(NamedTuple):
    host: str
    port: int
    pid: int
    log: Path | None = None
    """The file with the stderr of the process."""


@contextmanager
def attacked(
    temporal: str,
    configuration: str = "",
    *options: str,
    definitions: Sequence[str] = (HELLO,),
    files: int | None = None,
    **env: str,
) -> Iterator[Target]:
    with TemporaryDirectory() as folder:
        place = Place(Path(folder))
        place.env |= env
        for number, text in enumerate(definitions):
            place.write(f"definitions/served-{number}.yaml", text)
        place.write("swf.yaml", configuration)
        words = ["definitions", "--config", "swf.yaml", "--port", "0", "--address", temporal, *options]
        limit = "" if files is None else f"ulimit -n {files}; "
        limited = ["sh", "-c", f'{limit}exec "$@" 2>log', "-"]  # nobody reads a pipe, which would fill
        with place.running("gateway", *words, command=[*limited, *COMMAND], stream="stdout") as gateway:
            url = urlsplit(gateway.until("http://").strip())
            yield Target(url.hostname or "", url.port or 0, gateway.process.pid, place.folder / "log")


@dataclass(frozen=True, slots=True)
class Attack:
    """A request, and the statuses with which it may be refused; 0 if its connection is closed without one."""

    name: str
    make: Callable[[], Iterator[bytes]]
    statuses: tuple[int, ...]


def posted(content_type: str, body: bytes, *headers: str) -> Callable[[], Iterator[bytes]]:
    lines = ["POST /events HTTP/1.1", "host: 127.0.0.1", f"content-type: {content_type}", *headers]
    head = "\r\n".join([*lines, f"content-length: {len(body)}", "connection: close", "", ""]).encode()
    return lambda: iter([head, body])


def asked(line: str, *headers: str) -> Callable[[], Iterator[bytes]]:
    """Return a request without the body that *headers* may tell of."""
    head = "\r\n".join([f"{line} HTTP/1.1", *headers, "connection: close", "", ""]).encode()
    return lambda: iter([head])


def endless(beginning: bytes, repeated: bytes) -> Callable[[], Iterator[bytes]]:

    def pieces() -> Iterator[bytes]:
        piece = repeated * (_PIECE // len(repeated))
        yield beginning
        for _ in range(_ENDLESS // len(piece)):
            yield piece

    return pieces


_BEGUN: Final = b"POST /events HTTP/1.1\r\nhost: 127.0.0.1\r\n"
_IN_CHUNKS: Final = b"content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
_CHUNKED: Final = _BEGUN + _IN_CHUNKS
_CHUNK: Final = b"400\r\n" + b"1" * 1024 + b"\r\n"
_HOST, _EVIL = "host: 127.0.0.1", "origin: https://evil.example"

ATTACKS: Final = (
    Attack("punycode", posted(f"{STRUCTURED}; charset=punycode", b"a" * 1_000_000), (415,)),
    Attack("semicolons", posted(f'application/json; a="{";" * 50_000}"', b"{}"), (415,)),
    Attack("batch of 2.7 million", posted(BATCH, b"[" + b"{}," * 2_700_000 + b"{}]"), (413,)),
    Attack("batch of 100,000 events", posted(BATCH, b"[" + b",".join([EVENT] * 100_000) + b"]"), (413,)),
    Attack("long id", posted(STRUCTURED, EVENT.replace(b'"1"', b'"' + b"i" * 900_000 + b'"')), (400,)),
    Attack("endless headers", endless(_BEGUN, b"a: b\r\n"), (400, 0)),
    Attack("endless header", endless(_BEGUN + b"a: ", b"b" * 1000), (400, 0)),
    Attack("endless path", endless(b"GET /", b"b" * 1000), (400, 0)),
    Attack("endless trailers", endless(_CHUNKED + b"0\r\n", b"a: b\r\n"), (400, 415, 0)),
    Attack("endless trailer", endless(_CHUNKED + b"0\r\na: ", b"b" * 1000), (400, 415, 0)),
    Attack("endless chunk extension", endless(_CHUNKED + b"1;", b"b" * 1000), (400, 415, 0)),
    Attack("endless body", endless(_CHUNKED.replace(b"/json", b"/cloudevents+json"), _CHUNK), (413, 0)),
    Attack("two hosts", asked("GET /workflows", _HOST, "host: evil.example"), (400,)),
    Attack("another host", asked("GET /workflows", "host: evil.example"), (421,)),
    Attack("a page of another origin", asked("POST /workflows/hello", _HOST, _EVIL, "content-length: 0"), (403,)),
    Attack("a login from another origin", asked("POST /console/login", _HOST, _EVIL, "content-length: 0"), (403,)),
    Attack("a page token", asked("GET /console/instances?after=wrong", _HOST), (422,)),
)
"""Those on a gateway with a console."""
OF_FUNCTION: Final = (
    Attack("a page of another origin", asked("POST /", _HOST, _EVIL, "content-type: text/plain"), (403,)),
    Attack("another host", asked("POST /", "host: evil.example", "content-length: 0"), (421,)),
    Attack("a body of 300 MiB", asked("POST /", _HOST, "content-length: 314572800"), (413,)),
    Attack("endless body", endless(b"POST / HTTP/1.1\r\nhost: 127.0.0.1\r\n" + _IN_CHUNKS, _CHUNK), (413, 0)),
)
"""Those on a served function."""


def status_of(attack: Attack, host: str, port: int) -> int:
    with socket.create_connection((host, port), timeout=_PATIENCE) as connection:
        answer = b""
        with suppress(ConnectionError):  # it may be closed before all is sent
            for piece in attack.make():
                connection.sendall(piece)
        with suppress(ConnectionError):
            answer = connection.recv(_PIECE)
    return int(answer.split()[1]) if answer else 0
