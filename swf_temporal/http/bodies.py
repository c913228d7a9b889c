"""The bodies of requests, which are neither long nor take long."""

import asyncio
import random
from typing import Final

from starlette.requests import Request

_SENDING: Final = 60.0
"""Seconds in which a client has to send the body of a request."""
_SPREAD: Final = 1.5
"""By how much a client may have longer: of thousands that began at once, not all are refused at once."""


class BodyTooLargeError(Exception):
    """A body of more bytes than a server takes. What is left of it is not read: the connection is of no more use."""


class SlowBodyError(Exception):
    """A body that did not arrive in time."""


async def body_of(request: Request, limit: int, seconds: float = _SENDING) -> bytes:
    """Return the body of *request*.

    Raises BodyTooLargeError if it has more bytes than *limit*, and SlowBodyError if it takes more *seconds*.
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
