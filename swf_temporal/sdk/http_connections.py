"""The connections of an HTTP server: which are closed when there are too many, and which have stalled.

A connection *waits* while its client has not sent all of a request, or does not read an answer. Waiting costs a client
nothing, so waiting connections are closed first: of the address with the most of them, the one that has waited longest.
A request of an authenticated sender is never closed for this, but counted for that sender.

What has arrived of the bodies of all requests in progress is bounded, too: of the sender with the most of it, the one
that began first of those that still arrive is closed.
"""

import asyncio
import errno
import logging
import socket
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final

from swf_temporal.base.request_bodies import SlowBodyError

_PATIENCE: Final = 30.0
"""Seconds within which a client has to send the head of a request, and to read some of an answer."""
MAX_CONNECTIONS: Final = 8192
"""The number of connections beyond which some are closed, unless three quarters of the open files are fewer."""
AT_ONCE: Final = 8
"""The number of connections accepted before open ones are served again."""
_PIECE: Final = 32 * 1024
"""The bytes that are read from a connection before others are served again; asyncio would read eight times as many."""
_BACKLOG: Final = 2048
"""The number of connections that may wait to be accepted."""
MAX_HELD_BYTES: Final = 128 * 1024 * 1024
"""The size of what has arrived of the bodies of requests in progress. A single one may be larger."""
_PATIENCE_FACTOR: Final = 4
"""The factor by which a connection that was answered before may wait longer than others."""
KEEP_ALIVE: Final = int(_PATIENCE * _PATIENCE_FACTOR)
"""Seconds within which an answered client may send another request on the same connection.

Load balancers keep theirs for a minute, and need servers that keep them longer: a request that is sent just as its
connection is closed fails. And clients that were closed together would come back together.
"""
_REST: Final = 0.9
"""Seconds without accepting after the process has run out of files: asyncio tries again after one."""
_QUIET: Final = 60.0
"""Seconds before too many connections are logged again."""
_NO_ROOM: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


_log = logging.getLogger("swf")


class TooManyRequestsError(Exception):
    """A sender, or all senders together, have too many requests in progress."""


class RequestUnderWay:
    """A request in progress, from its head to its answer."""

    def __init__(self, connections: "Connections") -> None:
        self._connections = connections
        self.is_admitted = False
        """Whether its sender was authenticated."""
        self.sender: object = None
        """The authenticated sender, or the address of the client."""
        self.held = 0
        """The bytes that have arrived of its body."""
        self.left = ExitStack()
        """The callbacks for when it has ended."""

    def admit(self, sender: str) -> None:
        """Count it for *sender*, who was authenticated. Raises TooManyRequestsError."""
        if not self.is_admitted:
            self._connections.count(sender)
            self.left.callback(self._connections.count, sender, -1)
            self.is_admitted, self.sender = True, sender


class Connection:
    """A connection; a mixin for uvicorn's protocols."""

    since: float
    """When it began to wait."""
    has_begun = False
    """Whether part of a request has arrived that is not in progress yet."""
    is_kept = False
    """Whether it has been answered before."""
    request: RequestUnderWay | None = None
    unread = 0
    """The unread bytes of answers at the last check."""
    unread_since = 0.0
    _connections: "Connections"
    cycle: Any
    flow: Any
    transport: Any
    client: Any

    @contextmanager
    def answering(self) -> Iterator[RequestUnderWay]:
        """Have a request in progress within the context."""
        own = self.request = RequestUnderWay(self._connections)
        own.sender = self.address
        self.since = self.unread_since = time.monotonic()
        try:
            with own.left:
                yield own
        finally:
            self._connections.release(own)
            if self.request is own:  # the client may have sent another meanwhile
                self.request = None

    @property
    def waits(self) -> bool:
        """Whether it waits for its client, who was not authenticated."""
        if self.request is None:
            return True
        return not self.request.is_admitted and (self.cycle.more_body or self.flow.write_paused)

    def has_waited(self, now: float) -> float:
        """Return the seconds that it has waited; between two requests of an answered client, they count less."""
        seconds = now - self.since
        return seconds / _PATIENCE_FACTOR if self.is_kept and not self.has_begun else seconds

    @property
    def address(self) -> object:
        """The address of its client; behind a trusted proxy the address of the proxy's client, once known."""
        found = self.client if self.request is None else self.cycle.scope["client"]
        return found and found[0]

    def stands_still(self, now: float) -> bool:
        """Return whether its client has sent no head, or has read nothing of an answer, for too long."""
        unread = self.transport.get_write_buffer_size()
        if unread != self.unread or not unread:
            self.unread, self.unread_since = unread, now
        is_waiting = self.request is None and not unread
        return (self.has_waited(now) if is_waiting else now - self.unread_since) > _PATIENCE


