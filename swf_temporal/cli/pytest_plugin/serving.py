"""Workers for tests, on servers that the session starts on first use."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

from temporalio.client import Client as TemporalClient
from temporalio.testing import WorkflowEnvironment

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import MissingExtra
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client, Instance
from swf_temporal.sdk.worker import Worker
from swf_temporal.temporal.converter import converter_of
from swf_temporal.temporal.server import QUICK, find_program, local_server

_SKIPPING = ("--dynamic-config-value", "frontend.WorkflowTimeSkippingEnabled=true")


@dataclass(frozen=True, slots=True)
class ServedDefinitions:
    """Definitions that a worker serves, on a separate task queue."""

    client: Client
    worker: Worker
    task_queue: str

    async def start(self, definition: Definition | str, data: object = None, **options: Any) -> Instance:
        """Start an instance there; *options* are those of `Client.start`."""
        return await self.client.start(definition, data, task_queue=self.task_queue, **options)

    async def run(self, definition: Definition | str, data: object = None, **options: Any) -> JSON:
        """Return the output of a new instance. Raises RunEnded if it did not complete."""
        return await (await self.start(definition, data, **options)).result()


class WorkerFactory:
    """Creates workers for tests. The servers run on a separate event loop, so that each test may have its own."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._servers = AsyncExitStack()
        self._clients: dict[bool, TemporalClient] = {}

    @asynccontextmanager
    async def __call__(
        self,
        definitions: Iterable[Any] = (),
        *,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        skips_time: bool = False,
        **options: Any,
    ) -> AsyncIterator[ServedDefinitions]:
        """Serve *definitions* and *functions* within the context; *options* are those of `Worker`.

        If it *skips_time*, each instance has its own clock, which jumps to the next timer when there is nothing else to
        do.
        """
        client = Client(await asyncio.to_thread(self._client, skips_time=skips_time))
        queue = f"pytest-{next(self._numbers)}"
        async with Worker(client, definitions=definitions, functions=functions, task_queue=queue, **options) as worker:
            yield ServedDefinitions(client, worker, queue)

    def close(self) -> None:
        """Stop the servers."""
        if self._loop is not None:
            self._do(self._servers.aclose())
            self._loop.call_soon_threadsafe(self._loop.stop)

    def _client(self, *, skips_time: bool) -> TemporalClient:
        if skips_time not in self._clients:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="test servers", daemon=True).start()
            server = _time_skipping() if skips_time else _local()
            self._clients[skips_time] = self._do(self._servers.enter_async_context(server))
        return self._clients[skips_time]

    def _do(self, work: Any) -> Any:
        assert self._loop is not None  # noqa: S101 - for the type checker
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


@asynccontextmanager
async def _local() -> AsyncIterator[TemporalClient]:
    async with local_server() as server:
        yield server.client


@asynccontextmanager
async def _time_skipping() -> AsyncIterator[TemporalClient]:
    program = find_program()
    if program is None:
        raise MissingExtra("local", "a separate server", otherwise="install `temporal`")
    async with await WorkflowEnvironment.start_time_skipping_v2(
        dev_server_existing_path=program,
        dev_server_extra_args=[*QUICK, *_SKIPPING],
        data_converter=converter_of(None),
    ) as environment:
        yield environment.client
