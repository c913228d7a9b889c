"""Applies a schedule as whatever release is on the path does: `python -P schedule.py ADDRESS QUEUE`."""

import asyncio
import os
import sys
from typing import Any, Final

from temporalio.client import Client

from swf_temporal.loading import load
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.schedules import apply

INPUT: Final = {"sum": 1}
OUTPUT: Final = {"sum": 2}
DEFINITION: Final[dict[str, Any]] = {
    "id": "scheduled",
    "version": "1.0.0",
    "specVersion": "0.8",
    "start": {"stateName": "Add", "schedule": {"cron": "30 4 1,15 * 5", "timezone": "Europe/Berlin"}},
    "functions": [{"name": "add", "type": "custom"}],
    "states": [
        {
            "name": "Add",
            "type": "operation",
            "actions": [{"functionRef": {"refName": "add", "arguments": {"a": "${ .sum }", "b": 1}}}],
            "end": True,
        }
    ],
}
"""What is started, and when."""


async def main(address: str, queue: str) -> None:
    """Apply the schedule, paused."""
    client = await Client.connect(address, data_converter=CONVERTER)
    await apply(client, load(DEFINITION), data=dict(INPUT), task_queue=queue, paused=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    os._exit(0)  # the SDK's threads sometimes abort an interpreter that ends as usual
