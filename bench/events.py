"""`python -m bench.events`: how long an event takes to the instance that it resumes, and how many a second go there.

Events are sent where they go, by their correlation, to one worker in this process. Measured is the time from the moment
at which an event is sent until a worker has gone on with its instance: to one that an event began, to one that was
begun by hand and has subscribed, to one that the event begins, and, to compare, by a signal to an instance whose id is
known. First one event after the other on an idle server, then as many as senders send at once.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any

from temporalio.client import Client

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.routing import instance_id, route
from swf_temporal.events.sinks import Sinks
from swf_temporal.functions.calling import Calls
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.settings.calls import Settings
from swf_temporal.temporal.client import start
from swf_temporal.temporal.constants import EVENT
from swf_temporal.temporal.event_dispatch import dispatch
from swf_temporal.temporal.instance_part import OperatorOptions, Part
from swf_temporal.temporal.instance_parts import PARTS
from swf_temporal.temporal.server import local_server
from swf_temporal.temporal.worker import make_worker

QUEUE = "bench"
TAKEN: dict[str, float] = {}
"""When each event was taken, by its data."""


class Timed(Part):
    """Notes when an instance takes events."""

    def note(self, entry: TraceEntry) -> None:
        """Note that it has taken one."""
        if entry.kind is TraceKind.EVENT_TAKEN:
            TAKEN.setdefault(str(entry.detail["data"]), time.monotonic())


TIMED = OperatorOptions(parts=(*PARTS, Timed))
"""What workflow code is told."""


def definition(name: str, *, by_hand: bool) -> dict[str, Any]:
    """Return a definition whose instances take one event after the other, until the server ends."""
    rule = {"contextAttributeName": "order"}
    if by_hand:
        rule["contextAttributeValue"] = "${ .order }"
    again = {"type": "event", "onEvents": [{"eventRefs": ["Next"], "eventDataFilter": {"useData": False}}]}
    return {
        "id": name,
        "version": "1.0",
        "specVersion": "0.8",
        "events": [{"name": "Next", "type": name, "source": "bench", "correlation": [rule]}],
        "states": [{"name": "Wait", **again, "transition": "Then"}, {"name": "Then", **again, "transition": "Wait"}],
    }


DEFINITIONS = {name: load(definition(name, by_hand=name == "subscribed")) for name in ("begun", "subscribed")}


@dataclass
class Bench:
    """Sends events to one worker."""

    client: Client
    number: int = 0
    sent: dict[str, float] = field(default_factory=dict)

    def event(self, kind: str, key: str) -> CloudEvent:
        """Return an event that none before was."""
        self.number += 1
        return CloudEvent(str(self.number), "bench", kind, str(self.number), {"order": key})

    async def route(self, kind: str, key: str) -> str:
        """Send an event where it goes; return its data."""
        event = self.event(kind, key)
        self.sent[event.id] = time.monotonic()
        await dispatch(self.client, event, route(event, [DEFINITIONS[kind]]), lambda one: [one], QUEUE)
        return event.id

    async def signal(self, key: str) -> str:
        """Send an event to the instance of a key, by its id."""
        event = self.event("begun", key)
        self.sent[event.id] = time.monotonic()
        handle = self.client.get_workflow_handle(instance_id("begun", {"order": key}))
        await handle.signal(EVENT, event.to_json())
        return event.id

    async def latency(self, send: Callable[[int], Awaitable[str]], count: int) -> dict[str, float]:
        """Return how long events take that are sent one after the other, in milliseconds."""
        times = []
        for index in range(count):
            id_ = await send(index)
            await taken([id_])
            times.append((TAKEN[id_] - self.sent[id_]) * 1000)
        return {"p50": round(median(times), 1), "p99": round(quantiles(times, n=100)[98], 1)}

    async def rate(self, send: Callable[[int], Awaitable[str]], count: int, at_once: int) -> float:
        """Return how many events a second are taken where *at_once* senders send them."""
        began = time.monotonic()

        async def sender(first: int) -> list[str]:
            return [await send(index) for index in range(first, count, at_once)]

        ids = [id_ for one in await asyncio.gather(*map(sender, range(at_once))) for id_ in one]
        await taken(ids)
        return round(count / (max(TAKEN[id_] for id_ in ids) - began), 1)


async def taken(ids: list[str]) -> None:
    """Wait until instances have taken the events. Raises TimeoutError if that takes too long."""
    async with asyncio.timeout(300):
        while not all(id_ in TAKEN for id_ in ids):  # noqa: ASYNC110 - a worker's threads write it
            await asyncio.sleep(0.002)


async def measure(count: int, keys: int, at_once: int) -> dict[str, Any]:
    """Return what was measured."""
    async with local_server(as_installed=True) as server:
        calls = Calls({}, settings=Settings())
        worker = make_worker(
            server.client, Catalogue(DEFINITIONS.values()), calls, Sinks(), task_queue=QUEUE, operator_options=TIMED
        )
        async with worker:
            bench = Bench(server.client)
            for key in range(keys):
                await taken([await bench.route("begun", str(key))])
            await start(
                server.client, [DEFINITIONS["subscribed"]], {"order": "0"}, workflow_id="by hand", task_queue=QUEUE
            )
            await taken([await bench.route("subscribed", "0")])
            latencies = {
                "to one that an event began": await bench.latency(lambda _: bench.route("begun", "0"), count),
                "to one that has subscribed": await bench.latency(lambda _: bench.route("subscribed", "0"), count),
                "to one that it begins": await bench.latency(lambda n: bench.route("begun", f"new {n}"), count),
                "by a signal": await bench.latency(lambda _: bench.signal("0"), count),
            }
            rates = {
                "routed": await bench.rate(lambda n: bench.route("begun", str(n % keys)), count * 10, at_once),
                "signals": await bench.rate(lambda n: bench.signal(str(n % keys)), count * 10, at_once),
                "routed to one key": await bench.rate(lambda _: bench.route("begun", "0"), count * 3, at_once),
            }
    return {"events": count, "keys": keys, "senders": at_once, "milliseconds": latencies, "eventsPerSecond": rates}


def main() -> None:
    """Measure, and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m bench.events", description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=200, help="how many are sent one after the other")
    parser.add_argument("--keys", type=int, default=50, help="to how many instances")
    parser.add_argument("--senders", type=int, default=20, help="how many send at once")
    given = parser.parse_args()
    print(json.dumps(asyncio.run(measure(given.events, given.keys, given.senders)), indent=2))
    sys.stdout.flush()
    os._exit(0)  # the SDK's threads do not always survive the end of the interpreter


if __name__ == "__main__":
    main()
