"""Over which connections do HTTP requests go?"""

import asyncio
import urllib.request
from collections.abc import Iterable
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TypeAlias
from weakref import WeakKeyDictionary

import httpcore
import httpx

from swf_temporal import __version__
from swf_temporal.errors import CallFailed
from swf_temporal.functions.operator.network import Network
from swf_temporal.functions.operator.options import Effective
from swf_temporal.functions.operator.settings import Settings
from swf_temporal.functions.operator.tls import Tls

_DEFAULT_HEADERS = {
    "Accept": "application/json, text/plain;q=0.9, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": f"swf-temporal/{__version__}",
}
_CONNECTING = 10.0
"""Seconds for making a connection."""
_TRYING = 2.0
"""Seconds for one of several addresses of a host, before the next one is tried."""

_Kind: TypeAlias = tuple[Tls, str | None]


class Connections:
    """Keeps the connections of each event loop open; those that are secured or led differently are kept apart."""

    def __init__(self, settings: Settings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._settings = settings
        self._transport = transport
        self._proxies = urllib.request.getproxies_environment()
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Kind, httpx.AsyncClient]] = (
            WeakKeyDictionary()
        )

    def to(self, url: httpx.URL, options: Effective) -> httpx.AsyncClient:
        """Return the client for requests to *url*."""
        proxy = self._usual_proxy(url) if options.proxy is None else options.proxy or None
        clients = self._clients.setdefault(asyncio.get_running_loop(), {})
        kind = options.tls, proxy
        if kind not in clients:
            clients[kind] = httpx.AsyncClient(
                headers=_DEFAULT_HEADERS,
                timeout=httpx.Timeout(None, connect=_CONNECTING),
                # What a service remembers of one workflow must not reach another.
                cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),
                transport=self._transport or self._new_transport(*kind),
            )
        return clients[kind]

    async def aclose(self) -> None:
        """Close the connections of this event loop; those of a loop that is gone went with it."""
        for client in self._clients.pop(asyncio.get_running_loop(), {}).values():
            await client.aclose()

    def _usual_proxy(self, url: httpx.URL) -> str | None:
        """Return the proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY have for *url*."""
        proxy = self._proxies.get(url.scheme) or self._proxies.get("all")
        if not proxy or urllib.request.proxy_bypass_environment(url.host, self._proxies):  # type: ignore[attr-defined]  # public, but not in the stubs
            return None
        return proxy if "://" in proxy else f"http://{proxy}"

    def _new_transport(self, tls: Tls, proxy: str | None) -> httpx.AsyncHTTPTransport:
        transport = httpx.AsyncHTTPTransport(
            verify=tls.context(),
            proxy=proxy,
            limits=httpx.Limits(max_connections=self._settings.max_connections),
        )
        # A proxy is the operator's, and it looks the names up.
        return transport if proxy else _guarded(transport, self._settings.network)


class _Guard(httpcore.AsyncNetworkBackend):
    """Connects to the addresses that may be connected to, and to no others."""

    def __init__(self, network: Network, backend: httpcore.AsyncNetworkBackend) -> None:
        self._network = network
        self._backend = backend

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Return a connection to the first address of *host* that answers."""
        try:
            *others, last = await self._network.admit(host, port)
        except CallFailed as fault:
            if fault.code == "UnknownHost":
                raise httpcore.ConnectError(fault.message) from fault
            raise
        for address in others:
            try:
                return await self._backend.connect_tcp(address, port, _TRYING, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._backend.connect_tcp(last, port, timeout, local_address, socket_options)


def _guarded(transport: httpx.AsyncHTTPTransport, network: Network) -> httpx.AsyncHTTPTransport:
    """Return *transport* making its connections through a guard.

    The library offers no public way to look at an address between its look-up and the connection; without that, a name
    could stand for a harmless address when it is checked, and for another one when it is used.
    """
    pool = transport._pool  # noqa: SLF001 - see above; whatever is not as expected here is an error and no hole
    if not isinstance(pool._network_backend, httpcore.AsyncNetworkBackend):  # noqa: SLF001
        raise TypeError("this version of httpx keeps its connections otherwise than expected")
    pool._network_backend = _Guard(network, pool._network_backend)  # noqa: SLF001
    return transport
