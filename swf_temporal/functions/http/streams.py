"""TCP connections, with TLS or without, that can be checked for unread data.

A kept connection must be empty when it is reused: data that a service sends after the end of an answer would be taken
for the answer to the next request, perhaps of another instance. So these connections have no buffers but those checked
here: the kernel's, and those of TLS.
"""

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

import httpx

_PIECE = 65536

Result = TypeVar("Result")


class Stream:
    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._is_waiting = False
        self.is_closed = False

    async def read(self) -> bytes:
        """Return data, once some has been received, or nothing at the end. Raises ReadError."""
        with _faults(httpx.ReadTimeout, httpx.ReadError):
            return await self._receive()

    async def write(self, data: bytes) -> None:
        """Send *data*. Raises WriteError."""
        with _faults(httpx.WriteTimeout, httpx.WriteError):
            await self._send(data)

    def at_once(self) -> bytes | None:
        """Return the available data without waiting; None if there is none yet, and empty at the end."""
        try:
            return self._socket.recv(_PIECE)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    async def secured(self, context: ssl.SSLContext, hostname: str, timeout: float) -> "Stream":
        """Return this connection with TLS. Raises ConnectError if the server's identity is wrong, or ConnectTimeout."""
        made = TlsStream(self, context, hostname)
        try:
            with _faults(httpx.ConnectTimeout, httpx.ConnectError):
                async with asyncio.timeout(timeout):
                    await made.shake_hands()
        except BaseException:
            self.close()
            raise
        return made

    def close(self) -> None:
        """Close the connection; a waiting reader or writer gets an error."""
        self.is_closed = True
        if self._is_waiting:  # the event loop must not lose a socket that it watches
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        else:
            self._socket.close()

    async def _receive(self) -> bytes:
        with self._waiting():
            return await asyncio.get_running_loop().sock_recv(self._socket, _PIECE)

    async def _send(self, data: bytes) -> None:
        with self._waiting():
            await asyncio.get_running_loop().sock_sendall(self._socket, data)

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        self._is_waiting = True
        try:
            yield
        finally:
            self._is_waiting = False
            if self.is_closed:
                self._socket.close()
        if self.is_closed:
            raise ConnectionAbortedError(errno.ECONNABORTED, "it was closed here")


class TlsStream(Stream):
    """A connection secured by TLS, over another one."""

    def __init__(self, below: Stream, context: ssl.SSLContext, hostname: str) -> None:
        super().__init__(below._socket)  # noqa: SLF001 - of the same class
        self._below = below
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=hostname)

    async def shake_hands(self) -> None:
        """Perform the TLS handshake. Raises ssl.SSLError if the server's identity is wrong."""
        await self._perform(self._tls.do_handshake)

    def at_once(self) -> bytes | None:
        """Return the available data without waiting; None if there is none yet, and empty if it cannot be read."""
        found = self._below.at_once()
        if found is None and not self._incoming.pending and not self._tls.pending():
            return None
        try:
            self._incoming.write(found or b"")
            return self._tls.read(_PIECE)
        except ssl.SSLError:
            return b""  # part of a record, or data of TLS itself

    def close(self) -> None:
        """Close the connection below, too."""
        self.is_closed = True
        self._below.close()

    async def _receive(self) -> bytes:
        try:
            return await self._perform(lambda: self._tls.read(_PIECE))
        except ssl.SSLEOFError:
            return b""  # many servers close the connection without a TLS closure alert

    async def _send(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[await self._perform(lambda: self._tls.write(rest)) :]  # noqa: B023 - called immediately

    async def _perform(self, step: Callable[[], Result]) -> Result:
        """Return the result of *step*, for which TLS may have to send and receive."""
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                await self._flush()
                if received := await self._below._receive():  # noqa: SLF001 - of the same class
                    self._incoming.write(received)
                else:
                    self._incoming.write_eof()
            else:
                await self._flush()
                return result

    async def _flush(self) -> None:
        if self._outgoing.pending:
            await self._below._send(self._outgoing.read())  # noqa: SLF001 - of the same class


async def connected(address: str, port: int, timeout: float) -> Stream:
    """Return a connection to *address*. Raises ConnectError or ConnectTimeout."""
    with _faults(httpx.ConnectTimeout, httpx.ConnectError):
        made = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    try:
        made.settimeout(0)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with _faults(httpx.ConnectTimeout, httpx.ConnectError):
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
