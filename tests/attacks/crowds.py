"""Many connections at once, made to leave no room for others. As a program it holds them."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any, Final

from tests.processes import ending_with_us

_REST: Final = 0.2
"""Seconds after which a connection that was closed is opened again."""
_LONG_REST: Final = 5
"""The same for a client that was authenticated: how often it may ask, the rate of its tenant says."""
_PIECE: Final = b"x" * 65_536
_FORM: Final = "content-type: application/x-www-form-urlencoded"
_CLOUD_EVENT: Final = "content-type: application/cloudevents+json"
_BATCH: Final = "content-type: application/cloudevents-batch+json"


@dataclass(frozen=True, slots=True)
class Crowd:
    """What each connection sends, before it waits for what the server does with it."""

    line: str
    """The first line of a request, without the version; nothing is sent if it is empty."""
    headers: tuple[str, ...] = ()
    is_whole: bool = True
    """Whether the head is sent to its end."""
    body: int = 0
    """The bytes of a body that are sent of one that has one byte more."""
    reads: bool = True
    """Whether what the server sends is read."""
    again: bool = False
    """Whether the same is asked again on the connection, as soon as it has been answered."""
    rest: float = _REST

    @property
    def head(self) -> bytes:
        if not self.line:
            return b""
        lines = [f"{self.line} HTTP/1.1", "host: 127.0.0.1", *self.headers]
        lines += [f"content-length: {self.body + 1}"] if self.body else []
        return ("\r\n".join(lines) + ("\r\n\r\n" if self.is_whole else "\r\n")).encode()


CROWDS: Final = {
    "half logins": Crowd("POST /console/login", (_CLOUD_EVENT,), body=99),
    "half events": Crowd("POST /events", (_CLOUD_EVENT,), body=99),
    "half heads": Crowd("GET /livez", is_whole=False),
    "silent connections": Crowd(""),
    "kept connections": Crowd("GET /livez"),
}
"""What clients without a key do, by name."""
IN_CHUNKS: Final = Crowd("POST /events", (_CLOUD_EVENT, "transfer-encoding: chunked"))
"""Events whose length is not known before they end, and of which nothing comes."""
LARGE: Final = Crowd("POST /events", (_BATCH,), body=7_900_000, rest=_LONG_REST)
"""Batches of events, of which only the end is missing."""


def of_client(method: str, path: str, *headers: str, rest: float = _LONG_REST, **more: Any) -> Crowd:
    """Return a crowd of clients that have a key, in *headers*."""
    return Crowd(f"{method} {path}", headers, rest=rest, **more)


def form(path: str, *headers: str) -> Crowd:
    """Return a crowd of clients that send forms of the console, of which the end is missing."""
    return of_client("POST", path, _FORM, *headers, body=1_000_000)


@asynccontextmanager
async def crowding(
    host: str, port: int, number: int, crowd: Crowd, *, source: str = "127.0.0.1"
) -> AsyncIterator[None]:
    told = json.dumps([host, port, number, source, asdict(crowd)])
    command = [*ending_with_us(), "nice", "-n", "19", sys.executable, "-m", "tests.attacks.crowds", told]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"begun\n"
        yield
    finally:
        process.kill()
        await process.wait()


async def _hold(host: str, port: int, source: str, crowd: Crowd) -> None:
    while True:
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection(host, port, local_addr=(source, 0))
            try:
                await _attack(reader, writer, crowd)
            finally:
                writer.transport.abort()
        await asyncio.sleep(crowd.rest)


async def _attack(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, crowd: Crowd) -> None:
    writer.write(crowd.head)
    for sent in range(0, crowd.body, len(_PIECE)):
        writer.write(_PIECE[: crowd.body - sent])
        await writer.drain()
    while crowd.again:
        await read_answer(reader)
        writer.write(crowd.head)
    while not crowd.reads and not writer.is_closing():
        writer.write(b"x")  # nothing else would tell that it is closed
        await asyncio.sleep(_REST)
    while await reader.read(1 << 16):
        pass


async def read_answer(reader: asyncio.StreamReader) -> bytes:
    """Return the first line of an answer, which has a length."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length or 0))
    return head.partition(b"\r\n")[0]


async def _crowd(told: str) -> None:
    host, port, number, source, crowd = json.loads(told)
    held = [asyncio.create_task(_hold(host, port, source, Crowd(**crowd))) for _ in range(number)]
    await asyncio.sleep(_REST)
    print("begun", flush=True)
    await asyncio.gather(*held)


if __name__ == "__main__":
    asyncio.run(_crowd(sys.argv[1]))
