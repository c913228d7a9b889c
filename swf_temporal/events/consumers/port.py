"""The port of consumers: what each protocol must implement, and the receiver of the events."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.brokers.port import Message


class NotNowError(Exception):
    """The event cannot be taken at the moment, because its receiver does not answer; it is retried."""


class NeverError(Exception):
    """The event can never be taken, such as one that is too large."""


Take: TypeAlias = Callable[[CloudEvent], Awaitable[int]]
"""Takes an event; returns how many definitions consume it. Raises NotNowError or NeverError."""


async def nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A received message. If it is neither accepted nor refused, the broker redelivers it."""

    message: Message
    accept: Callable[[], Awaitable[None]]
    """Acknowledge the message: the broker need not redeliver it."""
    refuse: Callable[[], Awaitable[None]]
    """Reject the message: the broker must not redeliver it, and may keep it as a dead letter."""
    hold: Callable[[], Awaitable[None]] = nothing
    """Notify the broker that the message is still being worked on."""
    lane: str = ""
    """The partition: the broker keeps the order of messages in the same lane."""
    place: str = ""
    """The location of the message at the broker: its partition and offset, its stream and sequence."""


class MessageSource(Protocol):
    """One queue, topic or subject of a broker. The exceptions of its library become CallFailed."""

    def open(self) -> AbstractAsyncContextManager[AsyncGenerator[Incoming]]:
        """Connect: entering returns once messages are received, from this consumer's last position."""
