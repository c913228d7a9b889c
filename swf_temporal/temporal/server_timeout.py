"""Timeouts for a server that does not answer: logged after some seconds, given up after a configurable time."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final, TypeVar

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.client_errors import ServerUnavailableError
from swf_temporal.base.durations import LENGTHS, format_duration, parse_length
from swf_temporal.base.errors import UsageError

_T = TypeVar("_T")
_log = logging.getLogger("swf")

VARIABLE: Final = "SWF_SERVER_TIMEOUT"
FOR_REQUESTS: Final = timedelta(seconds=30)
"""The time for which a server may leave a request unanswered."""
FOR_ENDS: Final = timedelta(minutes=5)
"""The time for which a server may be unavailable while a client waits for the end of an instance."""
FIRST_WORD: Final = 3.0
"""Seconds after which it is logged that a server does not answer."""
READY_WITHIN: Final = 1.5
"""Seconds within which a server must answer to count as ready."""
_PAUSE: Final = 1.0
"""Seconds between two checks of a server, and before a request is retried."""
_ATTEMPT: Final = 90.0
"""Seconds within which a waiting request has had an answer: the SDK lets none take longer."""
_AWAY: Final = (
    RPCStatusCode.UNAVAILABLE,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.CANCELLED,
    RPCStatusCode.UNKNOWN,
)


def server_timeout(usual: timedelta) -> timedelta:
    """Return how long to wait for a server's answer: *usual*, or SWF_SERVER_TIMEOUT. Raises UsageError."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return usual
    if (length := parse_length(text)) is None:
        raise UsageError(f"{VARIABLE} is {text!r}", LENGTHS)
    return length


async def answers(client: Client, limit: float = READY_WITHIN) -> bool:
    """Return whether the server of *client* answers within *limit* seconds that it works, or with a refusal."""
    try:
        async with asyncio.timeout(limit):
            return await client.service_client.check_health()
    except TimeoutError:
        return False
    except RPCError as error:
        return error.status not in _AWAY


async def answered(host: str, request: Awaitable[_T]) -> _T:
    """Return the answer of the server at *host* to *request*. Raises ServerUnavailableError if none comes in time."""
    limit = server_timeout(FOR_REQUESTS)
    asking = asyncio.ensure_future(request)
    try:
        async with asyncio.timeout(limit.total_seconds()):
            if not (await asyncio.wait([asking], timeout=FIRST_WORD))[0]:
                _log.warning(
                    "the server at %s has not answered for %g s; giving up after %s",
                    host, FIRST_WORD, format_duration(limit),
                )  # fmt: skip
            return await asking
    except TimeoutError:
        raise _given_up(host, limit) from None
    finally:
        asking.cancel()


class ServerWatch:
    """Watches a server within a context, ending it with ServerUnavailableError if there is no answer in time."""

    def __init__(self, client: Client, usual: timedelta) -> None:
        self._client = client
        self._host = client.service_client.config.target_host
        self._most = server_timeout(usual)

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Log when the server stops answering, and when it answers again."""
        try:
            async with asyncio.timeout(None) as limit:
                looking = asyncio.create_task(self._look(limit))
                try:
                    yield
                finally:
                    looking.cancel()
        except TimeoutError:
            if not limit.expired():
                raise
            raise _given_up(self._host, self._most) from None

    async def retried(self, request: Callable[[], Awaitable[_T]]) -> _T:
        """Return the result of *request*, retried while the server is unavailable, within the time limit."""
        loop, failing = asyncio.get_running_loop(), None
        while True:
            began = loop.time()
            try:
                return await request()
            except ServerUnavailableError as error:
                failed = loop.time()
                if failing is None or failed - began > _ATTEMPT:
                    failing = failed
                if error.is_refusal or failed - failing > self._most.total_seconds():
                    raise
            await asyncio.sleep(_PAUSE)

    async def _look(self, limit: asyncio.Timeout) -> None:
        loop, since, is_told = asyncio.get_running_loop(), None, False
        await asyncio.sleep(_PAUSE)
        while True:
            began = loop.time()
            if await answers(self._client, FIRST_WORD):
                limit.reschedule(None)
                if is_told:
                    _log.warning("the server at %s answers again", self._host)
                since, is_told = None, False
            else:
                if since is None:
                    since = began
                    limit.reschedule(since + self._most.total_seconds())
                if not is_told and loop.time() - since >= FIRST_WORD:
                    is_told = True
                    text = "the server at %s does not answer; giving up after %s"
                    _log.warning(text, self._host, format_duration(self._most))
            await asyncio.sleep(_PAUSE)


def _given_up(host: str, limit: timedelta) -> ServerUnavailableError:
    text = f"the server at {host} has not answered for {format_duration(limit)}"
    return ServerUnavailableError(text, f"{VARIABLE} sets how long it may not answer")
