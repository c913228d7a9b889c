"""Limits on what a run sends to the server: on the size at once, and on the number of things in progress.

The sizes are those of plain JSON. Compression reduces them, and encryption adds a few hundred bytes, for which the
limit leaves room. What depends on the worker's configuration is recorded in the history.
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
from swf_temporal.temporal.converter import advice_for, unwrapped
from swf_temporal.temporal.markers import is_marked

_STORED: Final = "stored-payloads"
"""The marker in the history of a run that had more in one payload than a server accepts.

A run that hit the server's limit, on a worker without storage, keeps the path that it took then.
"""
_TOGETHER: Final = "input-and-definition"
"""The marker of a run in which a sub-workflow was not started, since input and definition together are too large."""


def fits(size: int, limit: int) -> bool:
    """Return whether a payload of *size* can be sent, and record that if it needs storage."""
    return size <= MAX_PAYLOAD_BYTES or (size <= limit and is_marked(_STORED))


def check_fits(size: int, what: str, limit: int) -> None:
    """Raise PayloadTooLarge if *size* is more than *what*, such as one step, can carry."""
    if not fits(size, limit):
        check_size(size, what, limit if size > limit else MAX_PAYLOAD_BYTES, advice_for(limit))


def check_together(sizes: Sequence[int], limit: int) -> None:
    """Raise PayloadTooLarge if the server would refuse a sub-workflow's start arguments."""
    if limit == MAX_PAYLOAD_BYTES and sum(sizes) > MAX_INPUT_BYTES and is_marked(_TOGETHER):
        text = f"{sum(sizes):,} bytes of input and definitions are more than the {MAX_INPUT_BYTES:,}"
        raise PayloadTooLarge(f"{text} that a sub-workflow can be started with: {advice_for(limit)}")


MAX_BYTES_AT_ONCE: Final = 3 * 1024 * 1024
"""The size limit of what one workflow task sends; the server ends a workflow that sends more than 4 MiB.

It counts JSON, whether or not large payloads are stored outside of the server: a history has to replay in both cases,
and stored payloads have to be written within the time of a workflow task, too.
"""

MAX_BYTES_TO_BEGIN: Final = MAX_PAYLOAD_BYTES
"""The same limit for a task that starts calls or sub-workflows.

What arrives while a task is in progress, such as results of earlier calls, the server writes together with what the
task sends, and ends the workflow if that is more than 4 MiB. It buffers up to 2 MiB of what arrives.
"""

MAX_PENDING: Final = 1900
"""The limit of activities and sub-workflows in progress; the server refuses more than 2,000."""


_ALL: Final = object()


class Slowest(NamedTuple):
    """The call that has been in progress for the longest time."""

    name: str
    since: datetime
    overtaken: int
    """The number of later ones that have already ended."""


@dataclass(slots=True)
class Room:
    """Room reserved for what is sent later in the same workflow task."""

    size: int
    """The size in bytes."""
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
        """Name and start time of each thing in progress, by a running number."""
        self._starting = 0
        """The number of children being started: they are in progress once the server confirms the start."""
        self._detached = 0
        """The number of children in progress that are not waited for: a server counts them only as children."""
        self._long_running: set[int] = set()
        """The numbers of what survives continue-as-new."""
        self._begun = 0
        self._waiting_for_room: list[asyncio.Future[None]] = []
        self._turn = asyncio.Lock()
        """Held by the first task that waits for another workflow task with room for what it sends."""
        self._sent = 0
        self._reserved = 0
        """Bytes reserved for what may still be sent with the workflow task."""
        self._returned: asyncio.Future[None] | None = None
        """Resolved when some of the reserved bytes are released, for the one task that waits for that."""
        self._sent_by = 0
        """The workflow task that sends the counted bytes, identified by the history length at its start."""

    async def payload(self, value: Any, large: Any = _ALL) -> Payload:
        """Return *value* ready to be sent, once there is room to send it. Raises PayloadTooLarge.

        *large* is the part of it that may be large, if that is known.
        """
        payload = self.written(value, large)
        await self.in_turn(payload)
        return payload

    def written(self, value: Any, large: Any = _ALL) -> Payload:
        """Return the payload of *value*, to be sent by `in_turn`. Raises PayloadTooLarge."""
        least = json_size(value if large is _ALL else large)
        if least > self.limit:  # it need not even be serialized
            check_fits(least, ONE_STEP, self.limit)
        payload = self._converter.to_payload(value)
        check_fits(len(payload.data), ONE_STEP, self.limit)
        return payload

    async def in_turn(self, *payloads: Payload, starts_child: bool = False) -> None:
        """Wait until there is room to send *payloads*, all in one workflow task, and for what they start."""
        # Larger ones are stored, and each has a separate task.
        size = sum(min(len(payload.data), MAX_PAYLOAD_BYTES) for payload in payloads)
        size = min(size, MAX_BYTES_TO_BEGIN)
        await self.room(size, MAX_BYTES_TO_BEGIN)
        while len(self._under_way) + self._starting + (self._detached if starts_child else 0) >= MAX_PENDING:
            # A future for each waiter: a waiter that is cancelled cancels its future.
            room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting_for_room.append(room)
            await room
            await self.room(size, MAX_BYTES_TO_BEGIN)
        self._sent += size

    async def room(self, size: int, most: int = MAX_BYTES_AT_ONCE) -> None:
        """Wait until a workflow task has room for *size* bytes, within *most* bytes in total.

        Waiters proceed in turn. What one of them sends is counted before the next checks for room.
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
        """Restart the count if the counted bytes were sent by an earlier workflow task."""
        # Not the time, which changes within a task when a local activity ends.
        task = workflow.info().get_current_history_length()
        if task != self._sent_by:
            self._sent, self._sent_by = 0, task

    @asynccontextmanager
    async def reserved(self, least: int, sharing: int = 1) -> AsyncIterator[Room]:
        """Reserve room for the result of a local activity: *least* bytes, or its share of half of what is left.

        The share is for *sharing* activities that are about to run at once. Those that do not fit wait until another
        ends.
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
        """Count *size* bytes that this workflow task sends because a local activity ended in it."""
        self._forget_earlier()
        self._sent += size

    @property
    def slowest(self) -> Slowest | None:
        """The longest in progress of those that do not survive continue-as-new, if any."""
        number = next((number for number in self._under_way if number not in self._long_running), None)
        if number is None:
            return None
        name, since = self._under_way[number]
        earlier = sum(1 for one in self._long_running if one < number)
        return Slowest(name, since, self._begun - number - (len(self._under_way) - earlier) + 1)

    def begun(self, name: str, *, is_long_running: bool = False) -> int:
        """Count an activity or a sub-workflow as in progress; return its number."""
        self._begun += 1
        self._under_way[self._begun] = name, self._now()
        if is_long_running:
            self._long_running.add(self._begun)
        return self._begun

    def ended(self, number: int) -> None:
        """Stop counting it, and wake those that wait for room."""
        del self._under_way[number]
        self._long_running.discard(number)
        self._wake()

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Count a child as being started while the context lasts."""
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
    """Retrieve the outcome of a *child* that nothing waits for: otherwise a failure is logged as never retrieved."""
    if not child.cancelled():
        child.exception()
