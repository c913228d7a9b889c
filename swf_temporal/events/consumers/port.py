"""The port of consumers: what each protocol must be able to do, and what they hand events to."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.brokers.port import Message


class NotNowError(Exception):
    """The event cannot be taken at the moment, because its receiver does not answer; it is tried again."""


class NeverError(Exception):
    """The event can never be taken, such as one that is too large."""


Take: TypeAlias = Callable[[CloudEvent], Awaitable[int]]
"""Takes an event; returns how many definitions consume it. Raises NotNowError or NeverError."""


async def nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message that came. What is neither accepted nor refused, the broker delivers again."""

    message: Message
    accept: Callable[[], Awaitable[None]]
    """Tell the broker that it need not deliver the message again."""
    refuse: Callable[[], Awaitable[None]]
    """Tell the broker that it must not deliver the message again, and may keep it as a dead letter."""
    hold: Callable[[], Awaitable[None]] = nothing
    """Tell the broker that the message is still being worked on."""
    lane: str = ""
    """Of messages with the same one the broker keeps the order: the partition."""
    place: str = ""
    """What finds the message again at the broker: its partition and offset, its stream and sequence."""


class MessageSource(Protocol):
    """One queue, topic or subject of a broker. The exceptions of its library become CallFailed."""

    def open(self) -> AbstractAsyncContextManager[AsyncGenerator[Incoming]]:
        """Connect: entering returns when messages come, from where this consumer was before."""
