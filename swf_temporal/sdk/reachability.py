"""Logs when the server stops answering, and when it answers again.

The SDK asks again and again, and logs each of its many attempts in its own words. A worker says once that the
server does not answer, why, and once that it answers again.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.temporal.connection_errors import Trouble, brief, trouble_of

SERVER_LOG = "swf.server"

_ASKED_AGAIN = re.compile(r"gRPC call \w+ retried")
_PAUSE = 1.0
"""Seconds between two looks at a server that does not answer."""
_LIMIT = timedelta(seconds=5)
_QUIET = 60.0
"""Seconds for which the same trouble with a server that answers is not told again."""

_log = logging.getLogger(SERVER_LOG)


class CoreLines(logging.Filter):
    """Puts what the core of the SDK logs into words; of requests that it makes again only the watch is told."""

    watch: "ServerWatch | None" = None
    """Who is told. There is one for the process, as there is one core."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether *record* is to be written; one of the core's is rewritten."""
        forwarded = getattr(record, "temporal_log", None)
        if forwarded is None:
            return True
        error = str(forwarded.fields.get("error", ""))
        if _ASKED_AGAIN.match(forwarded.message):
            if CoreLines.watch is not None:
                CoreLines.watch.heed(trouble_of(error))
            return False
        record.msg, record.args = " ".join(f"{forwarded.message}: {brief(error)}".split()).removesuffix(":"), ()
        return True


class ServerWatch:
    """Looks after the server when the core has trouble with it."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._host = client.service_client.config.target_host
        self._loop = asyncio.get_running_loop()
        self._looking: asyncio.Task[None] | None = None
        self._last_reported: dict[str, float] = {}

    def heed(self, trouble: Trouble) -> None:
        """Look into *trouble*. May be called by any thread."""
        self._soon(lambda: self._look_into(trouble))

    def stop(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()

    def _soon(self, work: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the worker has ended
            self._loop.call_soon_threadsafe(work)

    def _look_into(self, trouble: Trouble) -> None:
        if self._looking is None or self._looking.done():
            self._looking = self._loop.create_task(self._look(trouble))

    async def _look(self, trouble: Trouble) -> None:
        if await self._answers():
            # It is not that it does not answer: it does not do what it is asked for.
            now = self._loop.time()
            if now - self._last_reported.get(trouble.what, -_QUIET) >= _QUIET:
                self._last_reported[trouble.what] = now
                _log.warning("the server at %s: %s (%s); trying again", self._host, trouble.what, trouble.hint)
            return
        _log.warning("the server at %s does not answer: %s; trying again", self._host, trouble.what)
        while not await self._answers():  # noqa: ASYNC110 - a server outside can only be asked again and again
            await asyncio.sleep(_PAUSE)
        _log.info("the server at %s answers again", self._host)

    async def _answers(self) -> bool:
        try:
            await self._client.service_client.check_health(timeout=_LIMIT)
        except RPCError as error:
            away = (RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.UNKNOWN)
            return error.status not in away
        return True


@asynccontextmanager
async def watched(client: Client) -> AsyncIterator[None]:
    """Tell in the log, for as long as the context lasts, when the server of *client* stops answering and when not."""
    watch = CoreLines.watch = ServerWatch(client)
    try:
        yield
    finally:
        CoreLines.watch = None
        watch.stop()
