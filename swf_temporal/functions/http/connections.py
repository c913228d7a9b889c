"""The connections of HTTP requests, which only go to permitted addresses.

An address is checked between its look-up and the connection: a name cannot resolve to a harmless address when it is
checked, and to another one when it is used. So connections are made and kept here. h11 reads and writes what goes over
them; requests and answers are those of httpx.
"""

import asyncio
import ssl
import urllib.request
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import h11
import httpx

from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.importing import PORTS
from swf_temporal.functions.http.http11 import Connection, UnansweredError, head_of
from swf_temporal.functions.http.streams import Stream, connected
from swf_temporal.settings.calls import HostOptions, Settings
from swf_temporal.settings.network import Tls, looked_up

_CONNECTING = 10.0
"""Seconds for making a connection."""

_TRYING = 2.0
"""Seconds for one of several addresses of a host, before the next one is tried."""
_MAX_IDLE = 4.0
"""Seconds for which an idle connection is kept open: many servers close theirs after five."""

RESEND = "swf.resend"
"""The extension of a request that may be resent if a reused connection is closed before it is answered."""

_Kind: TypeAlias = tuple[Tls, str | None]
_Addresses: TypeAlias = Callable[[str, int], Awaitable[list[str]]]
"""Looks the addresses of a host and port up. Raises CallFailed if they may not be connected to."""


class Connections:
    """Keeps the connections of each event loop open, separately by TLS settings and proxy."""

    def __init__(self, settings: Settings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._settings = settings
        self._transport = transport
        self._proxies = urllib.request.getproxies_environment()
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Kind, Transport]] = WeakKeyDictionary()

    def to(self, url: httpx.URL, options: HostOptions) -> httpx.AsyncBaseTransport:
        if self._transport is not None:
            return self._transport
        kind = options.tls, self._usual_proxy(url) if options.proxy is None else options.proxy or None
        made = self._made.setdefault(asyncio.get_running_loop(), {})
        if kind not in made:
            made[kind] = self._new_transport(*kind)
        return made[kind]

    async def aclose(self) -> None:
        """Close the connections of this event loop; those of a closed loop went with it."""
        for transport in self._made.pop(asyncio.get_running_loop(), {}).values():
            await transport.aclose()
        if self._transport is not None:
            await self._transport.aclose()

    def _usual_proxy(self, url: httpx.URL) -> str | None:
        """Return the proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY have for *url*."""
        proxy = self._proxies.get(url.scheme) or self._proxies.get("all")
        if not proxy or urllib.request.proxy_bypass_environment(url.host, self._proxies):  # type: ignore[attr-defined]  # public, but not in the stubs
            return None
        return proxy if "://" in proxy else f"http://{proxy}"

    def _new_transport(self, tls: Tls, proxy: str | None) -> "Transport":
        # A proxy is chosen by the operator, and resolves names itself.
        addresses = looked_up if proxy else self._settings.network.allowed_addresses
        return Transport(tls.context(), self._settings.max_connections, addresses, proxy)


