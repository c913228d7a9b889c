"""The connections of an HTTP server: which of them give way when they are too many, and which stand still.

One *waits* while its client has not sent all of a request, or does not read an answer. Waiting costs a client nothing,
so those that wait give way: of the address that has most of them, the one that has waited longest. A request whose
sender was authenticated is waited for, and counted for that sender.
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

_PATIENCE: Final = 30.0
"""Seconds in which a client has to send the head of a request, and within which it has to read some of an answer."""
MAX_CONNECTIONS: Final = 8192
"""The number of connections beyond which some give way, where three quarters of the open files allow so many."""
AT_ONCE: Final = 8
"""How many connections are accepted before those that are open have their turn."""
_BACKLOG: Final = 2048
"""How many connections may wait until they are accepted."""
_PATIENCE_FACTOR: Final = 4
"""How many times as long as others a connection waits that has been of use."""
_REST: Final = 0.9
"""Seconds for which nothing is accepted after the process has run out of files: asyncio tries again after one."""
_QUIET: Final = 60.0
"""Seconds for which it is not told again that there are too many connections."""
_NO_ROOM: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


_log = logging.getLogger("swf")


class TooManyRequestsError(Exception):
    """A sender has as many requests under way as may be, or all of them together have."""


class RequestUnderWay:
    """A request whose head has come, until it is answered."""

    def __init__(self, connections: "Connections") -> None:
        self._connections = connections
        self.is_admitted = False
        """Whether its sender was authenticated."""
        self.left = ExitStack()
        """What is done once it has ended."""

    def admit(self, sender: str) -> None:
        """Count it as one of *sender*, who was authenticated. Raises TooManyRequestsError."""
        if not self.is_admitted:
            self._connections.count(sender)
            self.left.callback(self._connections.count, sender, -1)
            self.is_admitted = True


class Connection:
    """A connection, as what is derived from this and from a protocol of uvicorn knows it."""

    since: float
    """When it began to wait for what it waits for."""
    has_begun = False
    """Whether some of a request has come that is not under way yet."""
    is_kept = False
    """Whether a request of it has been answered."""
    request: RequestUnderWay | None = None
    unread = 0
    """The bytes of answers that were not read, when that was last looked at."""
    unread_since = 0.0
    _connections: "Connections"
    cycle: Any
    flow: Any
    transport: Any
    client: Any

    @contextmanager
    def answering(self) -> Iterator[RequestUnderWay]:
        """Have a request under way for as long as the context lasts."""
        own = self.request = RequestUnderWay(self._connections)
        self.since = self.unread_since = time.monotonic()
        try:
            with own.left:
                yield own
        finally:
            if self.request is own:  # the client may have sent another meanwhile
                self.request = None

    @property
    def waits(self) -> bool:
        """Whether it waits for its client, who was not authenticated."""
        if self.request is None:
            return True
        return not self.request.is_admitted and (self.cycle.more_body or self.flow.write_paused)

    def has_waited(self, now: float) -> float:
        """Return for how long it has waited: between two requests of a client that was answered, that counts less."""
        seconds = now - self.since
        return seconds / _PATIENCE_FACTOR if self.is_kept and not self.has_begun else seconds

    @property
    def address(self) -> object:
        """The address of its client; behind a trusted proxy that of the proxy's client, once it is known."""
        found = self.client if self.request is None else self.cycle.scope["client"]
        return found and found[0]

    def stands_still(self, now: float) -> bool:
        """Tell whether its client has sent no head, or has read nothing of an answer, for too long."""
        unread = self.transport.get_write_buffer_size()
        if unread != self.unread or not unread:
            self.unread, self.unread_since = unread, now
        is_waiting = self.request is None and not unread
        return now - (self.since if is_waiting else self.unread_since) > _PATIENCE


class Connections:
    """The connections of a server."""

    def __init__(self) -> None:
        files = open_files()
        self.most = MAX_CONNECTIONS if files is None else min(files * 3 // 4, MAX_CONNECTIONS)
        self._few = 1 + self.most // 100
        self._open = set[Connection]()
        self._accepted: dict[int, socket.socket] = {}
        """By their files, the sockets of those that may not have shaken hands yet, as TLS does."""
        self._told = -_QUIET
        self._senders = Counter[str]()

    def accepted(self, accepted: socket.socket) -> None:
        """Take in a connection that may still have to shake hands. Of too many, the first gives way."""
        self._accepted.pop(accepted.fileno(), None)
        self._accepted[accepted.fileno()] = accepted
        if len(self._accepted) > max(self.most // 8, 2 * AT_ONCE):
            first = self._accepted.pop(next(iter(self._accepted)))
            with suppress(OSError):  # it was closed meanwhile
                first.shutdown(socket.SHUT_RDWR)

    def made(self, transport: asyncio.Transport) -> None:
        """Take in that a connection need not shake hands any more."""
        self._accepted.pop(transport.get_extra_info("socket").fileno(), None)

    def opened(self, connection: Connection) -> None:
        """Take *connection* in, if there is room or one gives way."""
        connection.since = time.monotonic()
        self._open.add(connection)
        if len(self._open) > self.most and not self._give_way(self._open - {connection}, self._few):
            self._give_up(connection)

    def closed(self, connection: Connection) -> None:
        self._open.discard(connection)

    def close_idle(self) -> None:
        """Close those that have stood still for too long."""
        now = time.monotonic()
        for one in [one for one in self._open if one.stands_still(now)]:
            self._give_up(one)

    def count(self, sender: str, by: int = 1) -> None:
        """Count a request that *sender* has under way. Raises TooManyRequestsError if that is one too many."""
        if by > 0 and self._senders[sender] >= self.most // 2:
            raise TooManyRequestsError("too many requests of this client are under way")
        if by > 0 and self._senders.total() >= self.most * 3 // 4:
            raise TooManyRequestsError("too many requests are under way")
        self._senders[sender] += by
        if not self._senders[sender]:
            del self._senders[sender]

    def _give_way(self, connections: Iterable[Connection], number: int) -> int:
        """Close *number* of *connections* that wait, and tell how many there were."""
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
            _log.warning(
                "there are more than %s connections; those whose clients keep them waiting are closed", self.most
            )
        for _, one in ranked[:number]:
            self._give_up(one)
        return min(number, len(ranked))

    def _give_up(self, connection: Connection) -> None:
        self._open.discard(connection)
        connection.transport.abort()  # closing would wait for a client that does not read


class ListeningSocket(socket.socket):
    """A socket that accepts nothing for a while once the process has run out of files.

    asyncio would try as often as connections may wait, and come back for each of these attempts.
    """

    _until = 0.0
    connections: Connections | None = None
    """Those that are accepted."""

    def listen(self, _: int = _BACKLOG) -> None:
        """Listen, however few the library accepts at once."""
        super().listen(_BACKLOG)

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection, as any does."""
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
    """Return how many files the process may have open at once; None if that is not limited."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def watched(protocol: Any, connections: Connections) -> Any:
    """Return the *protocol* of uvicorn, so that what it makes is one of *connections*."""

    class Watched(protocol, Connection):  # type: ignore[misc]  # which of them it is depends on what is installed
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._connections = connections
            self.app_state = {CONNECTION: self}  # the library gives it to each request

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
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
"""The key under which the state of a request has its connection."""
UNDER_WAY: Final = "swf.under_way"
"""The key under which the scope of a request has what is counted of it."""
