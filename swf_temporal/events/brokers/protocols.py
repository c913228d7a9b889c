"""The brokers that a worker connects to, by family, and the servers that URLs name."""

import importlib
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import SplitResult, unquote, urlsplit

from swf_temporal.base.errors import permanent_failure
from swf_temporal.events.brokers.families import FAMILIES, WIRES, Wire
from swf_temporal.events.brokers.port import Broker


class Brokers:
    """One broker for each family of protocols, created on first use, since each needs its own library.

    *by_http* is the broker for HTTP, which the owner of the HTTP client supplies.
    """

    def __init__(self, by_http: Broker) -> None:
        self._made: dict[str, Any] = {"http": by_http}

    def speaking(self, family: str) -> Broker:
        """Return the broker of a family. Raises CallFailed if the worker lacks its library."""
        if family not in self._made:
            self._made[family] = self._make(family)
        broker: Broker = self._made[family]
        return broker

    async def aclose(self) -> None:
        """Close all connections that are kept open."""
        for broker in self._made.values():
            if hasattr(broker, "aclose"):
                await broker.aclose()

    def _make(self, family: str) -> Any:
        kind = FAMILIES[family]
        return getattr(importlib.import_module(f"swf_temporal.events.brokers.{kind.module}"), kind.broker)()


@dataclass(frozen=True, slots=True)
class Target:
    """The address of a server, and its protocol."""

    protocol: str
    wire: Wire
    host: str
    port: int
    path: str = ""
    username: str | None = None
    password: str | None = field(default=None, repr=False)

    @classmethod
    def at(cls, protocol: str, rest: str) -> Self:
        """Return the server at *rest*, a URL without its scheme. Raises CallFailed if it is invalid."""
        wire = WIRES[protocol]
        parts, port = _split(rest)
        if not parts.hostname:
            message = f"the server '{rest}' names no host; it is written {protocol}://host:port"
            raise permanent_failure("BadUrl", message)
        return cls(
            protocol=protocol,
            wire=wire,
            host=parts.hostname,
            port=port or wire.port,
            path=parts.path.rstrip("/") if wire.family != "amqp" else parts.path,
            username=None if parts.username is None else unquote(parts.username),
            password=None if parts.password is None else unquote(parts.password),
        )


def target_of(url: str) -> Target:
    """Return the server that *url* names, whose scheme is a protocol. Raises CallFailed if it is invalid."""
    scheme, _, rest = url.partition("://")
    return Target.at(scheme.lower(), rest)


def _split(rest: str) -> tuple[SplitResult, int | None]:
    """Return the parts of a URL without its scheme. Of several hosts, as in Kafka, the first is used."""
    hosts, slash, path = rest.partition("/")
    try:
        parts = urlsplit(f"//{hosts.partition(',')[0]}{slash}{path}")
        port = parts.port
    except ValueError as error:
        raise permanent_failure("BadUrl", f"the server '{rest}' is not one: {error}") from error
    return parts, port
