"""One flood of events for one correlation key, while workers are killed.

A sender sends them one after the other. With an instance, which takes one after the other, it sends each again until
that is accepted; without one, it sends each once, and the instance is started in the end, by an event. The last event
ends the instance, which has to have taken each event that was accepted once, and in order. Meanwhile instances of other
keys are started by events, and ended.
"""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from weakref import WeakValueDictionary

from temporalio.client import Client

from swf_temporal.base.client_errors import InstanceNotFoundError, MailboxFullError
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.events.routing import instance_id, route
from swf_temporal.languages.loading import load
from swf_temporal.temporal.client import result
from swf_temporal.temporal.event_dispatch import dispatch
from tests.processes import ending_with_us

DEFINITION = """\
id: taking
version: '1.0'
specVersion: '0.8'
start: Wait
events:
- {name: Go, type: go, source: flood, correlation: [{contextAttributeName: account}]}
- {name: Item, type: item, source: flood, correlation: [{contextAttributeName: account}]}
states:
- {name: Wait, type: event, onEvents: [{eventRefs: [Go]}], transition: Take}
- name: Take
  type: event
  onEvents: [{eventRefs: [Item], eventDataFilter: {data: '${ {n, last} }', toStateData: .item}}]
  stateDataFilter:
    output: >-
      ${ {
        count: ((.count // 0) + 1),
        sum: ((.sum // 0) + .item.n),
        before: .item.n,
        wrong: ((.wrong // []) + (if .item.n > (.before // -1) then [] else [.item.n] end)),
        last: .item.last
      } }
  transition: Enough
- name: Enough
  type: switch
  dataConditions: [{condition: '${ .last | not }', transition: Take}]
  defaultCondition: {end: true}
"""
LARGE = 500_000
_PAUSE = 0.2
"""Seconds before an event is sent again that was refused, and between two instances of other keys."""


@dataclass(slots=True)
class Figures:
    accepted: int = 0
    refused: int = 0
    """How often an event was refused."""
    kills: int = 0
    taken: JSON = None
    """What the instance counted."""
    wanted: JSON = None
    waits: list[float] = field(default_factory=list)
    """Seconds that the instances of other keys took."""

    @property
    def is_right(self) -> bool:
        """Whether the instance took what was accepted, each event once and in order."""
        return self.taken == self.wanted


@dataclass(frozen=True, slots=True)
class Flood:
    client: Client
    folder: Path
    address: str
    name: str
    """The value of the correlation key."""
    events: int
    size: int
    """The size of each event, save one in the middle, which is large."""
    has_instance: bool
    kills: int
    figures: Figures = field(default_factory=Figures)
    locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def run(self) -> Figures:
        (self.folder / "definitions").mkdir(exist_ok=True)
        (self.folder / "definitions" / "taking.yaml").write_text(DEFINITION)
        async with self._workers():
            await self._other(f"{self.name}-first")  # until a worker has started
            others = asyncio.create_task(self._others())
            if self.has_instance:
                await self._send(self.name, -1)
            accepted = [number for number in range(self.events) if await self._accepted(number)]
            others.cancel()
            with suppress(asyncio.CancelledError):
                await others
            if not self.has_instance:
                await self._send(self.name, -1)
            await self._send(self.name, self.events, is_last=True)
            accepted.append(self.events)
            self.figures.wanted = {
                "count": len(accepted), "sum": sum(accepted), "before": self.events, "wrong": [], "last": True,
            }  # fmt: skip
            self.figures.taken = await self._output(self.name)
        return self.figures

    async def _accepted(self, number: int) -> bool:
        size = LARGE if number == self.events // 2 else self.size
        if self.has_instance:
            await self._send(self.name, number, size)
        elif not await self._is_taken(self._event(self.name, number, size)):
            return False
        self.figures.accepted += 1
        return True

    def _event(self, account: str, number: int, size: int = 0, *, is_last: bool = False) -> CloudEvent:
        data: JSON = {"n": number, "last": is_last, "text": "x" * size}
        return CloudEvent(str(number), "flood", "go" if number < 0 else "item", data, {"account": account})

    async def _send(self, account: str, number: int, size: int = 0, *, is_last: bool = False) -> None:
        while not await self._is_taken(self._event(account, number, size, is_last=is_last)):
            await asyncio.sleep(_PAUSE)

    async def _is_taken(self, event: CloudEvent) -> bool:
        definition = load(DEFINITION)
        try:
            await dispatch(self.client, event, route(event, [definition]), lambda one: [one], "swf", locks=self.locks)
        except MailboxFullError:
            self.figures.refused += 1
            return False
        return True

    async def _others(self) -> None:
        for count in range(sys.maxsize):
            began = monotonic()
            await self._other(f"{self.name}-{count}")
            self.figures.waits.append(monotonic() - began)
            await asyncio.sleep(_PAUSE)

    async def _other(self, account: str) -> None:
        await self._send(account, -1)
        await self._send(account, 0, is_last=True)
        await self._output(account)

    async def _output(self, account: str) -> JSON:
        handle = self.client.get_workflow_handle(instance_id("taking", {"account": account}))
        while True:
            with suppress(InstanceNotFoundError):  # it is not there yet
                return await result(handle)
            await asyncio.sleep(0.02)

    @asynccontextmanager
    async def _workers(self) -> AsyncIterator[None]:
        processes = [self._worker() for _ in range(2)]
        killing = asyncio.create_task(self._kill(processes))
        try:
            yield
        finally:
            killing.cancel()
            with suppress(asyncio.CancelledError):
                await killing
            for process in processes:
                process.terminate()  # a killed one may still be given a task of the next flood
            for process in processes:
                process.wait()

    async def _kill(self, processes: list[subprocess.Popen[bytes]]) -> None:
        """Kill one worker after the other, each time that another part of the events was sent."""
        for number in range(self.kills):
            while self.figures.accepted + self.figures.refused < (number + 1) * self.events // (self.kills + 1):
                await asyncio.sleep(0.05)
            process = processes.pop(0)
            process.kill()
            await asyncio.to_thread(process.wait)
            self.figures.kills += 1
            processes.append(self._worker())

    def _worker(self) -> subprocess.Popen[bytes]:
        command: Sequence[str] = [*ending_with_us(), sys.executable, "-m", "swf_temporal.cli", "worker"]
        with (self.folder / "workers.log").open("ab") as log:
            return subprocess.Popen(
                [*command, str(self.folder / "definitions"), "--address", self.address], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log,
            )  # fmt: skip
