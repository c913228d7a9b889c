"""The server that a URL leads to: scheme, host and port."""

from typing import NamedTuple
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}
MAX_PORT = 65535


class Origin(NamedTuple):
    """A server, as far as credentials are concerned: what one is shown, another must not be."""

    scheme: str
    host: str
    port: int


def read_origin(url: str) -> Origin:
    """Return the origin of *url*, with the port that its scheme implies. Raises ValueError if it is not a URL."""
    parts = urlsplit(url)
    return Origin(parts.scheme, parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0))


def origin_of(url: str) -> Origin:
    """Return the origin of *url*; one that is not a URL leads nowhere."""
    try:
        return read_origin(url)
    except ValueError:
        return Origin("", url, 0)
