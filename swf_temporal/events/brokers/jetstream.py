"""JetStream of NATS: published messages are stored, and those whose subject has no stream are refused."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from swf_temporal.base.importing import optional
from swf_temporal.events.brokers.nats import check_size, connected, mapping_faults, unless_closed
from swf_temporal.events.brokers.port import TOO_LARGE, UNKNOWN, Channel, Message, Refused, Send

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


def _without_stream(subject: str) -> Refused:
    return Refused(UNKNOWN, f"no stream of JetStream has the subject {subject!r}")
