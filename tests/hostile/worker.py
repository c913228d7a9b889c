"""The worker that hostile definitions are given to: `python -m tests.hostile.worker ADDRESS QUEUE`."""

import asyncio
import sys

from temporalio.client import Client

from swf_temporal.events.sinks import Sinks
from swf_temporal.functions.calling import Calls
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.worker import make_worker, tune_gc

READY = "ready"


async def main(address: str, queue: str) -> None:
    tune_gc()
    client = await Client.connect(address, data_converter=CONVERTER)
    async with make_worker(client, Catalogue(), Calls({}), Sinks(), task_queue=queue):
        print(READY, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    sys.stdout.flush()
