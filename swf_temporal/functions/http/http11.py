"""A connection that carries one HTTP/1.1 request after another, each with its answer."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Any

import h11
import httpx

from swf_temporal.functions.http.streams import Stream

_log = logging.getLogger("swf")
_MAX_HEAD = 100 * 1024
"""The size limit of the head of an answer, in bytes."""
_MAX_TOLD = 1024
_SWITCHING = 101
"""The status of an answer after which no further one comes by HTTP/1.1."""


class UnansweredError(httpx.RemoteProtocolError):
    """A service closed a kept connection before it sent any byte of an answer."""


def head_of(method: str, target: bytes, headers: Iterable[tuple[bytes, bytes]]) -> h11.Request:
    """Return the head of a request. Raises LocalProtocolError if HTTP does not allow it."""
    try:
        return h11.Request(method=method, target=target, headers=list(headers))
    except h11.LocalProtocolError as error:
        raise httpx.LocalProtocolError(str(error)) from error


class Connection:
    """A connection to *origin*, such as `http://host:8080`; it has a stream once it is connected."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.stream: Stream | None = None
        self.expires = 0.0
        """The time of the event loop at which it is closed, unless it is used before."""
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD)
        self._is_kept = self._is_unanswered = False

    async def ask(self, head: h11.Request, content: bytes = b"") -> Any:
        """Send a request, and return the head of its answer. Raises UnansweredError."""
        try:
            sent = self._http.send(head) or b""
            if content:
                sent += self._http.send(h11.Data(content)) or b""
            sent += self._http.send(h11.EndOfMessage()) or b""
        except h11.LocalProtocolError as error:
            raise httpx.LocalProtocolError(str(error)) from error
        self._is_unanswered = self._is_kept
        with suppress(httpx.WriteError):  # a service that refuses a large body may answer before it has read all of it
            await self._connected.write(sent)
        await self._receive()
        while type(event := await self._next()) is h11.InformationalResponse and event.status_code != _SWITCHING:
            pass
        return event

    async def body(self) -> AsyncIterator[bytes]:
        """Yield the body of the answer in pieces, as they arrive."""
        while type(event := await self._next()) is h11.Data:
            yield bytes(event.data)

    def may_be_kept(self) -> bool:
        """Make it ready for the next request, and return whether that is possible.

        The answer must have been read to its end, with nothing after it.
        """
        http = self._http
        if self._connected.is_closed or not (http.our_state is http.their_state is h11.DONE):
            return False
        excess, is_ended = http.trailing_data
        if excess:
            _tell(self.origin)
        if excess or is_ended:
            return False
        http.start_next_cycle()
        self._is_kept = True
        return True

    def is_empty(self) -> bool:
        """Return whether a kept connection is still open, and nothing was sent after the last answer."""
        found = self._connected.at_once()
        if found:
            _tell(self.origin)
        return found is None

    def close(self) -> None:
        if self.stream is not None:
            self.stream.close()

    @property
    def _connected(self) -> Stream:
        assert self.stream is not None  # noqa: S101 - it is used once it is connected
        return self.stream

    async def _next(self) -> Any:
        """Return the next event of the answer, once it has arrived."""
        while (event := self._parsed()) is h11.NEED_DATA:
            await asyncio.sleep(0)  # a sender that is faster than we read must not block all others
            await self._receive()
        return event

    def _parsed(self) -> Any:
        try:
            return self._http.next_event()
        except h11.RemoteProtocolError as error:
            raise httpx.RemoteProtocolError(str(error)) from error

    async def _receive(self) -> None:
        try:
            received = await self._connected.read()
        except httpx.ReadError as error:
            if self._is_unanswered and not self._connected.is_closed:
                raise UnansweredError(str(error)) from error
            raise
        if not received and self._is_unanswered:
            raise UnansweredError("the service closed the kept connection without an answer")
        if not received and self._http.their_state is h11.SEND_RESPONSE:
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
        self._is_unanswered = False
        self._http.receive_data(received)


@lru_cache(maxsize=_MAX_TOLD)
def _tell(origin: str) -> None:
    """Log once that *origin* sent excess data."""
    _log.warning(
        "%s sends more than the answer to a request. The connection is closed, and the excess is dropped. "
        "Find out whether the service, or a proxy before it, answers twice or with a wrong Content-Length: others may "
        "take one answer for another.",
        origin,
    )
