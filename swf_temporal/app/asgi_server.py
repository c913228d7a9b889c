"""Serving an ASGI application for as long as a context lasts."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn

from swf_temporal.app.settings import Address
from swf_temporal.errors import UsageError

_GRACE = 5
"""Seconds in which requests that are under way may still be answered."""


class _Server(uvicorn.Server):
    """A server in a process that has its own way of being told to stop."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def asgi_server(application: Any, address: Address, hint: str, **options: Any) -> AsyncIterator[Address]:
    """Serve *application* at *address*, whose port may be 0, for as long as the context lasts; yield where that is.

    *options* are those of uvicorn. Raises UsageError with *hint* if nothing can listen there.
    """
    with _listening(address, hint) as listening:
        config = uvicorn.Config(
            application,
            lifespan="off",
            ws="none",
            log_config=None,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=_GRACE,
            **options,
        )
        server = _Server(config)
        serving = asyncio.create_task(server.serve([listening]))
        try:
            yield Address(address.host, listening.getsockname()[1])
        finally:
            server.should_exit = True
            await serving


def _listening(address: Address, hint: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        listening = socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        why = f"nothing can listen at {address}: {error.strerror or error}"
        raise UsageError(why, hint) from None
    # asyncio does this for sockets that it makes itself. Without it the body of an answer, which is a second packet,
    # waits for the client to acknowledge the first: 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
