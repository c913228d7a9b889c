"""A consumer's source that an installed package offers."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.installed import EVENT_SOURCES, offered
from swf_temporal.base.strict_json import write_json
from swf_temporal.events.brokers.port import Message
from swf_temporal.events.consumers.port import Incoming
from swf_temporal.events.custom import EventSource
from swf_temporal.events.messages import STRUCTURED


class CustomSource:
    """Takes one event after the other from a source of a package."""

    def __init__(self, name: str) -> None:
        """Take the source that is offered as *name*. Raises UsageError if there is none."""
        self._source: EventSource = offered(EVENT_SOURCES, name, "events")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncGenerator[Incoming]]:
        """Take events from it within the context."""
        async with aclosing(self._source.events()) as events:
            yield _one_by_one(events)


async def _one_by_one(events: AsyncGenerator[object]) -> AsyncGenerator[Incoming]:
    async for event in events:
        done = asyncio.Event()

        async def finish(done: asyncio.Event = done) -> None:
            done.set()

        given = event.to_json() if isinstance(event, CloudEvent) else event
        yield Incoming(Message(write_json(given).encode(), content_type=STRUCTURED), finish, finish)
        await done.wait()
