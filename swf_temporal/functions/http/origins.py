"""Which server does a URL lead to?"""

from typing import NamedTuple
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """A server, as far as credentials are concerned: what one is shown, another must not be."""

    scheme: str
    host: str
    port: int


def origin_of(url: str) -> Origin:
    """Return the origin of *url*; one that is not a URL leads nowhere."""
    try:
        parts = urlsplit(url)
        return Origin(parts.scheme, parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0))
    except ValueError:
        return Origin("", url, 0)
