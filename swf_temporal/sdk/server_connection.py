"""How a server process gets its connection to Temporal: it waits while nothing answers there."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Final, TypeVar

from swf_temporal.base.client_errors import ServerUnavailableError
from swf_temporal.sdk.health import health_endpoint

_T = TypeVar("_T")
_log = logging.getLogger("swf")

_PAUSE: Final = 2
"""The seconds between two attempts."""
_MAX_SILENCE: Final = 150
"""The maximum number of attempts from one line of the log to the next: five minutes of them."""


async def connected(
    connect: Callable[[], Awaitable[_T]], stopping: asyncio.Event, *, waits: bool, health_port: int | None = None
) -> _T | None:
    """Return what *connect* returns once the server answers, or None if *stopping* is set before.

    Until then the process is alive on *health_port*, and not ready. Raises UsageError for what the server refuses, and
    ServerUnavailableError if none answers and it is not to wait.
    """
    stopped = asyncio.ensure_future(stopping.wait())
    attempts, silence = 0, 1
    async with AsyncExitStack() as stack:
        stack.callback(stopped.cancel)
        while not stopped.done():
            connecting = asyncio.ensure_future(connect())
            stack.callback(connecting.cancel)
            await asyncio.wait([connecting, stopped], return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                break
            try:
                client = connecting.result()
            except ServerUnavailableError as error:
                if not waits:
                    raise
                if silence == 1 and health_port is not None:
                    await stack.enter_async_context(health_endpoint(health_port, _is_not_ready))
                attempts += 1
                if attempts == silence:
                    _log.warning("%s; waiting for it", error.message)
                    attempts, silence = 0, min(2 * silence, _MAX_SILENCE)
                await asyncio.wait([stopped], timeout=_PAUSE)
            else:
                if silence > 1:
                    _log.info("the Temporal server answers")
                return client
    return None


async def _is_not_ready() -> bool:
    return False