class Transport(httpx.AsyncBaseTransport):
    """Sends requests over kept connections, which are only reused if they are empty."""

    def __init__(
        self, context: ssl.SSLContext, max_connections: int, addresses: _Addresses, proxy: str | None = None
    ) -> None:
        """Connect to what *addresses* returns: for a server, or for the *proxy* at a URL."""
        self._context = context
        self._addresses = addresses
        self._proxy = None if proxy is None else _Proxy(proxy)
        self._max = max_connections
        self._places = asyncio.Semaphore(max_connections)
        self._used: set[Connection] = set()
        self._idle: dict[Connection, None] = {}
        """In the order in which they were last used."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer to *request*, whose body is still to be read.

        A service may close a kept connection while a request is on its way. A request with RESEND is then resent, once,
        over a new connection.
        """
        url, headers = request.url, request.headers.raw
        _check_scheme(url)
        target = url.raw_path
        if self._proxy is not None and url.scheme == "http":
            target = _origin(url).encode() + target
            headers = [*self._proxy.headers, *headers]
        head, content = head_of(request.method, target, headers), await request.aread()
        try:
            connection, answer = await self._ask(url, head, content)
        except UnansweredError as error:
            if not request.extensions.get(RESEND):
                raise httpx.RemoteProtocolError(str(error)) from error
            connection, answer = await self._ask(url, head, content, is_fresh=True)
        return httpx.Response(answer.status_code, headers=answer.headers.raw_items(), stream=_Content(self, connection))

    async def aclose(self) -> None:
        """Close all connections, also those in use."""
        for connection in (*self._used, *self._idle):
            connection.close()
        self._idle.clear()

    async def _ask(
        self, url: httpx.URL, head: h11.Request, content: bytes, *, is_fresh: bool = False
    ) -> tuple[Connection, Any]:
        """Return the head of the answer, and the connection, in use until its body was read."""
        await self._places.acquire()
        connection = None if is_fresh else self._kept(_origin(url))
        connection = connection or Connection(_origin(url))
        self._used.add(connection)
        try:
            if connection.stream is None:
                self._make_room()
                connection.stream = await self._connected(url)
            return connection, await connection.ask(head, content)
        except BaseException:
            self.give_back(connection)
            raise

    def _kept(self, origin: str) -> Connection | None:
        """Return an idle connection to *origin*, the one used last, if there is any; close those that have expired."""
        now = asyncio.get_running_loop().time()
        while self._idle and (oldest := next(iter(self._idle))).expires < now:
            self._close(oldest)
        while found := next((one for one in reversed(self._idle) if one.origin == origin), None):
            if found.is_empty():
                del self._idle[found]
                return found
            self._close(found)
        return None

    def _make_room(self) -> None:
        """Close idle connections, the oldest first, if there would be too many."""
        while self._idle and len(self._idle) + len(self._used) > self._max:
            self._close(next(iter(self._idle)))

    def _close(self, idle: Connection) -> None:
        del self._idle[idle]
        idle.close()

    def give_back(self, connection: Connection) -> None:
        """Keep *connection* for further requests, or close it if it cannot be used again."""
        self._used.discard(connection)
        self._places.release()
        if connection.stream is not None and connection.may_be_kept():
            connection.expires = asyncio.get_running_loop().time() + _MAX_IDLE
            self._idle[connection] = None
        else:
            connection.close()

    async def _connected(self, url: httpx.URL) -> Stream:
        if self._proxy is None:
            return await self._secured(url, await self._stream(url))
        proxy = self._proxy.url
        stream = await self._secured(proxy, await self._stream(proxy), Tls().context())
        return stream if url.scheme == "http" else await self._secured(url, await self._led(url, stream, self._proxy))

    async def _led(self, url: httpx.URL, stream: Stream, proxy: "_Proxy") -> Stream:
        """Have *proxy*, which is at the other end of *stream*, pass on what it gets to the server of *url*."""
        asking = Connection(_origin(proxy.url))
        asking.stream = stream
        there = f"{_host(url)}:{_port(url)}".encode()
        headers = [(b"Host", there), (b"Accept", b"*/*"), *proxy.headers]
        try:
            answer = await asking.ask(head_of("CONNECT", there, headers))
        except BaseException:
            stream.close()
            raise
        if not httpx.codes.is_success(answer.status_code):
            stream.close()
            raise httpx.ProxyError(f"{answer.status_code} {answer.reason.decode('ascii', errors='ignore')}")
        return stream

    async def _secured(self, url: httpx.URL, stream: Stream, context: ssl.SSLContext | None = None) -> Stream:
        if url.scheme == "http":
            return stream
        context = context or self._context
        context.set_alpn_protocols(["http/1.1"])
        return await stream.secured(context, _host(url), _CONNECTING)

    async def _stream(self, url: httpx.URL) -> Stream:
        """Return a connection to the first address of the host of *url* that answers."""
        host, port = _host(url), _port(url)
        try:
            *others, last = await self._addresses(host, port)
        except CallFailed as fault:
            if fault.code == "UnknownHost":
                raise httpx.ConnectError(fault.message) from fault
            raise
        for address in others:
            with suppress(httpx.ConnectError, httpx.ConnectTimeout):
                return await connected(address, port, _TRYING)
        return await connected(last, port, _CONNECTING)


class _Content(httpx.AsyncByteStream):
    """The unread body of an answer."""

    def __init__(self, transport: Transport, connection: Connection) -> None:
        self._transport = transport
        self._connection: Connection | None = connection

    def __aiter__(self) -> AsyncIterator[bytes]:
        assert self._connection is not None  # noqa: S101 - it is not closed
        return self._connection.body()

    async def aclose(self) -> None:
        """Release the connection; it can be reused if the answer was read to its end and nothing follows it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._transport.give_back(connection)


class _Proxy:
    """A proxy, and the headers that it gets."""

    def __init__(self, text: str) -> None:
        proxy = httpx.Proxy(text)
        if proxy.url.scheme not in PORTS:
            message = f"requests go through proxies at http:// or https://, not at {proxy.url.scheme}://"
            raise permanent_failure("ProxyFailed", message)
        self.url = proxy.url
        self.headers: list[tuple[bytes, bytes]] = []
        if proxy.raw_auth is not None:
            self.headers.append((b"Proxy-Authorization", b"Basic " + b64encode(b":".join(proxy.raw_auth))))


def _check_scheme(url: httpx.URL) -> None:
    if url.scheme not in PORTS:
        raise httpx.UnsupportedProtocol(
            f"Request URL has an unsupported protocol '{url.scheme}://'."
            if url.scheme
            else "Request URL is missing an 'http://' or 'https://' protocol."
        )


def _origin(url: httpx.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def _host(url: httpx.URL) -> str:
    return url.raw_host.decode("ascii")


def _port(url: httpx.URL) -> int:
    return url.port or PORTS[url.scheme]
