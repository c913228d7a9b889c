"""One soak of events.

Producers send the events of each correlation key, some over HTTP to a gateway and some to a broker, from which `swf
consume` takes them. A producer sends an event again until it is answered for, and some that were answered for as well.
Workers, gateway and consumers are killed, and started again; the Temporal server is restarted on its database. In the
end there has to be one instance for each key, which has taken each of its events once.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from random import Random
from time import monotonic

import httpx
import nats
from nats.errors import Error as NatsError
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError

from swf_temporal.base.client_errors import RunEnded
from swf_temporal.events.routing import instance_id
from swf_temporal.temporal.client import result
from swf_temporal.temporal.server import local_server
from tests.brokers.servers import HOST, free_ports, program, running
from tests.soaking import TALLY, Programs

_CONFIGURATION = "events: {consumers: [{name: soak, from: 'nats://BROKER', subject: soak}]}\n"
_AGAIN = 50
"""One event of so many is sent again after it was answered for."""
_PAUSE = 0.3
"""Seconds before a producer sends again what was not answered for."""


@dataclass(frozen=True, slots=True)
class Size:
    events: int = 10_000
    keys: int = 1_000
    producers: int = 8
    kills: int = 12
    restarts: int = 1
    turn: float = 4.0
    """Seconds between two kills."""
    patience: float = 300.0
    """Seconds for what is left in the end, counted from the last instance that ended."""


@dataclass(slots=True)
class Figures:
    sent: Counter[str] = field(default_factory=Counter)
    """How many events were sent, by the way."""
    repeated: int = 0
    """How often one was sent again."""
    killed: Counter[str] = field(default_factory=Counter)
    restarts: int = 0
    right: int = 0
    """Instances that took each of their events once."""
    lost: list[str] = field(default_factory=list)
    double: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """Instances that there should not be."""

    @property
    def is_right(self) -> bool:
        return not (self.lost or self.double or self.others)


class Soak:
    def __init__(self, folder: Path, size: Size) -> None:
        self.folder, self.size, self.figures = folder, size, Figures()
        self.port, self.broker_port, self.gateway_port = free_ports(3)
        self.each = size.events // size.keys
        self.server = AsyncExitStack()
        self.client: Client
        words = {"worker 1": ["worker"], "worker 2": ["worker"], "consumer": ["consume"]}
        words["gateway"] = ["gateway", "--port", str(self.gateway_port)]
        self.programs = Programs(folder, f"{HOST}:{self.port}", words)
        self.is_over = False

    async def run(self) -> Figures:
        self.programs.define(tally=TALLY.replace("COUNT", str(self.each)).replace("ENDING", "true"))
        (self.folder / "swf.yaml").write_text(_CONFIGURATION.replace("BROKER", f"{HOST}:{self.broker_port}"))
        command = [program("nats-server", "nats-server"), "-a", HOST, "-p", str(self.broker_port), "-js"]
        with ExitStack() as stack:
            store = ["-sd", str(self.folder / "jetstream")]
            stack.enter_context(running([*command, *store], [self.broker_port], self.folder / "broker.log"))
            stack.callback(self.programs.close)
            try:
                await self._serve()
                for name in self.programs.words:
                    self.programs.start(name)
                await self._send_all()
                await self._compare()
            finally:
                await self.server.aclose()
        return self.figures

    async def _serve(self) -> None:
        started = await self.server.enter_async_context(
            local_server(port=self.port, database=self.folder / "temporal.db")
        )
        self.client = started.client

    async def _send_all(self) -> None:
        disturbing = asyncio.create_task(self._disturb())
        try:
            ways = (self._over_http, self._to_broker)
            producers = [ways[n % 2](n) for n in range(self.size.producers)]
            await asyncio.gather(*producers)
            self.is_over = True
            await disturbing
        finally:
            disturbing.cancel()
            await asyncio.wait([disturbing])

    def _events(self, producer: int) -> Iterator[bytes]:
        """Yield what one producer sends, in an order of its own; some of it twice."""
        mine = list(range(producer, self.each * self.size.keys, self.size.producers))
        Random(producer).shuffle(mine)  # noqa: S311 - an order, and no secret
        for number in mine:
            key, place = number % self.size.keys, number // self.size.keys
            event = {
                "specversion": "1.0", "id": str(number), "source": f"soak/{producer}", "type": "number",
                "account": f"a{key}", "data": {"number": place},
            }  # fmt: skip
            yield json.dumps(event).encode()
            if number % _AGAIN == 0:
                self.figures.repeated += 1
                yield json.dumps(event).encode()

    async def _over_http(self, producer: int) -> None:
        url, headers = f"http://{HOST}:{self.gateway_port}/events", {"content-type": "application/cloudevents+json"}
        async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
            for event in self._events(producer):
                while True:
                    with suppress(httpx.HTTPError):
                        answer = await client.post(url, content=event, headers=headers)
                        if answer.is_success:
                            break
                        if answer.is_client_error and answer.status_code != httpx.codes.TOO_MANY_REQUESTS:
                            raise ValueError(f"the gateway refuses an event: {answer.status_code} {answer.text}")
                    self.figures.repeated += 1
                    await asyncio.sleep(_PAUSE)
                self.figures.sent["over HTTP"] += 1

    async def _to_broker(self, producer: int) -> None:
        connection = await nats.connect(f"nats://{HOST}:{self.broker_port}")
        try:
            stream = connection.jetstream()
            await stream.add_stream(name="soak", subjects=["soak"])
            for event in self._events(producer):
                while True:
                    with suppress(NatsError, TimeoutError):
                        await stream.publish("soak", event, headers={"content-type": "application/cloudevents+json"})
                        break
                    self.figures.repeated += 1
                    await asyncio.sleep(_PAUSE)
                self.figures.sent["to the broker"] += 1
        finally:
            await connection.close()

    async def _disturb(self) -> None:
        middle = self.size.kills // 2
        for number, name in enumerate(cycle(("worker 1", "gateway", "consumer", "worker 2"))):
            if number >= self.size.kills:
                return
            await asyncio.sleep(self.size.turn)
            await self.programs.kill(name)
            self.figures.killed[name.partition(" ")[0]] += 1
            if number == middle and self.size.restarts:
                await self.server.aclose()
                await self._serve()
                self.figures.restarts += 1
            self.programs.start(name)

    async def _compare(self) -> None:
        wanted = list(range(self.each))
        all_taken = await self._all_taken()
        for key in range(self.size.keys):
            found = Counter(all_taken.get(key, []))
            self.figures.lost += [f"event {n} of a{key}" for n in wanted if not found[n]]
            self.figures.double += [f"event {n} of a{key}" for n in wanted if found[n] > 1]
            self.figures.right += sorted(found.elements()) == wanted
        listed = [one.id async for one in self.client.list_workflows("WorkflowType = 'tally'")]
        for name, count in Counter(listed).items():
            if count > 1:
                self.figures.others.append(f"{name}: {count} runs")

    async def _all_taken(self) -> dict[int, list[int]]:
        """Return what the instances took, by key; those are missing that did not end as long as others did."""
        found: dict[int, list[int]] = {}
        left, changed = list(range(self.size.keys)), monotonic()
        while left and monotonic() - changed < self.size.patience:
            for key in left:
                taken = await self._numbers(instance_id("tally", {"account": f"a{key}"}))
                if taken is not None:
                    found[key], changed = taken, monotonic()
            left = [key for key in left if key not in found]
            await asyncio.sleep(0.5)
        return found

    async def _numbers(self, instance: str) -> list[int] | None:
        """Return what the instance took; None as long as it has not completed."""
        handle = self.client.get_workflow_handle(instance)
        try:
            if (await handle.describe()).status is not WorkflowExecutionStatus.COMPLETED:
                return None
            output = await result(handle)
        except (RPCError, RunEnded):  # it is not there yet, or the server is not
            return None
        return list(output["numbers"]) if isinstance(output, dict) else None  # type: ignore[arg-type]  # its numbers are a list
