"""Limits what a run sends to the server: how much at once, and how many things may be in progress.

The sizes are those of plain JSON. Compression makes less of it, and encryption adds a few hundred bytes, for which the
limit leaves room. Whatever depends on the worker's configuration is recorded in the history.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadConverter

from swf_temporal.base.accounting import json_size
from swf_temporal.base.errors import PayloadTooLarge
from swf_temporal.runtime.performing import MAX_PAYLOAD_BYTES, ONE_STEP, check_size
from swf_temporal.temporal.constants import MAX_INPUT_BYTES
from swf_temporal.temporal.converter import unwrapped
from swf_temporal.temporal.markers import is_marked
from swf_temporal.temporal.sending import advice_for

_STORED: Final = "stored-payloads"
"""The marker in the history of a run that had more in one payload than a server takes.

A run that met the server's limit, on a worker without storage, keeps to the course that it took then.
"""
_TOGETHER: Final = "input-and-definition"
"""The marker of a run in which a sub-workflow was not started, since its input and its definition are too much."""


def fits(size: int, limit: int) -> bool:
    """Tell whether a payload of *size* can be sent, and record that if it takes storage."""
    return size <= MAX_PAYLOAD_BYTES or (size <= limit and is_marked(_STORED))


def check_fits(size: int, what: str, limit: int) -> None:
    """Raise PayloadTooLarge where *size* is more than *what*, such as one step, can carry."""
    if not fits(size, limit):
        check_size(size, what, limit if size > limit else MAX_PAYLOAD_BYTES, advice_for(limit))


def check_together(sizes: Sequence[int], limit: int) -> None:
    """Raise PayloadTooLarge where the server would not take what a sub-workflow is started with."""
    if limit == MAX_PAYLOAD_BYTES and sum(sizes) > MAX_INPUT_BYTES and is_marked(_TOGETHER):
        text = f"{sum(sizes):,} bytes of input and definitions are more than the {MAX_INPUT_BYTES:,}"
        raise PayloadTooLarge(f"{text} that a sub-workflow can be started with: {advice_for(limit)}")


MAX_BYTES_AT_ONCE: Final = 3 * 1024 * 1024
"""The size limit of what one workflow task sends; the server ends a workflow that sends more than 4 MiB.

It counts JSON, whether or not large payloads are stored outside of the server: a history has to replay under either,
and what is stored has to be written within the time of a workflow task, too.
"""

MAX_BYTES_TO_BEGIN: Final = MAX_PAYLOAD_BYTES
"""The same for a task that begins calls or sub-workflows.

