"""Publishing to a stream of NATS, which confirms what it has kept, and keeps nothing twice."""

import asyncio

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.functions.asyncapi.brokers.faults import UNKNOWN, Refused
from swf_temporal.functions.asyncapi.brokers.nats import connected, telling
from swf_temporal.functions.asyncapi.brokers.port import Channel, Message
from swf_temporal.functions.call import optional


async def publish_to_stream(channel: Channel, message: Message, stream: str, event: CloudEvent) -> None:
    """Publish *message*, which carries *event*, and wait until *stream* has it. Raises CallFailed.

    The stream knows the event again by its source and id for two minutes, or as long as it is configured.
    """
    known_by = f"{event.source} {event.id}"
    headers = {**message.headers, "content-type": message.content_type or "", "Nats-Msg-Id": known_by}
    with telling(channel):
        errors = optional("nats.js.errors", "nats", "messages of NATS")
        async with asyncio.timeout(channel.timeout), connected(channel) as (connection, _):
            try:
                await connection.jetstream().publish(
                    channel.address, message.payload, timeout=channel.timeout, stream=stream, headers=headers
                )
            except errors.NoStreamResponseError as error:
                raise Refused(UNKNOWN, "no stream of JetStream has the subject") from error
