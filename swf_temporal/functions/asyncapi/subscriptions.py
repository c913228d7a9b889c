"""Subscriptions that are consumed in portions: each call returns the next messages.

Theory of operation. What a call returned is only acknowledged by the next one, which is given its receipt. So a call
that is made again, after a worker was lost, returns the same messages once more, and none is lost.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.events.brokers.port import Broker, BrokerMessage, Channel, Keeping, Message
from swf_temporal.functions.asyncapi.messages import ReceivedMessage, read_message
from swf_temporal.functions.asyncapi.parts import MessageType

_MOST: Final = 100
"""The number of messages in a portion, if the call does not limit it."""
_GATHERING: Final = 0.25
"""Seconds for which a portion takes further messages after the first one, if the broker keeps those that are left."""


@dataclass(frozen=True, slots=True)
class Portion:
    """The part of a subscription that a call asks for.

    The result is `{"messages": [{"payload", "headers", "correlationId"}, …], "receipt": …}`.
    """

    subscription: str
    """The name of the subscription, which all of its calls share, and no others."""
    amount: int | None = None
    """The largest number of messages."""
    seconds: float | None = None
    """The time to wait for the first message; None to wait until the call is cancelled."""
    receipts: tuple[str, ...] = ()
    """The receipts of the messages that the previous call returned."""
    ends: bool = False
    """Whether the subscription is over."""


def read_portion(operation: str, arguments: JSON) -> Portion | None:
    """Return the portion that *arguments* ask for; None if they name no subscription. Raises CallFailed."""
    given: dict[str, Any] = arguments if isinstance(arguments, dict) else {}
    name, amount, seconds = given.get("subscription"), given.get("amount"), given.get("for")
    receipts, ends = given.get("receipt"), given.get("end")
    wrong = {
        "subscription": name is not None and not (isinstance(name, str) and name),
        "amount": amount is not None and not (type(amount) is int and amount > 0),
        "for": seconds is not None and not (isinstance(seconds, int | float) and seconds >= 0),
        "receipt": receipts is not None
        and not (isinstance(receipts, list) and all(isinstance(one, str) for one in receipts)),
        "end": not isinstance(ends, bool | None),
    }
    for key, is_wrong in wrong.items():
        if is_wrong or (name is None and given.get(key) is not None):
            what = f"is {given[key]!r}" if is_wrong else "is of a subscription, and none is named"
            raise permanent_failure("BadArguments", f"operation '{operation}': '{key}' {what}")
    if name is None:
        return None
    return Portion(str(name), amount, seconds, tuple(receipts or ()), bool(ends))


async def next_messages(broker: Broker, channel: Channel, kinds: Sequence[MessageType], portion: Portion) -> JSON:
    """Return the next messages of the subscription whose name is the client id of *channel*, or end it."""
    if portion.ends:
        if isinstance(broker, Keeping):
            await broker.forget(channel)
        return {"messages": [], "receipt": None}
    if isinstance(broker, Keeping):
        async with broker.resume(channel, portion.receipts) as deliveries:
            if deliveries is not None:
                return await _gathered(channel, deliveries, kinds, portion, is_kept=True)
    async with broker.receive(channel) as deliveries:
        return await _gathered(channel, deliveries, kinds, portion, is_kept=False)


async def _gathered(
    channel: Channel,
    deliveries: AsyncIterator[BrokerMessage],
    kinds: Sequence[MessageType],
    portion: Portion,
    *,
    is_kept: bool,
) -> JSON:
    """Return the messages that come: with *is_kept* the first and those right after it, otherwise all until the end.

    What nobody keeps would be lost between two calls.
    """
    clock = asyncio.get_running_loop().time
    end = None if portion.seconds is None else clock() + portion.seconds
    messages: list[JSON] = []
    receipts: list[JSON] = []
    size = 0
    # One message may be as large as all of them together.
    while len(messages) < (portion.amount or _MOST) and 2 * size <= channel.max_bytes:
        may_end = bool(messages) or (is_kept and end is not None)
        delivery = await _next(channel, deliveries, end, may_end=may_end)
        if delivery is None:
            break
        try:
            received = read_delivered(channel, kinds, delivery.message).whole()
        except CallFailed:
            if messages and is_kept:
                break  # it is the first one of the next call
            if delivery.receipt is None:
                await delivery.accept()
            raise
        messages.append({name: received[name] for name in ("payload", "headers", "correlationId")})
        if delivery.receipt is None:
            await delivery.accept()
        else:
            receipts.append(delivery.receipt)
        size += len(delivery.message.payload)
        if is_kept and len(messages) == 1:
            end = min(clock() + _GATHERING, end or math.inf)
    # Redelivered messages come before others: without a message, some of those of the previous call may be to come.
    return {"messages": messages, "receipt": receipts or (None if messages else list(portion.receipts) or None)}


async def _next(
    channel: Channel, deliveries: AsyncIterator[BrokerMessage], end: float | None, *, may_end: bool
) -> BrokerMessage | None:
    """Return the next message; None if the time is over or, with *may_end*, if there will be no others."""
    try:
        async with asyncio.timeout_at(end):
            delivery = await anext(deliveries, None)
    except TimeoutError:
        return None
    if delivery is None and not may_end:
        raise CallFailed(f"{channel}: it was closed before a message arrived", code="ConnectionLost")
    return delivery


def read_delivered(channel: Channel, kinds: Sequence[MessageType], message: Message) -> ReceivedMessage:
    """Return a message of *channel*. Raises CallFailed if it is too large, malformed, or of none of *kinds*."""
    if len(message.payload) > channel.max_bytes:
        text = f"{channel}: the received message is larger than {channel.max_bytes} bytes"
        raise permanent_failure("AnswerTooLarge", text)
    return read_message(str(channel), kinds, message)
