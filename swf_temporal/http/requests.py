"""Requests that every HTTP server here refuses: those of foreign web pages, and for foreign hosts."""

from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from swf_temporal.settings.http import LOOPBACK


def foreign_page(headers: Mapping[str, str], origins: Collection[str] = ()) -> str | None:
    """Return the origin of the web page that sends a request, unless it is of this server or one of *origins*.

    A browser sends the requests of any page, even if the page may not read the answers.
    """
    origin, host = headers.get("origin"), headers.get("host", "").lower()
    own = {f"{scheme}://{host}" for scheme in ("http", "https") if host}
    return None if origin is None or origin.lower() in {*origins, *own} else origin


def foreign_host(headers: Mapping[str, str]) -> str | None:
    """Return the Host of a request unless it names this machine, as with DNS rebinding."""
    host = headers.get("host", "")
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        name = None
    return None if name in LOOPBACK else host
