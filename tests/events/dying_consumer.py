"""A consumer that hands on its first event and never acknowledges it: `URL ADDRESS SERVER TASK_QUEUE DEFINITION`."""

import asyncio
import sys

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.consumers.consumer import Consumer, source_of
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.operations.client import Client
from swf_temporal.sdk.event_router import Router
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import ConsumerSettings


async def main(url: str, address: str, server: str, queue: str, definition: str) -> None:
    router = Router(await Client.connect(server), Catalogue([load(definition)]), queue)
    word = "queue" if url.startswith("amqp") else "subject" if url.startswith("nats") else "topic"
    settings = ConsumerSettings(name=address, url=url, **{word: address}, declare=word == "queue")

    async def take(event: CloudEvent) -> int:
        await router.take(event)
        print(event.id, flush=True)  # noqa: T201 - to the test
        await asyncio.Event().wait()
        return 1

    consumer = Consumer(settings, source_of(settings, Settings()), take, Settings())
    running = asyncio.create_task(consumer.run())
    while not consumer.is_connected:
        await asyncio.sleep(0.02)
    print("connected", flush=True)  # noqa: T201 - as above
    await running


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
