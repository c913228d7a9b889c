"""TCP connections, with TLS or without, that can be checked for unread data.

A kept connection must be empty when it is reused: data that a service sends after the end of an answer would be taken
for the answer to the next request, perhaps of another instance. The library that speaks HTTP over these connections
only checks the socket. So they have no buffers but those checked here: the kernel's, and those of TLS.
"""

import asyncio
import errno
import logging
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, TypeVar

import httpcore

_log = logging.getLogger("swf")
_PIECE = 65536
_MAX_TOLD = 1024

_IS_FRESH: ContextVar[bool] = ContextVar("is_fresh", default=False)

Result = TypeVar("Result")


class UnansweredError(httpcore.RemoteProtocolError):
    """A service closed a kept connection before it sent any byte of an answer."""


@contextmanager
def fresh() -> Iterator[None]:
    """Let requests of this task only use new connections."""
    token = _IS_FRESH.set(True)
    try:
        yield
    finally:
        _IS_FRESH.reset(token)


class Stream(httpcore.AsyncNetworkStream):
    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._is_waiting = self._is_closed = False
        self._answered_by: str | None = None
        self._is_spoiled = self._is_unanswered = False

    def end_answer(self, origin: str, excess: bytes) -> None:
        """Allow the connection to be reused, after an answer of *origin*, if there was no *excess* after its end."""
        self._answered_by = origin
        if excess:
            self._spoil(excess)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return the data received, at most *max_bytes*, or nothing at the end. Raises UnansweredError."""
        try:
            with _faults(httpcore.ReadTimeout, httpcore.ReadError):
                async with asyncio.timeout(timeout):
                    received = await self._receive(max_bytes)
        except httpcore.ReadError as error:
            if self._is_unanswered and not self._is_closed:
                raise UnansweredError(str(error)) from error
            raise
        if self._is_unanswered and not received:
            raise UnansweredError("the service closed the kept connection without an answer")
        self._is_unanswered = False
        return received

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send *buffer*. Raises ConnectionNotAvailable, so that the pool takes another, if this may not be reused.

        That is also checked here, right before the first byte of a request.
        """
        if not buffer:
            return  # the end of a request of known length, or the body of one without
        if self._answered_by is not None:
            if _IS_FRESH.get() or not self._is_empty():
                raise httpcore.ConnectionNotAvailable
            self._answered_by, self._is_unanswered = None, True
        with _faults(httpcore.WriteTimeout, httpcore.WriteError):
            async with asyncio.timeout(timeout):
                await self._send(buffer)

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        secured = TlsStream(self, ssl_context, server_hostname)
        try:
            with _faults(httpcore.ConnectTimeout, httpcore.ConnectError):
                async with asyncio.timeout(timeout):
                    await secured.shake_hands()
        except BaseException:
            await self.aclose()
            raise
        return secured

    async def aclose(self) -> None:
        """Close the connection; a waiting reader or writer gets an error."""
        self._is_closed = True
        if self._is_waiting:  # the event loop must not lose a socket that it watches
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        else:
            self._socket.close()

    def get_extra_info(self, info: str) -> Any:
        """Return for the pool whether something `is_readable`: then an idle connection is closed instead of reused."""
        return not self._is_empty() if info == "is_readable" else None

    def _is_empty(self) -> bool:
        if self._answered_by is None:
            return False
        if not self._is_spoiled and (found := self._at_once()) is not None:
            self._spoil(found)
        return not self._is_spoiled

    def _spoil(self, found: bytes) -> None:
        self._is_spoiled = True
        if found and self._answered_by is not None:
            _tell(self._answered_by)

    async def _receive(self, max_bytes: int) -> bytes:
        await asyncio.sleep(0)  # a sender that is faster than we read must not block all others
        with self._waiting():
            return await asyncio.get_running_loop().sock_recv(self._socket, max_bytes)

    async def _send(self, buffer: bytes) -> None:
        with self._waiting():
            await asyncio.get_running_loop().sock_sendall(self._socket, buffer)

    def _at_once(self) -> bytes | None:
        """Return the available data without waiting; None if there is none yet, and empty at the end."""
        try:
            return self._socket.recv(_PIECE)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        self._is_waiting = True
        try:
            yield
        finally:
            self._is_waiting = False
            if self._is_closed:
                self._socket.close()
        if self._is_closed:
            raise ConnectionAbortedError(errno.ECONNABORTED, "it was closed here")


class TlsStream(Stream):
    """A connection secured by TLS, over another one."""

    def __init__(self, below: Stream, context: ssl.SSLContext, hostname: str | None) -> None:
        super().__init__(below._socket)  # noqa: SLF001 - of the same class
        self._below = below
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=hostname)

    async def shake_hands(self) -> None:
        """Perform the TLS handshake. Raises ssl.SSLError if the server's identity is wrong."""
        await self._perform(self._tls.do_handshake)

    async def aclose(self) -> None:
        self._is_closed = True
        await self._below.aclose()

    def get_extra_info(self, info: str) -> Any:
        """Return the `ssl_object`, too."""
        return self._tls if info == "ssl_object" else super().get_extra_info(info)

    async def _receive(self, max_bytes: int) -> bytes:
        try:
            return await self._perform(lambda: self._tls.read(max_bytes))
        except ssl.SSLEOFError:
            return b""  # many servers close the connection without a TLS closure alert

    async def _send(self, buffer: bytes) -> None:
        rest = memoryview(buffer)
        while rest:
            rest = rest[await self._perform(lambda: self._tls.write(rest)) :]  # noqa: B023 - called immediately

    def _at_once(self) -> bytes | None:
        found = self._below._at_once()  # noqa: SLF001 - of the same class
        if found is None and not self._incoming.pending and not self._tls.pending():
            return None
        try:
            self._incoming.write(found or b"")
            return self._tls.read(_PIECE)
        except ssl.SSLError:
            return b""  # part of a record, or data of TLS itself

    async def _perform(self, step: Callable[[], Result]) -> Result:
        """Return the result of *step*, for which TLS may have to send and receive."""
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                await self._flush()
                if received := await self._below._receive(_PIECE):  # noqa: SLF001 - of the same class
                    self._incoming.write(received)
                else:
                    self._incoming.write_eof()
            else:
                await self._flush()
                return result

    async def _flush(self) -> None:
        if self._outgoing.pending:
            await self._below._send(self._outgoing.read())  # noqa: SLF001 - of the same class


async def connected(address: str, port: int, timeout: float | None) -> Stream:
    """Return a connection to *address*. Raises httpcore's ConnectError or ConnectTimeout."""
    with _faults(httpcore.ConnectTimeout, httpcore.ConnectError):
        made = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    try:
        made.settimeout(0)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with _faults(httpcore.ConnectTimeout, httpcore.ConnectError):
            async with asyncio.timeout(timeout):
                await asyncio.get_running_loop().sock_connect(made, (address, port))
    except BaseException:
        made.close()
        raise
    return Stream(made)


@contextmanager
def _faults(late: type[Exception], broken: type[Exception]) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise late(str(error)) from error
    except OSError as error:
        raise broken(str(error)) from error


@lru_cache(maxsize=_MAX_TOLD)
def _tell(origin: str) -> None:
    """Log once that *origin* sent excess data."""
    _log.warning(
        "%s sends more than the answer to a request. The connection is closed, and the excess is dropped. "
        "Find out whether the service, or a proxy before it, answers twice or with a wrong Content-Length: others may "
        "take one answer for another.",
        origin,
    )
