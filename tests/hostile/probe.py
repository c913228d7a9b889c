"""Starts a small workflow every tenth of a second: `python -m tests.hostile.probe ADDRESS QUEUE`.

A line of its output has when a probe began, as `time.monotonic`, which is one clock for all processes, and the seconds
that it took. It is a process of its own, so that what is measured is the worker, and not the making of hostile
definitions. It ends with its standard input.
"""

import asyncio
import json
import os
import sys
import time
from itertools import count

from temporalio.client import Client

from swf_temporal.temporal.converter import CONVERTER
from tests.hostile.cases import arguments, flow, put

_PROBE = json.dumps(flow(put({"a": 1}, "A"), put({}, "B", stateDataFilter={"output": "${ [.a] | map(1) | {b: .} }"})))
_EVERY = 0.1
_AT_ONCE = 10
_numbers = count(1)


async def main(address: str, queue: str) -> None:
    client = await Client.connect(address, data_converter=CONVERTER)
    room = asyncio.Semaphore(_AT_ONCE)  # each waits with a poll, of which a server takes so many

    async def one() -> None:
        begun = time.monotonic()
        async with room:
            handle = await client.start_workflow(
                "hostile", args=arguments(_PROBE, {}), id=f"probe-{os.getpid()}-{next(_numbers)}", task_queue=queue
            )
            await handle.result()
        print(begun, time.monotonic() - begun, flush=True)

    ending = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    async with asyncio.TaskGroup() as group:
        while not ending.done():
            group.create_task(one())
            await asyncio.wait([ending], timeout=_EVERY)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