What comes while a task is in progress, such as the results of those before, the server writes together with what the
task sends, and ends the workflow where that is more than 4 MiB. It keeps up to 2 MiB of what comes.
"""

MAX_PENDING: Final = 1900
"""The limit of activities and sub-workflows that are under way; the server refuses more than 2,000."""


_ALL: Final = object()


class Slowest(NamedTuple):
    """The call that has been in progress for the longest time."""

    name: str
    since: datetime
    overtaken: int
    """How much was begun later and has ended already."""


@dataclass(slots=True)
class Room:
    """Room that is kept for what comes later in the same workflow task."""

    size: int
    """In bytes."""
    used: int = 0


class Outgoing:
    """Makes payloads of values, each once there is room to send it."""

    def __init__(
        self,
        converter: PayloadConverter,
        limit: int,
        now: Callable[[], datetime],
        yield_control: Callable[[], Awaitable[None]],
    ) -> None:
        self.limit = limit
        """The size limit of one payload, in bytes."""
        self._converter = unwrapped(converter)
        self._now = now
        self._yield_control = yield_control
        self._under_way: dict[int, tuple[str, datetime]] = {}
        """By numbers that count what was begun."""
        self._starting = 0
        """How many children are being started: they are under way when the server says that they have begun."""
        self._detached = 0
        """How many children are in progress that are not waited for: a server counts them among children alone."""
        self._outlasting: set[int] = set()
        """The numbers of what may outlast the execution."""
        self._begun = 0
        self._waiting_for_room: list[asyncio.Future[None]] = []
        self._turn = asyncio.Lock()
        """Held by the first that waits until another workflow task has room for what it sends."""
        self._sent = 0
        self._reserved = 0
        """Bytes of what may still come to be sent with the rest of the workflow task."""
        self._returned: asyncio.Future[None] | None = None
        """What the one waits for that waits until some of these are given back."""
        self._sent_by = 0
        """The workflow task that sends that: the length of the history that it began with."""

    async def payload(self, value: Any, large: Any = _ALL) -> Payload:
        """Return *value* ready to be sent, once there is room to send it. Raises PayloadTooLarge.

        *large* is all of it that may be large, where that is known.
        """
        payload = self.written(value, large)
        await self.in_turn(payload)
        return payload

    def written(self, value: Any, large: Any = _ALL) -> Payload:
        """Return the payload of *value*, which is to be sent by `in_turn`. Raises PayloadTooLarge."""
        least = json_size(value if large is _ALL else large)
        if least > self.limit:  # it is not even written
            check_fits(least, ONE_STEP, self.limit)
        payload = self._converter.to_payload(value)
        check_fits(len(payload.data), ONE_STEP, self.limit)
        return payload

    async def in_turn(self, *payloads: Payload, starts_child: bool = False) -> None:
        """Wait until there is room to send *payloads*, all in one workflow task, and for what they begin."""
        # What is larger is stored, and has a task for itself.
        size = sum(min(len(payload.data), MAX_PAYLOAD_BYTES) for payload in payloads)
        size = min(size, MAX_BYTES_TO_BEGIN)
        await self.room(size, MAX_BYTES_TO_BEGIN)
        while len(self._under_way) + self._starting + (self._detached if starts_child else 0) >= MAX_PENDING:
            # A future for each: whoever is cancelled cancels the one that it waits for.
            room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting_for_room.append(room)
            await room
            await self.room(size, MAX_BYTES_TO_BEGIN)
        self._sent += size

    async def room(self, size: int, most: int = MAX_BYTES_AT_ONCE) -> None:
        """Wait until *size* bytes can be sent with all that this workflow task sends already: *most* bytes together.

        Those that wait go on in turn. What one of them sends is counted before the next looks whether there is room.
        """
        async with self._turn:  # one timer wakes all that wait
            self._forget_earlier()
            while self._sent + self._reserved + size > most:
                if self._reserved and self._sent + size <= most:
                    self._returned = asyncio.get_running_loop().create_future()
                    await self._returned
                else:
                    await self._yield_control()
                self._forget_earlier()

    def _forget_earlier(self) -> None:
        """Begin to count anew if that was sent by an earlier workflow task."""
        task = workflow.info().get_current_history_length()  # time passes within a task where a local activity ends
        if task != self._sent_by:
            self._sent, self._sent_by = 0, task

    @asynccontextmanager
    async def reserved(self, least: int, sharing: int = 1) -> AsyncIterator[Room]:
        """Keep room for the result of a local activity: *least* bytes, or its share of half of what is left.

        That is where *sharing* activities are about to be made at once. Beyond those that fit, each waits for the next
        that ends.
        """
        await self.room(least)
        share = (MAX_BYTES_AT_ONCE - self._sent - self._reserved) // 2 // sharing
        room = Room(min(max(least, share), self.limit))
        self._reserved += room.size
        try:
            yield room
        finally:
            self._reserved -= room.size
            self.sent(room.used)
            if self._returned is not None and not self._returned.done():
                self._returned.set_result(None)

    def sent(self, size: int) -> None:
        """Count *size* bytes that are sent with what this workflow task comes to, in which a local activity ended."""
        self._forget_earlier()
        self._sent += size

    @property
    def slowest(self) -> Slowest | None:
        """What has been under way for the longest time, if anything is that cannot outlast the execution."""
        number = next((number for number in self._under_way if number not in self._outlasting), None)
        if number is None:
            return None
        name, since = self._under_way[number]
        earlier = sum(1 for one in self._outlasting if one < number)
        return Slowest(name, since, self._begun - number - (len(self._under_way) - earlier) + 1)

    def begun(self, name: str, *, outlasts: bool = False) -> int:
        """Count an activity or a sub-workflow that is under way from now on; return its number."""
        self._begun += 1
        self._under_way[self._begun] = name, self._now()
        if outlasts:
            self._outlasting.add(self._begun)
        return self._begun

    def ended(self, number: int) -> None:
        """Count it no more, and let those go on that wait for room."""
        del self._under_way[number]
        self._outlasting.discard(number)
        self._wake()

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Count a child that is being started for as long as the context lasts."""
        self._starting += 1
        try:
            yield
        finally:
            self._starting -= 1
            self._wake()

    def detached(self, child: "asyncio.Future[Any]") -> None:
        """Count a *child* that is not waited for until it has ended."""
        self._detached += 1
        child.add_done_callback(self._detached_ended)

    def _detached_ended(self, child: "asyncio.Future[Any]") -> None:
        heard(child)
        self._detached -= 1
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting_for_room = self._waiting_for_room, []
        for room in waiting:
            if not room.done():
                room.set_result(None)


def heard(child: "asyncio.Future[Any]") -> None:
    """Take note of how a *child* has ended that nothing waits for: a failure would be logged as one that was missed."""
    if not child.cancelled():
        child.exception()
