"""Serving an ASGI application for as long as a context lasts."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import uvicorn

from swf_temporal.errors import UsageError
from swf_temporal.settings.values import Address

_GRACE = 5
"""Seconds in which requests that are under way may still be answered."""


STOPPING: Final = "swf.stopping"
"""The key under which the scope of a request has an event: that the server stops, for what never ends by itself."""
_PATIENCE: Final = 30.0
"""Seconds in which a connection has to send the head of a request. Once it has sent one, uvicorn closes it sooner."""
_MAX_HEAD: Final = 64 * 1024
"""The size limit of the head of a request, in bytes, in which each header counts some more."""
_HEADER_COST: Final = 32
_TOO_LONG: Final = f"The head of a request has at most {_MAX_HEAD:,} bytes."
_MAX_CONNECTIONS: Final = 4096
"""The number of connections beyond which idle ones are closed, where half the limit of open files allows so many."""


try:
    import httptools
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
except ImportError:  # then uvicorn reads requests with h11, which limits heads by itself
    _PROTOCOL: Any = "h11"
else:

    class _Protocol(HttpToolsProtocol):
        """Refuses requests with more before, between and behind their bodies than a head may have.

        The library would gather it for ever.
        """

        _head = 0
        """What the head takes, of what is read of it; and trailers, which are headers behind a body."""
        _gathered = 0
        """The bytes that came since a request, or a part of its body, was read."""
        _latest = 0

        def data_received(self, data: bytes) -> None:
            self._latest = len(data)  # at most 256 KiB
            super().data_received(data)
            self._gathered += self._latest
            if self._gathered > _MAX_HEAD and not self.transport.is_closing():
                self.send_400_response(_TOO_LONG)

        def on_message_begin(self) -> None:
            self._head, self._gathered = 0, -self._latest
            super().on_message_begin()

        def on_url(self, url: bytes) -> None:
            self._count(len(url))
            super().on_url(url)

        def on_header(self, name: bytes, value: bytes) -> None:
            self._count(len(name) + len(value) + _HEADER_COST)
            super().on_header(name, value)

        def on_body(self, body: bytes) -> None:
            self._gathered = -self._latest
            super().on_body(body)

        def on_message_complete(self) -> None:
            self._gathered = -self._latest
            super().on_message_complete()

        def send_400_response(self, msg: str) -> None:
            super().send_400_response(_TOO_LONG if self._head > _MAX_HEAD else msg)

        def _count(self, size: int) -> None:
            self._head += size
            if self._head > _MAX_HEAD:
                raise httptools.HttpParserError(_TOO_LONG)

    _PROTOCOL = _Protocol


class _Server(uvicorn.Server):
    """A server in a process that has its own way of being told to stop. It closes idle connections to have room."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._most = _most_connections()
        self._idle: dict[Any, tuple[object, float]] = {}

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def on_tick(self, counter: int) -> bool:
        """Close idle connections, several times a second, and do what the library does."""
        self._close_idle(time.monotonic())
        return await super().on_tick(counter)

    def _close_idle(self, now: float) -> None:
        """Close connections without a request under way: those that are so for long and, of too many, the longest."""
        before, self._idle = self._idle, {}
        connections: set[Any] = self.server_state.connections
        for one in connections:
            latest = one.cycle  # the request that it has sent last
            if latest is None or latest.response_complete:
                known, since = before.get(one, (latest, now))
                self._idle[one] = latest, since if known is latest else now
        excess = len(connections) - self._most
        for number, (one, (_, since)) in enumerate(sorted(self._idle.items(), key=lambda item: item[1][1])):
            if number < excess or now - since > _PATIENCE:
                one.transport.abort()  # closing would wait for a client that does not read


def _most_connections() -> int:
    """Return how many connections leave enough of the files that the process may have open at once."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return _MAX_CONNECTIONS
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MAX_CONNECTIONS if limit == resource.RLIM_INFINITY else min(limit // 2, _MAX_CONNECTIONS)


@asynccontextmanager
async def asgi_server(application: Any, address: Address, hint: str, **options: Any) -> AsyncIterator[Address]:
    """Serve *application* at *address*, whose port may be 0, for as long as the context lasts; yield where that is.

    *options* are those of uvicorn. Raises UsageError with *hint* if nothing can listen there.
    """
    stopping = asyncio.Event()

    async def stoppable(scope: Any, receive: Any, send: Any) -> None:
        scope[STOPPING] = stopping
        await application(scope, receive, send)

    with _listening(address, hint) as listening:
        config = uvicorn.Config(
            stoppable,
            http=_PROTOCOL,
            h11_max_incomplete_event_size=_MAX_HEAD,
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
            stopping.set()
            server.should_exit = True
            await serving


def _listening(address: Address, hint: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        listening = socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        why = str(error.strerror or error).partition(" (while attempting")[0]  # what follows is a tuple of Python's
        raise UsageError(f"nothing can listen at {address}: {why}", hint) from None
    # asyncio does this for sockets that it makes itself. Without it the body of an answer, which is a second packet,
    # waits for the client to acknowledge the first: 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
