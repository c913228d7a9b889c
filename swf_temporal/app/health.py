"""Health checks over HTTP: whether a worker is alive, and whether it can work."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from swf_temporal.errors import UsageError

Probe = Callable[[], Awaitable[bool]]

_ANY_HOST = "0.0.0.0"  # noqa: S104 - what looks after containers asks from outside
_MAX_WAIT = 5


@asynccontextmanager
async def health_endpoint(port: int, is_ready: Probe) -> AsyncIterator[None]:
    """Answer `/livez` and `/readyz` on *port* for as long as the context lasts. Raises UsageError if it is taken."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_MAX_WAIT):
                status, text = await _answer(await reader.readline(), is_ready)
                head = f"HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {len(text)}\r\n"
                writer.write(f"{head}connection: close\r\n\r\n{text}".encode())
                await writer.drain()
        except (OSError, TimeoutError, ValueError):
            pass  # the client does not listen any more, or never spoke HTTP
        finally:
            writer.close()

    try:
        server = await asyncio.start_server(answer, _ANY_HOST, port)
    except OSError:
        raise UsageError(f"port {port} is taken", "choose another with --health") from None
    async with server:
        yield


async def _answer(request: bytes, is_ready: Probe) -> tuple[str, str]:
    path = request.split(b" ")[1:2]
    if path == [b"/livez"]:
        return "200 OK", "alive\n"
    if path != [b"/readyz"]:
        return "404 Not Found", "there are /livez and /readyz\n"
    if await is_ready():
        return "200 OK", "ready\n"
    return "503 Service Unavailable", "not ready\n"
