"""The hosts that calls may reach.

Definitions and their data name hosts, and a worker runs inside a company's network: without rules, anyone who can start
a workflow can make requests that are reserved to the machine itself, such as one for credentials to its cloud's
metadata service.
"""

import asyncio
import socket
from dataclasses import dataclass
from functools import cached_property, lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Annotated, ClassVar, Self, TypeAlias

from pydantic import BeforeValidator, ValidationInfo, model_validator

from swf_temporal.base.errors import CallFailed, UsageError, permanent_failure
from swf_temporal.base.importing import MAX_PORT
from swf_temporal.settings.configuration import NO_VARIABLE, Section, Variable, argument, reading
from swf_temporal.settings.forms import SPLIT, File

if TYPE_CHECKING:
    import ssl


Address: TypeAlias = IPv4Address | IPv6Address
_Block: TypeAlias = IPv4Network | IPv6Network

_THIS_MACHINE = ("127.0.0.0/8", "::1/128", "0.0.0.0/8", "::/128")
_METADATA = (
    "169.254.0.0/16",
    "fe80::/10",
    "fd00:ec2::254/128",
    "fd20:ce::254/128",
    "100.100.100.200/32",
    "168.63.129.16/32",
    "192.0.0.192/32",
)
"""Link-local addresses, and further metadata addresses of the large clouds."""
_METADATA_NAMES = ("metadata.google.internal", "metadata.goog")
_TRANSLATED = tuple(map(ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0:0/96", "::/96")))
"""The IPv6 networks whose addresses end in one of IPv4."""
_LOOPBACK = IPv4Address("127.0.0.1")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One entry of a list of hosts: a name, `*.` and a domain, an address or a block of them; a port may follow."""

    name: str = ""
    block: _Block | None = None
    port: int | None = None

    def has(self, host: str, port: int) -> bool:
        """Return whether the pattern matches *host*, a name or an address."""
        if self.port not in (None, port):
            return False
        if self.block is not None:
            address = _literal(host)
            return address is not None and address in self.block
        return self.name == "*" or host.endswith(self.name[1:]) if self.name.startswith("*") else host == self.name

    def has_address(self, address: Address, port: int) -> bool:
        return self.port in (None, port) and self.block is not None and address in self.block

    def __str__(self) -> str:
        """Return the pattern in a form that `read_pattern` accepts."""
        host = str(self.block) if self.block is not None else self.name
        return host if self.port is None else f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"

    @property
    def is_single(self) -> bool:
        """Whether the pattern is for one name or one address alone."""
        return not self.is_broad if self.block is None else self.block.num_addresses == 1

    @property
    def is_broad(self) -> bool:
        """Whether the pattern is for more names than it spells out."""
        return self.name.startswith("*")


def read_pattern(text: str) -> Pattern:
    """Return the pattern in *text*: `api.example.com`, `*.example.com`, `10.0.0.0/8`, `[::1]:8080`.

    Raises ValueError if it is not valid.
    """
    text = text.strip().lower()
    host, port = _split(text)
    try:
        return Pattern(block=ip_network(host.strip("[]"), strict=False), port=port)
    except ValueError:
        pass
    plain = host.removeprefix("*.") if host != "*" else "any"
    if not plain or not all(part.replace("-", "").replace("_", "").isalnum() for part in plain.split(".")):
        forms = "api.example.com, *.example.com, api.example.com:8443 or 10.0.0.0/8"
        raise ValueError(f"{text!r} is not a host; write {forms}")
    return Pattern(host, port=port)


def _split(text: str) -> tuple[str, int | None]:
    """Return a host and its port; an IPv6 address with a port needs brackets."""
    host, colon, port = text.rpartition(":")
    if colon and port.isdecimal() and (":" not in host or host.endswith("]")):
        return host, int(port)
    return text, None


_NOT_FROM_OUTSIDE = tuple(read_pattern(text) for text in (*_THIS_MACHINE, *_METADATA, *_METADATA_NAMES))
_NOT_EVEN_HERE = tuple(read_pattern(text) for text in (*_METADATA, *_METADATA_NAMES))


HostPattern = Annotated[
    Pattern, BeforeValidator(lambda value: value if isinstance(value, Pattern) else read_pattern(str(value)))
]
_Hosts = Annotated[tuple[HostPattern, ...], SPLIT]


class Network(Section):
    """The network hosts that may be called.

    Hosts in `deny` are denied. If `allow` is not empty, only its hosts are allowed. This machine itself and the
    metadata services of clouds are denied too, unless `allow` has their address, or their name without a wildcard.
    """

    allow: Annotated[_Hosts, Variable("SWF_ALLOW_HOSTS")] = ()
    deny: Annotated[_Hosts, Variable("SWF_DENY_HOSTS")] = ()
    named: tuple[Pattern, ...] = argument(())
    """Hosts that the operator names elsewhere, as the server of a function or as a proxy: allowed as well."""
    local: bool = argument(default=False)
    """Whether this machine itself may be called, for trying out definitions on it."""

    async def allowed_addresses(self, host: str, port: int) -> list[str]:
        """Return the addresses of *host* that may be connected to, at least one.

        Connect to these and do not look the name up again: the second answer may be another one. Raises CallFailed:
        `HostDenied`, or `UnknownHost` if there is no such host.
        """
        self.check(host, port)
        return [self._checked(host, ip_address(address), port) for address in await looked_up(host, port)]

    def check(self, host: str, port: int) -> None:
        """Raise CallFailed if *host* is denied by its name alone, or if the port is not valid."""
        if port > MAX_PORT:
            raise permanent_failure("BadUrl", f"'{host}:{port}' is not an address of a server: ports end at {MAX_PORT}")
        name = _plain(host)
        address = _literal(name)
        if address is not None:
            self._checked(host, address, port)
        elif any(pattern.has(name, port) for pattern in self.deny):
            raise _denied(host, port)
        elif not self._is_named(name, port):
            if any(pattern.has(name, port) for pattern in self._guarded):
                raise _denied(host, port)
            if f".{name}".endswith(".localhost"):  # a proxy that looks it up may run on this machine
                self._checked(host, _LOOPBACK, port)
            # A name that matches no pattern may still have an address that matches one.
            by_address = any(pattern.block is not None for pattern in self.allow)
            if self.allow and not by_address and not any(pattern.has(name, port) for pattern in self.allow):
                raise _denied(host, port)

    def _checked(self, host: str, address: Address, port: int) -> str:
        name, known = _plain(host), _unwrapped(address)
        if any(pattern.has_address(known, port) for pattern in self.deny):
            raise _denied(host, port, known)
        if self._is_named(name, port) or any(pattern.has_address(known, port) for pattern in self._allowed):
            return str(address)
        if any(pattern.has_address(known, port) for pattern in self._guarded):
            raise _denied(host, port, known)
        if self.allow and not any(pattern.has(name, port) for pattern in self.allow):
            raise _denied(host, port, known)
        return str(address)

    def _is_named(self, name: str, port: int) -> bool:
        return any(pattern.has(name, port) and not pattern.is_broad for pattern in self._allowed)

    @cached_property
    def _allowed(self) -> tuple[Pattern, ...]:
        return (*self.allow, *self.named)

    @cached_property
    def _guarded(self) -> tuple[Pattern, ...]:
        return _NOT_EVEN_HERE if self.local else _NOT_FROM_OUTSIDE


def _plain(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()


@lru_cache(maxsize=1024)
def _literal(name: str) -> Address | None:
    """Return *name* as an address, also in old notations such as `127.1`, or None."""
    try:
        return ip_address(name.partition("%")[0])
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(name)) if name[:1].isdigit() else None
    except OSError:
        return None


async def looked_up(host: str, port: int) -> list[str]:
    """Return the addresses of *host*, whether they may be connected to or not. Raises CallFailed: `UnknownHost`."""
    if (literal := _literal(_plain(host))) is not None:
        return [str(literal)]  # no thread is needed
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(_plain(host), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise CallFailed(f"no host with the name '{host}' is known", code="UnknownHost", cause=str(error)) from error
    return list(dict.fromkeys(str(address[0]).partition("%")[0] for *_, address in found))


def _unwrapped(address: Address) -> Address:
    """Return the IPv4 address that is embedded in one of IPv6, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if not (address.is_loopback or address.is_unspecified) and any(address in block for block in _TRANSLATED):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _denied(host: str, port: int, address: Address | None = None) -> CallFailed:
    shown = f"{host}:{port}" if address is None or str(address) == _plain(host) else f"{host}:{port} ({address})"
    hint = "the operator of the worker can allow them with SWF_ALLOW_HOSTS, or `network` in its configuration"
    return permanent_failure("HostDenied", f"calls to {shown} are not allowed here; {hint}")


class Tls(Section):
    """TLS settings. By default: the system's certificate authorities, and no client certificate."""

    prefix: ClassVar[str] = "SWF_TLS_"

    verify: Annotated[bool, NO_VARIABLE] = True
    """Whether the certificate of the server is verified. It can be turned off for single hosts alone."""
    ca: File | None = None
    """A file with the certificates of trusted certificate authorities, in PEM."""
    cert: File | None = None
    """A file with the client certificate, in PEM."""
    key: File | None = None
    """A file with its key, if it is not in the same file."""

    @model_validator(mode="after")
    def _can_be_used(self, info: ValidationInfo) -> Self:
        if reading(info) is not None:
            self.context()
        return self

    def context(self) -> "ssl.SSLContext":
        """Return the SSL context, shared by all connections. Raises UsageError if a file cannot be used."""
        return _context(self)


def _usual_context() -> "ssl.SSLContext":
    import httpx  # noqa: PLC0415 - of all that settings are read for, few make a connection

    return httpx.create_ssl_context()


@lru_cache(maxsize=256)
def _context(tls: Tls) -> "ssl.SSLContext":
    import ssl  # noqa: PLC0415 - as above

    try:
        context = ssl.create_default_context(cafile=tls.ca) if tls.ca else _usual_context()
        if tls.cert is not None:
            context.load_cert_chain(tls.cert, tls.key)
    except (OSError, ValueError) as error:
        files = ", ".join(name for name in (tls.ca, tls.cert, tls.key) if name)
        raise UsageError(f"the certificates in {files} cannot be used: {error}", "they are files in PEM") from error
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
