"""The connections of HTTP requests, which only go to permitted addresses.

The library lets programs supply the network backend that makes its connections. So an address is checked between its
look-up and the connection: a name cannot resolve to a harmless address when it is checked, and to another one when it
is used.
"""

import asyncio
import ssl
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import httpcore
import httpx

from swf_temporal import __version__
from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.http.streams import Stream, UnansweredError, connected, fresh
from swf_temporal.settings.calls import HostOptions, Settings
from swf_temporal.settings.network import Tls, looked_up

_DEFAULT_HEADERS = {
    "Accept": "application/json, text/plain;q=0.9, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": f"swf-temporal/{__version__}",
}
_CONNECTING = 10.0
"""Seconds for making a connection."""

_TRYING = 2.0
"""Seconds for one of several addresses of a host, before the next one is tried."""
_MAX_IDLE = 4.0
"""Seconds for which an idle connection is kept open: many servers close theirs after five."""

RESEND = "swf.resend"
"""The extension of a request that may be resent if a reused connection is closed before it is answered."""

_Kind: TypeAlias = tuple[Tls, str | None]


class Connections:
    """Keeps the connections of each event loop open, separately by TLS settings and proxy."""

    def __init__(self, settings: Settings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._settings = settings
        self._transport = transport
        self._proxies = urllib.request.getproxies_environment()
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Kind, httpx.AsyncClient]] = (
            WeakKeyDictionary()
        )

    def to(self, url: httpx.URL, options: HostOptions) -> httpx.AsyncClient:
        proxy = self._usual_proxy(url) if options.proxy is None else options.proxy or None
        clients = self._clients.setdefault(asyncio.get_running_loop(), {})
        kind = options.tls, proxy
        if kind not in clients:
            clients[kind] = httpx.AsyncClient(
                headers=_DEFAULT_HEADERS,
                timeout=httpx.Timeout(None, connect=_CONNECTING),
                # Cookies of one workflow must not reach another.
                cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),
                transport=self._transport or self._new_transport(*kind),
            )
        return clients[kind]

    async def aclose(self) -> None:
        """Close the connections of this event loop; those of a closed loop went with it."""
        for client in self._clients.pop(asyncio.get_running_loop(), {}).values():
            await client.aclose()

    def _usual_proxy(self, url: httpx.URL) -> str | None:
        """Return the proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY have for *url*."""
        proxy = self._proxies.get(url.scheme) or self._proxies.get("all")
        if not proxy or urllib.request.proxy_bypass_environment(url.host, self._proxies):  # type: ignore[attr-defined]  # public, but not in the stubs
            return None
        return proxy if "://" in proxy else f"http://{proxy}"

    def _new_transport(self, tls: Tls, proxy: str | None) -> httpx.AsyncBaseTransport:
        # A proxy is chosen by the operator, and resolves names itself.
        addresses = looked_up if proxy else self._settings.network.allowed_addresses
        return Transport(tls.context(), self._settings.max_connections, Backend(addresses), proxy)


class Transport(httpx.AsyncBaseTransport):
    """Sends requests over kept connections, which are only reused if they are empty."""

    def __init__(
        self,
        context: ssl.SSLContext,
        max_connections: int,
        backend: httpcore.AsyncNetworkBackend,
        proxy: str | None = None,
    ) -> None:
        """Make connections by *backend*: to servers, or to the *proxy* at a URL."""
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            proxy=_proxy(proxy) if proxy else None,
            max_connections=max_connections,
            keepalive_expiry=_MAX_IDLE,
            network_backend=backend,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer to *request*, whose body is still to be read.

        A service may close a kept connection while a request is on its way. A request with RESEND is then resent, once,
        over a new connection.
        """
        url = request.url
        asked = httpcore.Request(
            method=request.method,
            url=_url(url),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _as_httpx():
            try:
                answer = await self._pool.handle_async_request(asked)
            except UnansweredError:
                if not request.extensions.get(RESEND):
                    raise
                with fresh():
                    answer = await self._pool.handle_async_request(asked)
        origin = f"{url.scheme}://{url.netloc.decode('ascii')}"
        return httpx.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Content(answer, origin),
            extensions=answer.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Content(httpx.AsyncByteStream):
    """The unread body of an answer."""

    def __init__(self, answer: httpcore.Response, origin: str) -> None:
        self._answer = answer
        self._origin = origin

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx():
            async for piece in self._answer.aiter_stream():
                yield piece
        # The library would read the excess beyond the end as the next answer, and has no public access to it.
        inner: Any = self._answer.stream
        excess, _ = inner._stream._connection._h11_state.trailing_data  # noqa: SLF001 - see above
        stream: Stream = self._answer.extensions["network_stream"]
        stream.end_answer(self._origin, excess)

    async def aclose(self) -> None:
        """Release the connection; it can be reused if the answer was read to its end and nothing follows it."""
        await self._answer.aclose()


class Backend(httpcore.AsyncNetworkBackend):
    """Connects only to the addresses of a host and port that *addresses* returns."""

    def __init__(self, addresses: Callable[[str, int], Awaitable[list[str]]]) -> None:
        self._addresses = addresses

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,  # noqa: ARG002 - we never ask for one
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002 - as above
    ) -> httpcore.AsyncNetworkStream:
        """Return a connection to the first address of *host* that answers."""
        try:
            *others, last = await self._addresses(host, port)
        except CallFailed as fault:
            if fault.code == "UnknownHost":
                raise httpcore.ConnectError(fault.message) from fault
            raise
        for address in others:
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return await connected(address, port, _TRYING)
        return await connected(last, port, timeout)


def _proxy(text: str) -> httpcore.Proxy:
    proxy = httpx.Proxy(text)
    return httpcore.Proxy(_url(proxy.url), proxy.raw_auth)


def _url(url: httpx.URL) -> httpcore.URL:
    return httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)


@contextmanager
def _as_httpx() -> Iterator[None]:
    """Raise exceptions of httpcore as those of httpx with the same name."""
    try:
        yield
    except Exception as error:
        for kind in type(error).__mro__:
            if kind.__module__ == httpcore.__name__ and (meaning := getattr(httpx, kind.__name__, None)):
                raise meaning(str(error)) from error
        raise
