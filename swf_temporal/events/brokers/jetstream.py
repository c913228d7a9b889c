"""JetStream of NATS: published messages are stored, and those whose subject has no stream are refused."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, Final

from swf_temporal.base.importing import optional
from swf_temporal.base.stopping import end_if_cancelled
from swf_temporal.events.brokers.nats import check_size, connected, incoming, mapping_faults, unless_closed
from swf_temporal.events.brokers.port import (
    KEPT,
    LOST,
    TOO_LARGE,
    UNKNOWN,
    BrokerMessage,
    Channel,
    Message,
    Refused,
    Send,
)

ACK_WAIT: Final = 5.0
"""Seconds after which the server redelivers a message of a subscription that is not acknowledged."""
_ASKING: Final = 5.0
"""Seconds for which a request waits for a message at the server."""
_DISABLED = frozenset({None, 10039, 10076})
"""The codes of errors without JetStream: nobody answers, or it is not enabled for the account or the server."""
_RECEIPT = re.compile(r"\$JS\.ACK\.[^\s*>]+")
"""The subjects to which messages are acknowledged, over any connection; they contain the name of the consumer."""
_TOO_LARGE_FOR_STREAM = 10054


@asynccontextmanager
async def storing(channel: Channel, stream: str | None = None) -> AsyncIterator[Send]:
    """Connect; each message is confirmed when *stream*, or without it any stream, has stored it. Raises CallFailed."""
    errors = optional("nats.js.errors", "nats", "messages of NATS")

    async def send(to: Channel, message: Message) -> None:
        headers = {**message.headers, "content-type": message.content_type or ""}

        def denial() -> Exception | None:
            return next((one for one in complaints if f'"{to.address.lower()}"' in str(one)), None)

        with mapping_faults(to):
            check_size(connection, headers, message.payload)
            try:
                async with asyncio.timeout(to.timeout):
                    publishing = connection.jetstream().publish(
                        to.address, message.payload, timeout=to.timeout, stream=stream, headers=headers
                    )
                    await unless_closed(connection, publishing, denial)
            except errors.NoStreamResponseError as error:
                raise _without_stream(to.address) from error
            except errors.APIError as error:
                if error.err_code == _TOO_LARGE_FOR_STREAM:
                    raise Refused(TOO_LARGE, str(error)) from error
                raise

    async with connected(channel) as (connection, complaints):
        yield send


async def stream_of(connection: Any, subject: str) -> str:
    """Return the name of the stream that stores what is published to *subject*. Raises Refused if none does."""
    try:
        name: str = await connection.jsm().find_stream_name_by_subject(subject)
    except optional("nats.js.errors", "nats", "messages of NATS").NotFoundError as error:
        raise _without_stream(subject) from error
    return name


async def resumed(connection: Any, channel: Channel, receipts: Sequence[str]) -> Any:
    """Return the durable consumer of a subscription, after acknowledging the messages of *receipts*.

    Returns None if no stream stores the subject.
    """
    api, stream = optional("nats.js.api", "nats", "messages of NATS"), await _stream_or_none(connection, channel)
    if stream is None:
        return None
    config = api.ConsumerConfig(
        ack_policy=api.AckPolicy.EXPLICIT,
        ack_wait=ACK_WAIT,
        deliver_policy=api.DeliverPolicy.NEW,
        inactive_threshold=KEPT,
    )
    subject, name = channel.address, channel.client_id
    subscription = await connection.jetstream().pull_subscribe(subject, durable=name, stream=stream, config=config)
    for receipt in receipts:
        if _RECEIPT.fullmatch(receipt) and f".{name}." in receipt:
            await connection.request(receipt, timeout=channel.timeout)
    if (await subscription.consumer_info()).num_ack_pending:
        # Messages of a lost attempt are redelivered after that time; newer ones must follow them.
        await asyncio.sleep(ACK_WAIT)
    return subscription


async def unaccepted(channel: Channel, connection: Any, subscription: Any) -> AsyncIterator[BrokerMessage]:
    """Yield the messages of a durable consumer that were not acknowledged."""
    timed_out = optional("nats.errors", "nats", "messages of NATS").TimeoutError
    while True:
        end_if_cancelled()
        with mapping_faults(channel):
            if connection.is_closed:
                raise Refused(LOST)
            try:
                (received,) = await subscription.fetch(1, timeout=_ASKING)
            except timed_out:
                # If the consumer was deleted, the library reports the same as for no message yet.
                await subscription.consumer_info()
                continue
        yield BrokerMessage(replace(incoming(received), reply_to=None), received.ack, received.reply)


async def forget(connection: Any, channel: Channel) -> None:
    """Delete the durable consumer of a subscription, if there is one."""
    errors, stream = optional("nats.js.errors", "nats", "messages of NATS"), await _stream_or_none(connection, channel)
    if stream is not None:
        with suppress(errors.NotFoundError):
            await connection.jsm().delete_consumer(stream, channel.client_id)


async def _stream_or_none(connection: Any, channel: Channel) -> str | None:
    """Return the stream that stores the subject; None if there is none, or the server has no JetStream."""
    errors = optional("nats.js.errors", "nats", "messages of NATS")
    try:
        name: str = await connection.jsm().find_stream_name_by_subject(channel.address)
    except errors.NotFoundError:
        return None
    except errors.ServiceUnavailableError as error:
        if error.err_code not in _DISABLED:
            raise
        return None
    return name


def _without_stream(subject: str) -> Refused:
    return Refused(UNKNOWN, f"no stream of JetStream has the subject {subject!r}")
