"""Limits of every HTTP server: the size and time of bodies, and no requests of foreign web pages."""

import asyncio
import random
from collections.abc import Collection, Mapping
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request

from swf_temporal.settings.http import LOOPBACK

_SENDING: Final = 60.0
"""Seconds within which a client has to send the body of a request."""
_SPREAD: Final = 1.5
"""The factor by which the limit varies: of thousands of requests begun at once, not all are refused at once."""


class BodyTooLargeError(Exception):
    """The body has more bytes than a server accepts. The rest is not read, so the connection cannot be reused."""


class SlowBodyError(Exception):
    """The body did not arrive in time."""


async def body_of(request: Request, limit: int, seconds: float = _SENDING) -> bytes:
    """Return the body of *request*.

    Raises BodyTooLargeError if it has more than *limit* bytes, and SlowBodyError if it takes more than *seconds*.
    """
    length = request.headers.get("content-length", "")
    chunks, size = list[bytes](), 0
    if length.isdecimal() and (len(length) > len(str(limit)) or int(length) > limit):
        raise BodyTooLargeError(f"the body has more than {limit:,} bytes")
    try:
        async with asyncio.timeout(random.uniform(seconds, seconds * _SPREAD)):  # noqa: S311 - no secret
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise BodyTooLargeError(f"the body has more than {limit:,} bytes")
                chunks.append(chunk)
    except TimeoutError:
        raise SlowBodyError("the body did not arrive in time") from None
    return b"".join(chunks)


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
