"""Publishing to a stream of NATS, which confirms what it has kept, and keeps nothing twice."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.functions.asyncapi.brokers.faults import UNKNOWN, Refused
from swf_temporal.functions.asyncapi.brokers.nats import connected, mapping_faults
from swf_temporal.functions.asyncapi.brokers.port import Channel, Message, Send
from swf_temporal.functions.call import optional


def known_by_event(message: Message, event: CloudEvent) -> Message:
    """Return *message* such that a stream knows it again by its event for two minutes, or as it is configured."""
    return replace(message, headers={**message.headers, "Nats-Msg-Id": f"{event.source} {event.id}"})


@asynccontextmanager
async def publishing_to(channel: Channel, stream: str) -> AsyncIterator[Send]:
    """Connect; what is sent then is in *stream*. Raises CallFailed."""
    errors = optional("nats.js.errors", "nats", "messages of NATS")

    async def send(to: Channel, message: Message) -> None:
        headers = {**message.headers, "content-type": message.content_type or ""}
        with mapping_faults(to):
            try:
                async with asyncio.timeout(to.timeout):
                    await connection.jetstream().publish(
                        to.address, message.payload, timeout=to.timeout, stream=stream, headers=headers
                    )
            except errors.NoStreamResponseError as error:
                raise Refused(UNKNOWN, "no stream of JetStream has the subject") from error

    with mapping_faults(channel):
        connecting = connected(channel)
        connection, _ = await connecting.__aenter__()
    try:
        yield send
    finally:
        await connecting.__aexit__(None, None, None)
