"""The connections over which HTTP requests go."""

import asyncio
import urllib.request
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TypeAlias
from weakref import WeakKeyDictionary

import httpx

from swf_temporal import __version__
from swf_temporal.functions.http.guarded import GuardedTransport
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

    def _new_transport(self, tls: Tls, proxy: str | None) -> httpx.AsyncBaseTransport:
        most = self._settings.max_connections
        if proxy is None:
            return GuardedTransport(self._settings.network, tls.context(), most)
        # A proxy is the operator's, and it looks the names up.
        limits = httpx.Limits(max_connections=most)
        return httpx.AsyncHTTPTransport(verify=tls.context(), proxy=proxy, limits=limits)
