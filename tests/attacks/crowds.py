"""Many connections at once, made to leave no room for others. As a program it holds them."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from tests.processes import ending_with_us

_REST: Final = 0.2
"""Seconds after which a connection that was closed is opened again."""
_LONG_REST: Final = 5
"""The same for a client that was authenticated: how often it may ask, the rate of its tenant says."""
_HALF: Final = "\r\nhost: 127.0.0.1\r\ncontent-type: application/cloudevents+json\r\ncontent-length: 100\r\n\r\nk"
CROWDS: Final = {
    "half logins": f"POST /console/login HTTP/1.1{_HALF}",
    "half events": f"POST /events HTTP/1.1{_HALF}",
    "half heads": "GET /livez HTTP/1.1\r\nhost: ",
    "silent connections": "",
    "kept connections": "GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
    "pages": "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: {cookie}\r\n\r\n",
}
"""By their names, what each connection of a crowd sends before it stands still."""


@asynccontextmanager
async def crowding(
    host: str, port: int, number: int, crowd: str, *, source: str = "127.0.0.1", path: str = "", cookie: str = ""
) -> AsyncIterator[None]:
    words = [host, str(port), str(number), crowd, source, path, cookie]
    command = [*ending_with_us(), sys.executable, "-m", "tests.attacks.crowds", *words]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"begun\n"
        yield
    finally:
        process.kill()
        await process.wait()


async def _hold(host: str, port: int, source: str, sent: bytes) -> None:
    while True:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection(host, port, local_addr=(source, 0))
            try:
                writer.write(sent)
                while await reader.read(1 << 16):
                    pass
            finally:
                writer.transport.abort()
        await asyncio.sleep(_LONG_REST if b"cookie" in sent else _REST)


async def _crowd(words: Sequence[str]) -> None:
    host, port, number, crowd, source, path, cookie = words
    sent = CROWDS[crowd].format(path=path, cookie=cookie).encode()
    held = [asyncio.create_task(_hold(host, int(port), source, sent)) for _ in range(int(number))]
    await asyncio.sleep(_REST)
    print("begun", flush=True)
    await asyncio.gather(*held)


if __name__ == "__main__":
    asyncio.run(_crowd(sys.argv[1:]))
