"""Serving an ASGI application within a context."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Final, TypeAlias

import uvicorn

from swf_temporal.base.errors import UsageError
from swf_temporal.base.request_bodies import SlowBodyError, patience
from swf_temporal.sdk.http_connections import (
    AT_ONCE,
    CONNECTION,
    KEEP_ALIVE,
    MAX_HELD_BYTES,
    UNDER_WAY,
    Connections,
    ListeningSocket,
    watched,
)
from swf_temporal.settings.values import Address

_GRACE = 5
"""Seconds within which requests in progress may still be answered."""


Receive: TypeAlias = Callable[[], Awaitable[Any]]
STOPPING: Final = "swf.stopping"
"""The scope's key for an event that is set when the server stops, for responses that never end by themselves."""
_TICKS: Final = 10
"""The number of times per second that the library calls `on_tick`."""
_MAX_HEAD: Final = 64 * 1024
"""The size limit of the head of a request, in bytes, including some overhead for each header."""
_HEADER_COST: Final = 32
_SMALL: Final = 16 * 1024
"""The size in bytes up to which a body has to be there before anything is done for its request."""
_DIGITS: Final = len(str(_SMALL))
_TOO_LONG: Final = f"The head of a request has at most {_MAX_HEAD:,} bytes."


try:
    import httptools
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
except ImportError:  # then uvicorn parses requests with h11, which limits heads itself
    from uvicorn.protocols.http.h11_impl import H11Protocol

    _PROTOCOL: Any = H11Protocol
else:

    class _Protocol(HttpToolsProtocol):
        """Refuses requests with more header, trailer or chunk overhead than the limit of a head.

        The library would buffer it without a limit.
        """

        _head = 0
        """The bytes of the head parsed so far; also trailers, which are headers after a body."""
        _gathered = 0
        """The bytes received since a request, or a part of its body, was parsed."""
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
    """A server that leaves signals to the process, and closes idle connections."""

    def __init__(self, config: uvicorn.Config, connections: Connections) -> None:
        super().__init__(config)
        self._open = connections

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def on_tick(self, counter: int) -> bool:
        """Once a second, close connections that have stalled, besides the library's own work."""
        if counter % _TICKS == 0:
            self._open.close_idle()
        return await super().on_tick(counter)


@asynccontextmanager
async def asgi_server(
    application: Any, address: Address, hint: str, max_held: int = MAX_HELD_BYTES, /, **options: Any
) -> AsyncIterator[Address]:
    """Serve *application* at *address*, whose port may be 0, within the context; yield the actual address.

    The bodies of all requests in progress have at most *max_held* bytes. *options* are uvicorn's. Raises UsageError
    with *hint* if the address cannot be used.
    """
    stopping, connections = asyncio.Event(), Connections(max_held)

    async def counted(scope: Any, receive: Any, send: Any) -> None:
        scope[STOPPING], connection = stopping, scope["state"][CONNECTION]
        with connection.answering() as request:
            scope[UNDER_WAY] = request

            async def received() -> Any:
                message = await receive()
                if body := message.get("body"):
                    connections.hold(connection, request, len(body))
                return message

            following = await _with_small_body(received) if _has_small_body(scope) else received
            if following is not None:
                await application(scope, following, send)

    with _listening(address, hint) as listening:
        listening.connections = connections
        config = uvicorn.Config(
            counted,
            http=watched(_PROTOCOL, connections),
            backlog=AT_ONCE,
            h11_max_incomplete_event_size=_MAX_HEAD,
            lifespan="off",
            ws="none",
            log_config=None,
            log_level="warning",
            access_log=False,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=_GRACE,
            **options,
        )
        server = _Server(config, connections)
        serving = asyncio.create_task(server.serve([listening]))
        try:
            yield Address(address.host, listening.getsockname()[1])
        finally:
            stopping.set()
            server.should_exit = True
            await serving


def _has_small_body(scope: Any) -> bool:
    length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    return length.isdigit() and len(length) <= _DIGITS and 0 < int(length) <= _SMALL


async def _with_small_body(receive: Receive) -> Receive | None:
    """Return what yields the whole body of a request, then what *receive* does; None if the client is gone.

    Nothing else is done for a request before its small body is there: what a crowd of them costs that never completes
    is little. If it takes too long, the body is a SlowBodyError.
    """
    pieces, more = list[bytes](), True
    try:
        async with asyncio.timeout(patience()):
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                pieces.append(message.get("body", b""))
                more = message.get("more_body", False)
    except (TimeoutError, SlowBodyError) as error:
        return partial(_fail, SlowBodyError(str(error) or "the body did not arrive in time"))
    whole = [{"type": "http.request", "body": b"".join(pieces), "more_body": False}]

    async def received() -> Any:
        return whole.pop() if whole else await receive()

    return received


async def _fail(error: Exception) -> Any:
    raise error


def _listening(address: Address, hint: str) -> ListeningSocket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        made = socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        why = str(error.strerror or error).partition(" (while attempting")[0]  # the rest is a Python tuple
        raise UsageError(f"nothing can listen at {address}: {why}", hint) from None
    listening = ListeningSocket(made.family, made.type, made.proto, made.detach())
    # asyncio does this for sockets that it makes itself. Without it the body of an answer, which is a second packet,
    # waits for the client to acknowledge the first: 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
