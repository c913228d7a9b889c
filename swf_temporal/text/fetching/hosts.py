"""The hosts that may be asked for documents, and the credentials for them."""

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping

from swf_temporal.base.errors import UsageError

_HOSTS = "SWF_RESOURCE_HOSTS"
_AUTH = "SWF_RESOURCE_AUTH_"
_PATTERN = re.compile(r"(?:\*\.)?(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
_ORDINARY = (80, 443)
_SECURE = 443


def hosts_in(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the hosts that the environment allows. Raises UsageError for what is none."""
    hosts = tuple(host.strip().lower() for host in env.get(_HOSTS, "").split(",") if host.strip())
    for host in hosts:
        if not _PATTERN.fullmatch(host):
            message = f"{_HOSTS} has {host!r}, which is not a host"
            raise UsageError(message, "write example.com, *.example.com or example.com:8080, with commas between")
    return hosts


def credentials_in(env: Mapping[str, str]) -> dict[str, str]:
    """Return the credentials that the environment gives, as headers, by the names of hosts in variables."""
    return {key.removeprefix(_AUTH): _header(key, value) for key, value in env.items() if key.startswith(_AUTH)}


def is_allowed(host: str, port: int, patterns: Iterable[str]) -> bool:
    """Tell whether *patterns* have *host*. One without a port allows 80 and 443 alone."""
    return any(_matches(host.lower(), port, pattern) for pattern in patterns)


def variable_name(host: str, port: int) -> str:
    """Return *host* as variables write it: EXAMPLE_COM for `example.com`, with the port after it unless that is 443."""
    name = host if port == _SECURE else f"{host}_{port}"
    return re.sub(r"[^A-Z0-9]", "_", name.upper())


def _matches(host: str, port: int, pattern: str) -> bool:
    name, colon, number = pattern.rpartition(":")
    if not colon or "]" in number:
        name, number = pattern, ""
    if not (port == int(number) if number else port in _ORDINARY):
        return False
    name = name.strip("[]")
    return host.endswith(name[1:]) if name.startswith("*.") else host == name


def _header(key: str, value: str) -> str:
    value = value.strip()
    if value.lower().startswith("bearer ") and value.isascii() and value.isprintable():
        return f"Bearer {value[7:].strip()}"
    if ":" in value:
        return f"Basic {b64encode(value.encode()).decode()}"
    raise UsageError(f"{key} is neither user:password nor 'Bearer' and a token")
