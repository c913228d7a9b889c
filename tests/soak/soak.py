"""One soak: who starts instances, who kills workers, who restarts the server, and what came of it."""

import asyncio
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, suppress
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from random import Random
from time import monotonic

from temporalio.client import Client
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError

from swf_temporal.base.client_errors import RunEnded
from swf_temporal.base.errors import UsageError
from swf_temporal.languages.loading import load
from swf_temporal.temporal import schedules
from swf_temporal.temporal.client import Handle, result
from swf_temporal.temporal.connecting import Server
from swf_temporal.temporal.server import local_server
from tests.cli.conftest import free_port
from tests.proxying import Proxy, proxying
from tests.soak.cases import ANEW, CALLS, DIREKTIV, DSL, RESILIENT, SCHEDULED, WholeCase
from tests.soak.service import Service
from tests.upgrades.cases import Case
from tests.upgrades.chains import executions
from tests.upgrades.releases import ROOT, start_worker

HEARTBEAT = "5"
"""Seconds after which a call is missed that was lost with its worker."""
_AT_ONCE = ("--dynamic-config-value", 'history.workflowIdReuseMinimalInterval="0s"')
_SCHEDULED_OUTPUT = {"sum": 2}
_UNFINISHED = 'ExecutionStatus = "Running" AND WorkflowType != "swf variables"'
_ENDED = f'WorkflowType = "{SCHEDULED["id"]}"'


@dataclass(frozen=True, slots=True)
class Size:
    instances: int = 1000
    at_once: int = 40
    """How many instances are under way."""
    kills: int = 40
    """How many workers are killed at least."""
    restarts: int = 3
    """How often the server is restarted."""
    turn: float = 5.0
    """Seconds between two kills."""
    patience: float = 300.0
    """Seconds that an instance may take once nothing is killed any more."""
    local_calls: bool = False
    """Whether calls are local that can be."""
    workers: int = 4
    """How many workers there are."""
    harms: int = 0
    """How often the network is harmed between workers and the server, and between them and the service."""


@dataclass
class Figures:
    instances: Counter[str] = field(default_factory=Counter)
    """How many ended right, by what they ran."""
    scheduled: int = 0
    executions: int = 0
    workers: int = 0
    killed: int = 0
    restarts: int = 0
    harms: int = 0
    both: int = 0
    """How many instances had workflow tasks carried out by both releases."""
    lost: list[str] = field(default_factory=list)
    """Instances that the server does not know, or calls that never reached the service."""
    stuck: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        return not (self.lost or self.stuck or self.wrong)


class Workers:
    """Workers of several releases on one task queue, of which the oldest is killed again and again."""

    def __init__(
        self, queue: str, releases: list[tuple[str, Path]], address: str, service: str, *, local_calls: bool
    ) -> None:
        self.queue, self.address, self.service, self.local_calls = queue, address, service, local_calls
        self.releases = cycle(releases)
        self.release_of: dict[int, str] = {}
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        name, code = next(self.releases)
        worker = start_worker(
            code, self.address, self.queue, HEARTBEAT, service=self.service, local_calls=self.local_calls
        )
        self.release_of[worker.pid] = name
        self.running.append(worker)

    async def kill(self) -> None:
        oldest = self.running.pop(0)
        oldest.kill()
        await asyncio.to_thread(oldest.communicate)

    def close(self) -> None:
        for worker in self.running:
            worker.kill()
            worker.communicate()
        self.running.clear()


