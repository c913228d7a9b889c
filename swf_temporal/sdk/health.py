"""Health checks over HTTP: whether a worker is alive, and whether it can work."""

import asyncio
import errno
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http import HTTPStatus
from typing import TypeAlias

from swf_temporal.base.errors import UsageError
from swf_temporal.sdk.worker_process import LOOPBACK, WorkerProcess
from swf_temporal.settings.values import Address

Answer: TypeAlias = Callable[[str], Awaitable[tuple[int, str]]]
"""Returns the status and the text for a path."""

ANY_HOST = "0.0.0.0"  # noqa: S104 - probes of containers come from outside
_MAX_WAIT = 5
_MAX_CONNECTIONS = 100
"""The limit of connections; beyond it the oldest is closed, since each is answered at once."""


@asynccontextmanager
async def answering(port: int, answer: Answer, option: str, host: str = ANY_HOST) -> AsyncIterator[None]:
    """Answer at *host* and *port* within the context. Raises UsageError, which names *option*, if it cannot."""
    connections: dict[asyncio.StreamWriter, None] = {}

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections[writer] = None
        if len(connections) > _MAX_CONNECTIONS:
            oldest = next(iter(connections))
            del connections[oldest]
            oldest.transport.abort()
        try:
            async with asyncio.timeout(_MAX_WAIT):
                words = (await reader.readline()).split(b" ")
                status, text = await answer(words[1].decode("ascii", "replace") if len(words) > 1 else "")
                body = text.encode()
                head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
                head += f"content-type: text/plain\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
                writer.write(head.encode() + body)
                await writer.drain()
        except (OSError, TimeoutError, ValueError):
            pass  # the client has disconnected, or does not speak HTTP
        finally:
            connections.pop(writer, None)
            writer.close()

    try:
        server = await asyncio.start_server(connected, host, port)
    except OSError as error:
        why = "the port is taken" if error.errno == errno.EADDRINUSE else error.strerror
        raise UsageError(
            f"nothing can listen at {Address(host, port)}: {why}", f"choose another with {option}"
        ) from None
    async with server:
        yield


Probe = Callable[[], Awaitable[bool]]


def health_endpoint(port: int, is_ready: Probe, serves: str = "") -> AbstractAsyncContextManager[None]:
    """Answer `/livez` and `/readyz` on *port* within the context. Raises UsageError if it is taken.

    *serves* identifies what this process serves, for a command that started several.
    """
    place = WorkerProcess.own()
    ready, host = ("ready\n", ANY_HOST) if place is None else (f"ready {serves}\n", LOOPBACK)

    async def answer(path: str) -> tuple[int, str]:
        if path == "/livez":
            return 200, "alive\n"
        if path != "/readyz":
            return 404, "there are /livez and /readyz\n"
        return (200, ready) if await is_ready() else (503, "not ready\n")

    return answering(port, answer, "--health", host)
