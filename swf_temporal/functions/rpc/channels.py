"""Channels to gRPC servers."""

import asyncio
import re
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from cachetools import LRUCache

from swf_temporal.base.errors import UsageError, permanent_failure
from swf_temporal.base.importing import optional
from swf_temporal.settings.calls import HostOptions
from swf_temporal.settings.network import Network, Tls

_SERVER = re.compile(r"(?:(grpcs?|https?)://)?(\[[^\]]+\]|[^:/?#\s]+)(?::(\d{1,5}))?/?")
_TLS = frozenset({"grpcs", "https"})
_MAX_CHANNELS = 256
_MAX_PAUSE = 1000
"""Milliseconds after which an unreachable server is tried again, if a call needs it."""


@dataclass(frozen=True, slots=True)
class Target:
    host: str
    port: int
    is_secure: bool = False

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{'grpcs' if self.is_secure else 'grpc'}://{self.address}"


def target_of(url: str) -> Target:
    """Return the server at *url*: `grpc://host:port`, `grpcs://host:port` for TLS, or `host:port`.

    Raises CallFailed for anything else.
    """
    match = _SERVER.fullmatch(url.strip())
    if match is None:
        raise permanent_failure(
            "BadUrl", f"the gRPC server is {url!r}; it is written grpc://host:port, or grpcs://host:port"
        )
    scheme, host, port = match.groups()
    is_secure = scheme in _TLS
    return Target(host, int(port) if port else 443 if is_secure else 80, is_secure)


@dataclass(frozen=True, slots=True)
class _Kind:
    """Everything that distinguishes connections."""

    target: Target
    endpoint: str
    """The server for the library: its addresses, or its name if a proxy resolves that.

    It includes a scheme: otherwise, the library takes `unix:80` for a file."""
    tls: Tls
    proxy: str | None
    largest: int


_Open: TypeAlias = LRUCache[_Kind, Any]


class Channels:
    """Keeps the connections of each event loop to each server open between calls."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, _Open] = WeakKeyDictionary()

    async def to(self, target: Target, options: HostOptions) -> Any:
        """Return the `grpc.aio.Channel` to *target*. Raises CallFailed if it may not be called."""
        self._network.check(target.host, target.port)
        proxy = _environment_proxy(target) if options.proxy is None else options.proxy or None
        # A proxy is chosen by the operator, and resolves names itself.
        addresses = [] if proxy else await self._network.allowed_addresses(target.host, target.port)
        endpoint = endpoint_of(addresses, target.port) if addresses else f"dns:///{target.address}"
        kind = _Kind(target, endpoint, options.tls, proxy, options.max_response_bytes)
        channels = self._open.setdefault(asyncio.get_running_loop(), LRUCache(_MAX_CHANNELS))
        if kind not in channels:
            channels[kind] = _channel(kind)  # a call in progress keeps its channel when that is evicted
        return channels[kind]

    async def aclose(self) -> None:
        """Close the connections of this event loop; those of a closed loop went with it."""
        for channel in self._open.pop(asyncio.get_running_loop(), {}).values():
            await channel.close()


def endpoint_of(addresses: list[str], port: int) -> str:
    """Return *addresses* for the library: all of one family, so IPv4 is written as IPv6 if there are both."""
    if any(":" in address for address in addresses):
        written = [f"[{address if ':' in address else f'::ffff:{address}'}]:{port}" for address in addresses]
        return f"ipv6:{','.join(sorted(written))}"
    return f"ipv4:{','.join(sorted(f'{address}:{port}' for address in addresses))}"


def library(module: str) -> Any:
    """Return a module of the gRPC libraries, which are optional. Raises CallFailed if they are missing."""
    return optional(module, "grpc", "functions of type 'rpc'")


def _channel(kind: _Kind) -> Any:
    aio = library("grpc.aio")
    options = [
        ("grpc.max_receive_message_length", kind.largest),
        # By default, the library does not even try for minutes after a server was down. Definitions say when to retry.
        ("grpc.max_reconnect_backoff_ms", _MAX_PAUSE),
        # The name that the server's certificate must have, and that is sent to the server.
        ("grpc.default_authority", kind.target.address),
        ("grpc.http_proxy", kind.proxy) if kind.proxy else ("grpc.enable_http_proxy", 0),
    ]
    if not kind.target.is_secure:
        return aio.insecure_channel(kind.endpoint, options=options)
    return aio.secure_channel(kind.endpoint, _credentials(kind), options=options)


def _credentials(kind: _Kind) -> Any:
    tls = kind.tls
    if not tls.verify:
        message = f"{kind.target}: gRPC always verifies the server; name its authority in 'ca' instead of verify: false"
        raise permanent_failure("TlsFailed", message)
    try:
        tls.context()  # checks the files, for which the library has no specific errors
    except UsageError as error:
        raise permanent_failure("TlsFailed", f"{kind.target}: {error.message}") from error
    return library("grpc").ssl_channel_credentials(
        root_certificates=_content(tls.ca),
        private_key=_content(tls.key or tls.cert),
        certificate_chain=_content(tls.cert),
    )


def _content(file: str | None) -> bytes | None:
    return None if file is None else Path(file).read_bytes()


def _environment_proxy(target: Target) -> str | None:
    """Return the proxy that GRPC_PROXY, HTTPS_PROXY, HTTP_PROXY and NO_PROXY have for *target*."""
    proxies = urllib.request.getproxies_environment()
    proxy = proxies.get("grpc") or proxies.get("https") or proxies.get("http")
    if not proxy or urllib.request.proxy_bypass_environment(target.host, proxies):  # type: ignore[attr-defined]  # public, but not in the stubs
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