class Soak:
    def __init__(self, folder: Path, size: Size, before: Path | None, service: Service) -> None:
        self.size, self.service = size, service
        self.database = folder / "temporal.db"
        self.port = free_port()
        address, url = f"127.0.0.1:{self.port}", service.url
        self.chance = Random(size.instances)  # noqa: S311 - no secret
        self.networks = ExitStack()
        self.proxies: tuple[Proxy, ...] = ()
        if size.harms:
            ports = (self.port, int(url.rpartition(":")[2]))
            self.proxies = tuple(self.networks.enter_context(proxying(port)) for port in ports)
            address, url = self.proxies[0].address, f"http://{self.proxies[1].address}"
        knows_all = before is None or (before / "swf_temporal/languages/dsl").exists()
        self.cases: tuple[Case | WholeCase, ...] = (*RESILIENT, *DIREKTIV, *(DSL if knows_all else ()))
        both = [("this", ROOT)] if before is None else [("before", before), ("this", ROOT)]
        self.workers = Workers("soak", both, address, url, local_calls=size.local_calls)
        self.figures = Figures()
        self.server = AsyncExitStack()
        self.client: Client
        self.is_over = False

    async def run(self) -> Figures:
        try:
            await self._serve()
            for _ in range(self.size.workers):
                self.workers.start()
                self.figures.workers += 1
            await schedules.apply(self.client, load(SCHEDULED), data={}, task_queue=self.workers.queue)
            disturbing = asyncio.gather(self._disturb(), self._harm())
            try:
                numbers = count(1)
                await asyncio.gather(*(self._instances(numbers) for _ in range(self.size.at_once)))
                self.is_over = True
                await disturbing
            finally:
                disturbing.cancel()
                await asyncio.wait([disturbing])
            await self._settle()
        finally:
            self.workers.close()
            await self.server.aclose()
            self.networks.close()
        return self.figures

    async def _serve(self) -> None:
        server: Server = await self.server.enter_async_context(
            local_server(port=self.port, database=self.database, extra=_AT_ONCE)
        )
        self.client = server.client

    async def _disturb(self) -> None:
        every = max(self.size.kills // (self.size.restarts + 1), 1)
        while True:
            if self.is_over and self.figures.killed >= self.size.kills:
                return
            await asyncio.sleep(self.size.turn)
            if self.figures.killed >= self.size.kills:
                continue
            self.workers.start()
            await self.workers.kill()
            self.figures.workers += 1
            self.figures.killed += 1
            if self.figures.killed % every == 0 and self.figures.restarts < self.size.restarts:
                await self.server.aclose()
                await self._serve()
                self.figures.restarts += 1

    async def _harm(self) -> None:
        for _ in range(self.size.harms):
            server, service = self.proxies
            server.harm(self.chance)
            service.harm(self.chance, "delay", "slow")  # what is never made again has to reach it
            await asyncio.sleep(self.size.turn * self.chance.random())
            server.heal()
            service.heal()
            self.figures.harms += 1
            await asyncio.sleep(self.size.turn * self.chance.random())

    async def _instances(self, numbers: Iterator[int]) -> None:
        for number in numbers:
            if number > self.size.instances:
                return
            await self._instance(self.cases[number % len(self.cases)], number)

    async def _instance(self, case: Case | WholeCase, number: int) -> None:
        handle = await self._started(case, f"{case.id.strip('/')}-{number}")
        try:
            output = await self._output(handle)
        except RunEnded as failed:
            self.figures.wrong.append(f"{handle.id}: {failed!r}")
            return
        except TimeoutError:
            self.figures.stuck.append(handle.id)
            return
        if output != case.output:
            self.figures.wrong.append(f"{handle.id}: {output!r}, not {case.output!r}")
            return
        self.figures.instances[case.id] += 1
        await self._note_releases(handle)

    async def _started(self, case: Case | WholeCase, workflow_id: str) -> Handle:
        while True:
            try:
                return await case.start(self.client, workflow_id, self.workers.queue)
            except WorkflowAlreadyStartedError:
                handle: Handle = self.client.get_workflow_handle(workflow_id)
                with suppress(RPCError):
                    await case.send(handle)  # an event that it has is not taken twice
                    return handle
            except RPCError:
                pass
            await asyncio.sleep(0.5)

    async def _output(self, handle: Handle) -> object:
        """Return the output of an instance. The server may be away; time counts once nothing is killed any more."""
        left: float | None = None
        while True:
            end = left
            try:
                return await asyncio.wait_for(result(self.client.get_workflow_handle(handle.id)), 20)
            except UsageError as error:
                if "there is no instance" in error.message:
                    self.figures.lost.append(handle.id)
                await asyncio.sleep(0.5)
            except TimeoutError:
                if self._is_quiet and left is None:
                    left = monotonic() + self.size.patience
                elif end is not None and monotonic() > end:
                    raise

    @property
    def _is_quiet(self) -> bool:
        done, size = self.figures, self.size
        return done.killed >= size.kills and done.restarts >= size.restarts and done.harms >= size.harms

    async def _note_releases(self, handle: Handle) -> None:
        served = set()
        for _ in range(20):
            with suppress(RPCError):
                described = await self.client.get_workflow_handle(handle.id).describe()
                first = described.raw_description.workflow_execution_info.first_run_id
                async for execution in executions(self.client, handle.id, first):
                    self.figures.executions += 1
                    served |= {self.workers.release_of.get(int(one.partition("@")[0])) for one in execution.identities}
                break
            await asyncio.sleep(0.5)
        self.figures.both += {"before", "this"} <= served

    async def _settle(self) -> None:
        await schedules.delete(self.client, SCHEDULED["id"])
        end = monotonic() + self.size.patience
        while (await self.client.count_workflows(_UNFINISHED)).count and monotonic() < end:
            await asyncio.sleep(0.5)
        self.figures.stuck += [one.id async for one in self.client.list_workflows(_UNFINISHED)]
        async for one in self.client.list_workflows(_ENDED):
            with suppress(RunEnded):
                output = await result(self.client.get_workflow_handle(one.id, run_id=one.run_id))
                self.figures.scheduled += output == _SCHEDULED_OUTPUT
                if output == _SCHEDULED_OUTPUT:
                    continue
            self.figures.wrong.append(f"{one.id} is not right")
        self._compare_calls()

    def _compare_calls(self) -> None:
        self.figures.wrong += self.service.wrong
        for instance, found in self.service.keys_of.items():
            case, keys = re.sub(r"-\d+$", "", instance), found
            if case in ANEW:
                keys = {"/".join(key.partition("#")[0].split("/")[2:]) for key in found}
            due = CALLS.get(case, CALLS.get(f"/{case}", 1))
            if len(keys) != due:
                kind = self.figures.lost if len(keys) < due else self.figures.wrong
                kind.append(f"{instance}: {len(keys)} keys of {due} calls: {sorted(keys)}")
        served = {re.sub(r"-\d+$", "", instance) for instance in self.service.keys_of}
        self.figures.lost += [f"no call of {case}" for case in self.figures.instances if case.strip("/") not in served]
