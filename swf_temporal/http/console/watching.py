"""Live pages: all viewers of an instance, or of a list, share one poll, and their number is limited."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar

from temporalio.service import RPCError

from swf_temporal.base.errors import SwfError
from swf_temporal.base.strict_json import write_json
from swf_temporal.http.console.instances import live_of
from swf_temporal.http.console.lists import list_part
from swf_temporal.http.console.pages import macros
from swf_temporal.http.console.visits import Visit
from swf_temporal.http.gateway.instances import TenantInstance
from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.http.gateway.requests import PATIENCE
from swf_temporal.operations.client import Client
from swf_temporal.sdk.http_connections import RequestUnderWay
from swf_temporal.settings.http import GatewaySettings, Tenant
from swf_temporal.temporal.client_errors import refusals_as_usage_errors

_EVERY: Final = 1.0
"""Seconds between two polls of an instance."""
_EVERY_LIST: Final = 3.0
"""Seconds between two polls of a list."""
_REST: Final = 10
"""How many times as long as a poll of a list took to wait before the next, at least."""
_MAX_SKIPPED: Final = 5
"""The number of polls after which it is queried even if its history has not grown: an attempt may have failed."""


class Snapshot:
    """The state of an instance, and the parts of its page that are the same for everyone, as JSON."""

    def __init__(self, values: dict[str, Any]) -> None:
        made, facts = macros("live.html"), values["facts"]
        self.values = values
        self.parts = {
            "live-head": write_json(str(made.head(facts, values["is_open"], values["path"], values["failed"]))),
            "live-values": write_json(str(made.values(values["data"], values["output"], facts, values["is_open"]))),
            "live-changes": write_json(str(made.changes(values["trail"]))),
            "live-trace": write_json(str(made.entries(values["trace"], values["cut"], facts, values["path"]))),
        }


S = TypeVar("S")


class Watched(ABC, Generic[S]):
    """A view that is polled once for everyone who has it open."""

    def __init__(self) -> None:
        self._looked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._last: S | None = None
        self.watchers = 0
        self.looking = asyncio.create_task(self._look())

    async def snapshots(self, stopping: asyncio.Event, seconds: float) -> AsyncIterator[S]:
        """Yield each state, beginning with the last one known, for *seconds*, or until the server is *stopping*.

        It ends sooner if it has ended, or cannot be polled.
        """
        last, until = None, time.monotonic() + seconds
        is_over = asyncio.create_task(stopping.wait())
        try:
            while not is_over.done() and (left := until - time.monotonic()) > 0:
                looked = self._looked
                if self._last is not None and self._last is not last:
                    last = self._last
                    yield last
                elif self.looking.done():
                    return
                else:
                    awaited: list[asyncio.Future[Any]] = [looked, self.looking, is_over]
                    await asyncio.wait(awaited, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            is_over.cancel()

    @abstractmethod
    async def _look(self) -> None:
        """Poll it, and tell each new state."""

    def _tell(self, snapshot: S) -> None:
        self._last, looked, self._looked = snapshot, self._looked, asyncio.get_running_loop().create_future()
        looked.set_result(None)


class WatchedInstance(Watched[Snapshot]):
    """An instance that is polled for all who view its page."""

    def __init__(self, client: Client, found: TenantInstance) -> None:
        self._client = client
        self._found = found
        super().__init__()

    async def _look(self) -> None:
        length, number, is_open = -1, 0, True
        with suppress(SwfError, RPCError, TimeoutError), refusals_as_usage_errors():  # the next poll reports it
            while is_open:
                async with asyncio.timeout(PATIENCE):
                    now = (await self._found.instance.handle.describe()).history_length
                    if now != length or number % _MAX_SKIPPED == 0:
                        length = now
                        trail = None if self._last is None else self._last.values["trail"]
                        values = await live_of(self._client, self._found, trail)
                        is_open = values["is_open"]
                        self._tell(Snapshot(values))
                number += 1
                await asyncio.sleep(_EVERY if is_open else 0)


class WatchedList(Watched[str]):
    """A list of instances that is polled for all of a tenant who view it: the same filters, the same page."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        super().__init__()

    async def _look(self) -> None:
        with suppress(SwfError, RPCError, TimeoutError, Refused), refusals_as_usage_errors():  # as above
            while True:
                begun = time.monotonic()
                async with asyncio.timeout(PATIENCE):
                    part = await list_part(self._visit)
                if part != self._last:
                    self._tell(part)
                # A server that takes long is asked less often.
                await asyncio.sleep(max(_EVERY_LIST, _REST * (time.monotonic() - begun)))


K = TypeVar("K")
W = TypeVar("W", bound=Watched[Any])


class Watching:
    """The viewers of instances and of lists."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._settings = settings
        self._by_tenant = Counter[str]()
        self._instances: dict[tuple[str, str], WatchedInstance] = {}
        self._lists: dict[tuple[str, str], WatchedList] = {}

    def count(self, tenant: Tenant, request: RequestUnderWay) -> None:
        """Count a viewer until *request* ends. Raises Refused if there are too many."""
        count = self._by_tenant
        if count[tenant.name] >= tenant.max_live_pages:
            raise _refused(f"{count[tenant.name]} pages of instances are open with this key")
        if count.total() >= self._settings.max_live_pages:
            raise _refused(f"{count.total()} pages of instances are open here")
        count.update([tenant.name])
        request.left.callback(count.subtract, [tenant.name])

    def watch(self, client: Client, found: TenantInstance, request: RequestUnderWay) -> WatchedInstance:
        """Return an instance that is polled until *request* ends."""
        key = client.namespace, found.instance.id
        watched = self._instances.get(key)
        if watched is None or watched.looking.done():
            watched = self._instances[key] = WatchedInstance(client, found)
        watched.watchers += 1
        request.left.callback(_leave, self._instances, key, watched)
        return watched

    def watch_list(self, visit: Visit, request: RequestUnderWay) -> WatchedList:
        """Return the list with the filters in the address of *visit*, which is polled until *request* ends."""
        key = visit.asked.tenant.name, visit.asked.request.url.query
        watched = self._lists.get(key)
        if watched is None or watched.looking.done():
            watched = self._lists[key] = WatchedList(visit)
        watched.watchers += 1
        request.left.callback(_leave, self._lists, key, watched)
        return watched


def _leave(all_: dict[K, W], key: K, watched: W) -> None:
    watched.watchers -= 1
    if not watched.watchers:
        watched.looking.cancel()
        if all_.get(key) is watched:
            del all_[key]


def _refused(detail: str) -> Refused:
    detail += ", which is the limit: this page does not update until another is closed"
    return Refused(429, "too-many-pages", detail, retry_after=_RETRY_AFTER)


_RETRY_AFTER: Final = 30
"""Seconds after which a page tries again."""