class Connections:
    """The connections of a server."""

    def __init__(self, max_held: int = MAX_HELD_BYTES) -> None:
        """Bound what has arrived of all bodies to *max_held* bytes."""
        files = open_files()
        self.most = MAX_CONNECTIONS if files is None else min(files * 3 // 4, MAX_CONNECTIONS)
        self._few = 1 + self.most // 100
        self._open = set[Connection]()
        self._accepted: dict[int, socket.socket] = {}
        """The accepted sockets that may not have completed their handshake (TLS) yet, by file descriptor."""
        self._told = -_QUIET
        self._senders = Counter[str]()
        self._held, self._max_held = 0, max_held

    def accepted(self, accepted: socket.socket) -> None:
        """Register a connection that may still have to complete its handshake; close the oldest of too many."""
        self._accepted.pop(accepted.fileno(), None)
        self._accepted[accepted.fileno()] = accepted
        if len(self._accepted) > max(self.most // 8, 2 * AT_ONCE):
            first = self._accepted.pop(next(iter(self._accepted)))
            with suppress(OSError):  # it was closed meanwhile
                first.shutdown(socket.SHUT_RDWR)

    def made(self, transport: asyncio.Transport) -> None:
        """Note that the handshake of a connection is complete."""
        self._accepted.pop(transport.get_extra_info("socket").fileno(), None)

    def opened(self, connection: Connection) -> None:
        """Register *connection*, if there is room or another can be closed."""
        connection.since = time.monotonic()
        self._open.add(connection)
        if len(self._open) > self.most and not self._give_way(self._open - {connection}, self._few):
            self._give_up(connection)

    def closed(self, connection: Connection) -> None:
        self._open.discard(connection)

    def close_idle(self) -> None:
        """Close connections that have stalled for too long."""
        now = time.monotonic()
        for one in [one for one in self._open if one.stands_still(now)]:
            self._give_up(one)

    def count(self, sender: str, by: int = 1) -> None:
        """Count a request in progress of *sender*. Raises TooManyRequestsError if it exceeds a limit."""
        if by > 0 and self._senders[sender] >= self.most // 2:
            raise TooManyRequestsError("too many requests of this client are in progress")
        if by > 0 and self._senders.total() >= self.most * 3 // 4:
            raise TooManyRequestsError("too many requests are in progress")
        self._senders[sender] += by
        if not self._senders[sender]:
            del self._senders[sender]

    def hold(self, connection: Connection, request: RequestUnderWay, size: int) -> None:
        """Note that *size* more bytes of the body of *request*, of *connection*, have arrived.

        If there are too many, bodies that still arrive give way. Raises SlowBodyError if this one has to.
        """
        request.held += size
        self._held += size
        if self._held > self._max_held:
            while self._held > max(self._max_held * 7 // 8, request.held):
                self._give_up_body(connection)

    def _give_up_body(self, newest: Connection) -> None:
        """Close the connection of a body that still arrives. Raises SlowBodyError if it would be the *newest*."""
        arriving, by_sender = dict[Connection, RequestUnderWay](), Counter[object]()
        for one in self._open:
            if one.request is not None and one.request.held and (one is newest or one.cycle.more_body):
                arriving[one] = one.request
                by_sender[one.request.sender] += one.request.held
        senders = [sender for sender, _ in by_sender.most_common(1)]
        first = min((one for one in arriving if arriving[one].sender in senders), key=_since, default=newest)
        if first is newest:
            raise SlowBodyError("there is no room for this body now: send it again later")
        self.release(arriving[first])
        self._give_up(first)

    def release(self, request: RequestUnderWay) -> None:
        """Note that nothing of the body of *request* is held any more."""
        self._held -= request.held
        request.held = 0

    def _give_way(self, connections: Iterable[Connection], number: int) -> int:
        """Close *number* of *connections* that wait, and return how many there were."""
        now, by_address = time.monotonic(), defaultdict[object, list[Connection]](list)
        for one in connections:
            if one.waits:
                by_address[one.address].append(one)
        ranked = list[tuple[int, Connection]]()
        for those in by_address.values():
            those.sort(key=lambda one: one.has_waited(now))
            ranked += enumerate(those)
        ranked.sort(key=lambda pair: -pair[0])
        if now - self._told >= _QUIET:
            self._told = now
            _log.warning("there are more than %s connections: those that wait for their clients are closed", self.most)
        for _, one in ranked[:number]:
            self._give_up(one)
        return min(number, len(ranked))

    def _give_up(self, connection: Connection) -> None:
        self._open.discard(connection)
        connection.transport.abort()  # a normal close would wait for a client that does not read


def _since(connection: Connection) -> float:
    return connection.since


class ListeningSocket(socket.socket):
    """A socket that accepts nothing for a while once the process has run out of files.

    asyncio would retry once for each connection in the backlog, and reschedule itself for each of these attempts.
    """

    _until = 0.0
    connections: Connections | None = None
    """The registry of accepted connections."""

    def listen(self, _: int = _BACKLOG) -> None:
        """Listen with our backlog instead of the library's, which is small."""
        super().listen(_BACKLOG)

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection, and register it."""
        if time.monotonic() < self._until:
            raise BlockingIOError
        try:
            accepted, address = super().accept()
        except OSError as error:
            if error.errno in _NO_ROOM:
                self._until = time.monotonic() + _REST
            raise
        if self.connections is not None:
            self.connections.accepted(accepted)
        return accepted, address


def open_files() -> int | None:
    """Return the process's limit of open files; None if there is no limit."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def watched(protocol: Any, connections: Connections) -> Any:
    """Return uvicorn's *protocol*, whose connections are registered in *connections*."""

    class Watched(protocol, Connection):  # type: ignore[misc]  # which of them it is depends on what is installed
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._connections = connections
            self.app_state = {CONNECTION: self}  # the library passes it to each request

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            with suppress(AttributeError):  # those of other loops than asyncio's have no such attribute
                transport.max_size = _PIECE  # type: ignore[attr-defined]  # of asyncio alone
            connections.made(transport)
            connections.opened(self)

        def connection_lost(self, exc: Exception | None) -> None:
            connections.closed(self)
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if not self.has_begun:
                self.has_begun, self.since = True, time.monotonic()
            super().data_received(data)

        def on_response_complete(self) -> None:
            self.is_kept, self.has_begun, self.since = True, False, time.monotonic()
            super().on_response_complete()

    return Watched


CONNECTION: Final = "swf.connection"
"""The key of the connection in the state of a request."""
UNDER_WAY: Final = "swf.under_way"
"""The key of the counted request in the scope of a request."""
