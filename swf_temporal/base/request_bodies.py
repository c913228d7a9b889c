"""The limits of the body of a request that a server of ours receives: its size, and the time that it takes."""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from typing import Final, Protocol

_SENDING: Final = 60.0
"""Seconds within which a client has to send the body of a request."""
_SPREAD: Final = 1.5
"""The factor by which the limit varies: of thousands of requests begun at once, not all are refused at once."""


class Received(Protocol):
    """A request whose head has arrived, such as one of Starlette."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, whose names are compared without regard to case."""

    def stream(self) -> AsyncIterator[bytes]:
        """Yield the pieces of the body as they arrive."""


class BodyTooLargeError(Exception):
    """The body has more bytes than a server accepts. The rest is not read, so the connection cannot be reused."""


class SlowBodyError(Exception):
    """The body did not arrive in time."""


def patience() -> float:
    """Return the seconds within which a client has to send the body of a request that begins now."""
    return random.uniform(_SENDING, _SENDING * _SPREAD)  # noqa: S311 - no secret


async def body_of(request: Received, limit: int) -> bytes:
    """Return the body of *request*. Raises BodyTooLargeError for more than *limit* bytes, and SlowBodyError."""
    length = request.headers.get("content-length", "")
    chunks, size = list[bytes](), 0
    if length.isdecimal() and (len(length) > len(str(limit)) or int(length) > limit):
        raise BodyTooLargeError(f"the body has more than {limit:,} bytes")
    try:
        async with asyncio.timeout(patience()):
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise BodyTooLargeError(f"the body has more than {limit:,} bytes")
                chunks.append(chunk)
    except TimeoutError:
        raise SlowBodyError("the body did not arrive in time") from None
    return b"".join(chunks)
