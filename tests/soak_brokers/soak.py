"""One soak of brokers.

Each broker has a consumer, whose events come to instances, and a sink, to which each instance sends an event when it
has all of its own. Producers send an event again until the broker has confirmed it. Brokers are killed, restarted and
stalled, and the consumers and the worker are killed. In the end there has to be one instance for each key, which has
taken each of its events once, and its event has to be at the broker.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from time import monotonic

import nats
from temporalio.client import Client

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import CallFailed
from swf_temporal.events.brokers.protocols import Brokers
from swf_temporal.events.channels import channel_of
from swf_temporal.events.consumers.consumer import Consumer, source_of
from swf_temporal.events.messages import message_of
from swf_temporal.functions.http.broker import HttpBroker
from swf_temporal.functions.http.client import Http
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import BrokerAddress, ConsumerSettings
from swf_temporal.temporal.server import local_server
from tests.brokers.servers import HOST, free_ports
from tests.soak_brokers.brokers import FAMILIES, Broker, brokers
from tests.soaking import TALLY, Programs

_WORDS = {"amqp": "queue", "kafka": "topic", "mqtt": "topic", "nats": "subject"}


@dataclass(frozen=True, slots=True)
class Size:
    families: tuple[str, ...] = FAMILIES
    keys: int = 25
    events: int = 10
    """Of each key."""
    faults: int = 16
    turn: float = 3.0
    """Seconds between two faults, and for which a broker is stalled."""
    killed: tuple[str, ...] = ("consume", "worker")
    """What is killed after each fault. What a worker was sending then is tried again when its time is over."""
    patience: float = 120.0
    """Seconds for what is left in the end, counted from the last event of an instance that came."""


@dataclass(slots=True)
class Figures:
    events: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    instances: int = 0
    """Those that ended."""
    doubled: int = 0
    """Events that an instance took twice."""
    lost: int = 0
    """Events that no instance took, of those that were confirmed."""
    told: Counter[str] = field(default_factory=Counter)
    """How often the event of each instance came from the broker, which may deliver one again."""

    def is_right(self, size: Size) -> bool:
        return (self.instances, self.doubled, self.lost, len(self.told)) == (size.keys, 0, 0, size.keys)


class Soak:
    def __init__(self, folder: Path, size: Size) -> None:
        self.folder, self.size = folder, size
        self.figures = {family: Figures() for family in size.families}
        self.taken: dict[str, list[int]] = {}
        [self.port] = free_ports(1)
        self.client: Client
        words = {name: [name] for name in ("worker", "consume")}
        self.programs = Programs(folder, f"{HOST}:{self.port}", words)

    async def run(self) -> dict[str, Figures]:
        with ExitStack() as stack:
            running = stack.enter_context(brokers(self.folder, self.size.families))
            stack.callback(self.programs.close)
            self._write(running)
            async with AsyncExitStack() as server:
                started = await server.enter_async_context(local_server(port=self.port))
                self.client = started.client
                for broker in running:
                    await _prepare(broker)
                listening = [asyncio.create_task(self._listen(broker)) for broker in running]
                for name in self.programs.words:
                    self.programs.start(name)
                await self._until_consumed(len(running))
                disturbing = asyncio.create_task(self._disturb(running))
                await asyncio.gather(*(self._produce(broker) for broker in running), disturbing)
                await self._until_told()
                for task in listening:
                    task.cancel()
                await asyncio.wait(listening)
        for figures in self.figures.values():
            self._compare(figures)
        return self.figures

    def _write(self, running: list[Broker]) -> None:
        ending = "{produceEvents: [{eventRef: Done, data: '${ {numbers} }'}]}"
        tally = TALLY.replace("COUNT", str(self.size.events)).replace("ENDING", ending)
        of = {"id: tally": "id: tally-%s", "type: number": "type: number-%s", "type: done": "type: done-%s"}
        definitions = {}
        for broker in running:
            definitions[broker.family] = tally
            for one, other in of.items():
                definitions[broker.family] = definitions[broker.family].replace(one, other % broker.family)
        self.programs.define(**definitions)
        events: dict[str, list[dict[str, object]]] = {"consumers": [], "sinks": []}
        for broker in running:
            there: dict[str, object] = {"name": broker.family, _WORDS[broker.family]: "numbers"}
            if broker.family == "amqp":
                there["declare"] = True
            events["consumers"].append({**there, "from": broker.url})
            done = {**there, _WORDS[broker.family]: "done", "types": [f"done-{broker.family}"], "timeout": "PT2S"}
            events["sinks"].append({**done, "to": broker.url, **({"stream": "s"} if broker.family == "nats" else {})})
        (self.folder / "swf.yaml").write_text(json.dumps({"events": events}))

    async def _until_consumed(self, number: int) -> None:
        """Wait until each broker has a consumer: MQTT keeps messages for those that it knows."""
        while self.programs.log("consume").read_text().count("consuming from") < number:
            await asyncio.sleep(0.1)

    async def _listen(self, broker: Broker) -> None:
        figures = self.figures[broker.family]

        async def take(event: CloudEvent) -> int:
            figures.told[str(event.attributes["swfinstanceid"])] += 1
            assert isinstance(event.data, dict)
            self.taken[str(event.attributes["swfinstanceid"])] = event.data["numbers"]  # type: ignore[assignment]  # its numbers are a list
            return 1

        settings = ConsumerSettings(name="done", **dict(_address(broker, "done")))
        await Consumer(settings, source_of(settings, Settings()), take, Settings()).run()

    def _events(self, family: str) -> Iterator[CloudEvent]:
        numbers = list(range(self.size.keys * self.size.events))
        Random(family).shuffle(numbers)  # noqa: S311 - an order, and no secret
        for number in numbers:
            place, key = divmod(number, self.size.keys)
            yield CloudEvent(str(number), "soak/1", f"number-{family}", {"number": place}, {"account": f"a{key}"})

    async def _produce(self, broker: Broker) -> None:
        speaking = Brokers(HttpBroker(Http(Settings()))).speaking(broker.family)
        pause = 0.5 * self.size.faults * self.size.turn / (self.size.keys * self.size.events)
        for event in self._events(broker.family):
            channel = channel_of(Settings(), _address(broker, "numbers"), f"producer-{event.id}")
            message = message_of(event, broker.family, "structured")
            while True:
                with suppress(CallFailed):
                    await speaking.send(replace(channel, timeout=10.0), message)
                    break
                await asyncio.sleep(0.2)
            self.figures[broker.family].events += 1
            await asyncio.sleep(pause)

    async def _disturb(self, running: list[Broker]) -> None:
        for number in range(self.size.faults):
            broker = running[number // 2 % len(running)]
            await asyncio.sleep(self.size.turn)
            if number % 2 == 0 and await broker.restart():
                self.figures[broker.family].faults["restarted"] += 1
            else:
                await broker.stall(self.size.turn)
                self.figures[broker.family].faults["stalled"] += 1
            name = self.size.killed[number % len(self.size.killed)]
            await self.programs.kill(name)
            self.programs.start(name)

    async def _until_told(self) -> None:
        wanted, count, changed = len(self.figures) * self.size.keys, 0, monotonic()
        while len(self.taken) < wanted and monotonic() - changed < self.size.patience:
            if len(self.taken) > count:
                count, changed = len(self.taken), monotonic()
            await asyncio.sleep(0.2)

    def _compare(self, figures: Figures) -> None:
        figures.instances = len(figures.told)
        for instance in figures.told:
            found = Counter(self.taken[instance])
            figures.doubled += sum(count - 1 for count in found.values())
            figures.lost += self.size.events - len(found)
        figures.lost += max(0, self.size.keys - figures.instances) * self.size.events


def _address(broker: Broker, name: str) -> BrokerAddress:
    return BrokerAddress(url=broker.url, declare=broker.family == "amqp", **{_WORDS[broker.family]: name})


async def _prepare(broker: Broker) -> None:
    if broker.family == "nats":
        connection = await nats.connect(broker.url)
        await connection.jetstream().add_stream(name="s", subjects=["numbers", "done"])
        await connection.close()
