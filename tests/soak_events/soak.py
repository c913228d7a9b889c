"""One soak of events.

Events come to instances over brokers, each of which has a consumer, and over HTTP to a gateway. To its broker each
instance sends an event when it has all of its own. Producers send an event again until it is answered for, and some
that were answered for as well. Brokers are killed, restarted and stalled, the gateway, the consumers and the worker are
killed, and the Temporal server is restarted on its database. In the end there has to be one instance for each key,
which has taken each of its events once, and its event has to be at the broker.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from time import monotonic

import httpx
import nats
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError

from swf_temporal.base.client_errors import RunEnded
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import CallFailed
from swf_temporal.events.brokers.families import FAMILIES as BROKERS
from swf_temporal.events.brokers.families import Brokers
from swf_temporal.events.channels import channel_of, message_of
from swf_temporal.events.consumers.consumer import Consumer, source_of
from swf_temporal.events.routing import instance_id
from swf_temporal.functions.http.broker import HttpBroker
from swf_temporal.functions.http.client import Http
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import BrokerAddress, ConsumerSettings
from swf_temporal.temporal.client import result
from swf_temporal.temporal.server import local_server
from tests.brokers.servers import HOST, free_ports
from tests.soak_events.brokers import FAMILIES, HTTP, Broker, brokers
from tests.soaking import TALLY, Programs

_WORDS = {family: kind.word for family, kind in BROKERS.items() if kind.word is not None}
_AGAIN = 50
"""One event of so many is sent again after it was answered for."""
_PAUSE = 0.2
"""Seconds before a producer sends again what was not answered for."""


@dataclass(frozen=True, slots=True)
class Size:
    ways: tuple[str, ...] = FAMILIES
    keys: int = 25
    events: int = 10
    """Of each key."""
    faults: int = 16
    turn: float = 3.0
    """Seconds between two faults, and for which a broker is stalled."""
    killed: tuple[str, ...] = ("consume", "worker")
    """What is killed after each fault. What a worker was sending then is tried again when its time is over."""
    restarts: int = 0
    """How often the Temporal server is restarted."""
    patience: float = 120.0
    """Seconds for what is left in the end, counted from the last instance that ended, or event of one that came."""


@dataclass(slots=True)
class Figures:
    events: int = 0
    repeated: int = 0
    """How often one was sent again."""
    faults: Counter[str] = field(default_factory=Counter)
    instances: int = 0
    """Those that ended."""
    others: int = 0
    """Runs of instances that there should not be."""
    doubled: int = 0
    """Events that an instance took twice."""
    lost: int = 0
    """Events that no instance took, of those that were answered for."""
    told: Counter[str] = field(default_factory=Counter)
    """How often the event of each instance came from the broker, which may deliver one again."""
    tells: bool = True
    """Whether instances send events."""

    def is_right(self, size: Size) -> bool:
        found = (self.instances, self.others, self.doubled, self.lost, len(self.told))
        return found == (size.keys, 0, 0, 0, size.keys * self.tells)


class Soak:
    def __init__(self, folder: Path, size: Size) -> None:
        self.folder, self.size = folder, size
        self.figures = {way: Figures(tells=way != HTTP) for way in size.ways}
        self.port, self.gateway_port = free_ports(2)
        self.server = AsyncExitStack()
        self.client: Client
        words = {"worker": ["worker"], "gateway": ["gateway", "--port", str(self.gateway_port)], "consume": ["consume"]}
        if HTTP not in size.ways:
            del words["gateway"]
        if size.ways == (HTTP,):
            del words["consume"]
        self.programs = Programs(folder, f"{HOST}:{self.port}", words)

    async def run(self) -> dict[str, Figures]:
        with ExitStack() as stack:
            running = stack.enter_context(brokers(self.folder, [way for way in self.size.ways if way != HTTP]))
            stack.callback(self.programs.close)
            self._write(running)
            try:
                await self._serve()
                for broker in running:
                    await _prepare(broker)
                listening = [asyncio.create_task(self._listen(broker)) for broker in running]
                for name in self.programs.words:
                    self.programs.start(name)
                await self._until_consumed(len(running))
                senders = {broker.family: _to(broker) for broker in running}
                if HTTP in self.size.ways:
                    senders[HTTP] = self._over_http
                producing = (self._produce(way, send) for way, send in senders.items())
                await asyncio.gather(*producing, self._disturb({one.family: one for one in running}))
                await self._compare()
                for task in listening:
                    task.cancel()
                if listening:
                    await asyncio.wait(listening)
            finally:
                await self.server.aclose()
        return self.figures

    async def _serve(self) -> None:
        started = await self.server.enter_async_context(
            local_server(port=self.port, database=self.folder / "temporal.db")
        )
        self.client = started.client

    def _write(self, running: list[Broker]) -> None:
        telling = "{produceEvents: [{eventRef: Done, data: '${ {numbers} }'}]}"
        definitions, of = {}, ("id: tally", "type: number", "type: done")
        for way in self.size.ways:
            definition = TALLY.replace("COUNT", str(self.size.events))
            for one in of:
                definition = definition.replace(one, f"{one}-{way}")
            definitions[way] = definition.replace("ENDING", "true" if way == HTTP else telling)
        self.programs.define(**definitions)
        events: dict[str, list[dict[str, object]]] = {"consumers": [], "sinks": []}
        for broker in running:
            there: dict[str, object] = {"name": broker.family, _WORDS[broker.family]: "numbers"}
            if broker.family == "amqp":
                there["declare"] = True
            events["consumers"].append({**there, "from": broker.url})
            done = {**there, _WORDS[broker.family]: "done", "types": [f"done-{broker.family}"], "timeout": "PT2S"}
            events["sinks"].append({**done, "to": broker.url, **({"stream": "s"} if broker.family == "nats" else {})})
        (self.folder / "swf.yaml").write_text(json.dumps({"events": events} if running else {}))

    async def _until_consumed(self, number: int) -> None:
        """Wait until each broker has a consumer: MQTT keeps messages for those that it knows."""
        while number and self.programs.log("consume").read_text().count("consuming from") < number:
            await asyncio.sleep(0.1)

    async def _listen(self, broker: Broker) -> None:
        figures = self.figures[broker.family]

        async def take(event: CloudEvent) -> int:
            figures.told[str(event.attributes["swfinstanceid"])] += 1
            return 1

        settings = ConsumerSettings(name="done", **dict(_address(broker, "done")))
        await Consumer(settings, source_of(settings, Settings()), take, Settings()).run()

    def _events(self, way: str) -> Iterator[CloudEvent]:
        """Yield what is sent over one way, in an order of its own; some of it twice."""
        numbers = list(range(self.size.keys * self.size.events))
        Random(way).shuffle(numbers)  # noqa: S311 - an order, and no secret
        for number in numbers:
            place, key = divmod(number, self.size.keys)
            event = CloudEvent(str(number), "soak/1", f"number-{way}", {"number": place}, {"account": f"a{key}"})
            yield event
            self.figures[way].events += 1
            if number % _AGAIN == 0:
                self.figures[way].repeated += 1
                yield event

    async def _produce(self, way: str, send: Callable[[CloudEvent], Awaitable[object]]) -> None:
        pause = 0.5 * self.size.faults * self.size.turn / (self.size.keys * self.size.events)
        for event in self._events(way):
            while True:
                with suppress(CallFailed, httpx.HTTPError):
                    await send(event)
                    break
                self.figures[way].repeated += 1
                await asyncio.sleep(_PAUSE)
            await asyncio.sleep(pause)

    async def _over_http(self, event: CloudEvent) -> None:
        headers = {"content-type": "application/cloudevents+json"}
        async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
            content = json.dumps(event.to_json()).encode()
            answer = await client.post(f"http://{HOST}:{self.gateway_port}/events", content=content, headers=headers)
        if answer.is_client_error and answer.status_code != httpx.codes.TOO_MANY_REQUESTS:
            raise ValueError(f"the gateway refuses an event: {answer.status_code} {answer.text}")
        answer.raise_for_status()

    async def _disturb(self, running: dict[str, Broker]) -> None:
        killed = [one for one in self.size.killed if one in self.programs.words]
        every = max(self.size.faults // (self.size.restarts + 1), 1)
        for number in range(self.size.faults):
            way = self.size.ways[number // 2 % len(self.size.ways)]
            await asyncio.sleep(self.size.turn)
            if way == HTTP:
                await self._kill("gateway")
                self.figures[way].faults["killed"] += 1
            elif number % 2 == 0 and await running[way].restart():
                self.figures[way].faults["restarted"] += 1
            else:
                await running[way].stall(self.size.turn)
                self.figures[way].faults["stalled"] += 1
            await self._kill(killed[number % len(killed)])
            if self.size.restarts and (number + 1) % every == 0 and (number + 1) // every <= self.size.restarts:
                await self.server.aclose()
                await self._serve()

    async def _kill(self, name: str) -> None:
        await self.programs.kill(name)
        self.programs.start(name)

    async def _compare(self) -> None:
        left, changed = [(way, key) for way in self.size.ways for key in range(self.size.keys)], monotonic()
        told = 0
        while monotonic() - changed < self.size.patience:
            before = len(left), told
            left = [one for one in left if not await self._has_ended(*one)]
            told = sum(len(figures.told) for figures in self.figures.values())
            if not left and told == self.size.keys * sum(figures.tells for figures in self.figures.values()):
                break
            if (len(left), told) != before:
                changed = monotonic()
            await asyncio.sleep(_PAUSE)
        for way, _ in left:
            self.figures[way].lost += self.size.events
        for way, figures in self.figures.items():
            listed = [one.id async for one in self.client.list_workflows(f"WorkflowType = 'tally-{way}'")]
            figures.others = len(listed) - len(set(listed))

    async def _has_ended(self, way: str, key: int) -> bool:
        """Tell whether the instance of a key has completed, and count what it took."""
        handle = self.client.get_workflow_handle(instance_id(f"tally-{way}", {"account": f"a{key}"}))
        try:
            if (await handle.describe()).status is not WorkflowExecutionStatus.COMPLETED:
                return False
            output = await result(handle)
        except (RPCError, RunEnded):  # it is not there yet, or the server is not
            return False
        assert isinstance(output, dict)
        numbers = output["numbers"]
        assert isinstance(numbers, list)
        found, figures = Counter(map(str, numbers)), self.figures[way]
        figures.instances += 1
        figures.doubled += sum(count - 1 for count in found.values())
        figures.lost += self.size.events - len(found)
        return True


def _to(broker: Broker) -> Callable[[CloudEvent], Awaitable[object]]:
    """Return what sends an event to a broker."""
    speaking = Brokers(HttpBroker(Http(Settings()))).speaking(broker.family)

    async def send(event: CloudEvent) -> None:
        channel = channel_of(Settings(), _address(broker, "numbers"), f"producer-{event.id}")
        await speaking.send(replace(channel, timeout=10.0), message_of(event, broker.family, "structured"))

    return send


def _address(broker: Broker, name: str) -> BrokerAddress:
    return BrokerAddress(url=broker.url, declare=broker.family == "amqp", **{_WORDS[broker.family]: name})


async def _prepare(broker: Broker) -> None:
    if broker.family == "nats":
        connection = await nats.connect(broker.url)
        await connection.jetstream().add_stream(name="s", subjects=["numbers", "done"])
        await connection.close()
