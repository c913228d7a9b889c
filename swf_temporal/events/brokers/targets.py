"""The server that a URL names, by the protocol that it speaks."""

from dataclasses import dataclass, field
from typing import Self
from urllib.parse import SplitResult, unquote, urlsplit

from swf_temporal.base.errors import permanent_failure
from swf_temporal.events.brokers.protocols import WIRES, Wire


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
        """Return the server at *rest*, a URL without its scheme. Raises CallFailed if it is none."""
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
    """Return the server that *url* names, whose scheme is a protocol. Raises CallFailed if it names none."""
    scheme, _, rest = url.partition("://")
    return Target.at(scheme.lower(), rest)


def _split(rest: str) -> tuple[SplitResult, int | None]:
    """Return the parts of a URL without its scheme. Of several hosts, as Kafka has them, the first knows the others."""
    hosts, slash, path = rest.partition("/")
    try:
        parts = urlsplit(f"//{hosts.partition(',')[0]}{slash}{path}")
        port = parts.port
    except ValueError as error:
        raise permanent_failure("BadUrl", f"the server '{rest}' is not one: {error}") from error
    return parts, port
