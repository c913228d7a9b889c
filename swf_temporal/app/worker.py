"""A worker: the process that runs instances of definitions and makes their calls."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Self

from temporalio import client as temporal
from temporalio import worker as temporal_worker
from temporalio.service import RPCError

from swf_temporal.app.client import Client
from swf_temporal.app.container_endpoint import container_endpoint
from swf_temporal.app.event_delivery import EventDelivery
from swf_temporal.app.event_router import Router
from swf_temporal.app.health import health_endpoint
from swf_temporal.app.reachability import watched
from swf_temporal.app.settings import WorkerSettings
from swf_temporal.app.variables import variables_of
from swf_temporal.errors import UsageError
from swf_temporal.events.settings import EventSettings
from swf_temporal.events.sinks import Sinks
from swf_temporal.functions.call import causes
from swf_temporal.functions.calling import Functions
from swf_temporal.functions.containers.containers import Containers
from swf_temporal.functions.containers.running_calls import RunningCalls
from swf_temporal.functions.operator.settings import Settings, read_settings
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.loading import load
from swf_temporal.payloads.settings import PayloadSettings
from swf_temporal.performing import Calls
from swf_temporal.temporal.connection_errors import trouble_of
from swf_temporal.temporal.event_options import EventOptions
from swf_temporal.temporal.namespace_variables import NamespaceVariables
from swf_temporal.temporal.variables import VariableStorage
from swf_temporal.temporal.worker import Capacity, make_worker

_log = logging.getLogger("swf")

_REFUSED = ("Worker validation failed", "Workflow worker failed", "Activity worker failed")
"""The beginning of the library's message where the server refuses something that a worker needs."""


class Worker:
    """Runs instances of definitions, and makes their calls, for as long as its context lasts.

        async with Worker("localhost:7233", definitions=["orders.yaml"], functions=registry, task_queue="orders"):
            ...

    Secrets, the configuration of calls and the address for produced events, `SWF_SINK`, come from the environment.
    """

    def __init__(  # noqa: PLR0913 - what may be said of a worker, all of it optional
        self,
        client: Client | str | None = None,
        *,
        namespace: str | None = None,
        definitions: Catalogue | Iterable[Definition | str | os.PathLike[str]] = (),
        functions: Mapping[str, Callable[..., Any]] | None = None,
        task_queue: str | None = None,
        settings: WorkerSettings | None = None,
        call_settings: Settings | None = None,
        payloads: PayloadSettings | None = None,
        events: EventSettings | None = None,
    ) -> None:
        """Make a worker for the server of *client*.

        Instead of a client it may be the address of a server, or None for the one that the environment names; then
        *namespace* may be given as well, and *payloads*, what becomes of payloads on their way.

        *definitions* are definitions or what `load` takes; *functions* are custom functions by name, or a Registry.
        *task_queue* wins over that of *settings*; these, *call_settings* and *events*, which says where produced
        events go, are used instead of those of the environment. Raises InvalidDefinition if a definition cannot run.
        """
        settings = settings or WorkerSettings.read()
        self.settings = settings if task_queue is None else settings.replace(task_queue=task_queue)
        self.catalogue = definitions if isinstance(definitions, Catalogue) else _catalogue_of(definitions)
        self._client = client
        self._namespace = namespace
        self._payloads = payloads
        self._offered = {} if functions is None else functions
        self._call_settings = call_settings
        self._events = events
        self._running: AbstractAsyncContextManager[tuple[temporal_worker.Worker, Functions]] | None = None
        self._worker: temporal_worker.Worker | None = None
        self._functions: Functions | None = None

    async def __aenter__(self) -> Self:
        """Begin to work. Raises UsageError if no server answers, or it does not let this worker work."""
        client = await self.connect()
        self._running = self._serving(client.temporal)
        self._worker, self._functions = await self._running.__aenter__()
        return self

    async def connect(self) -> Client:
        """Return the client of its server, and connect it if it is not yet. Raises UsageError if no server answers."""
        if not isinstance(self._client, Client):
            self._client = await Client.connect(self._client, namespace=self._namespace, payloads=self._payloads)
        return self._client

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        """Stop: calls that are under way may still take as long as the settings allow."""
        assert self._running is not None  # noqa: S101 - for the type checker
        self._worker = None
        return await self._running.__aexit__(kind, error, traceback)

    async def run(self) -> None:
        """Work until cancelled."""
        async with self:
            await asyncio.Event().wait()

    @property
    def client(self) -> Client:
        """The client of its server, once it works."""
        if not isinstance(self._client, Client):
            raise UsageError("the worker is not running yet", "use it in `async with`")
        return self._client

    @property
    def functions(self) -> Functions:
        """What makes the calls, once it works."""
        if self._functions is None:
            raise UsageError("the worker is not running yet", "use it in `async with`")
        return self._functions

    async def is_ready(self) -> bool:
        """Tell whether it works, and its server answers."""
        try:
            is_running = self._worker is not None and self._worker.is_running
            return is_running and await self.client.temporal.service_client.check_health()
        except RPCError:
            return False

    @asynccontextmanager
    async def _serving(self, client: temporal.Client) -> AsyncIterator[tuple[temporal_worker.Worker, Functions]]:
        async with variables_of(client, self.settings) as variables, self._working(client, variables) as both:
            yield both

    @asynccontextmanager
    async def _working(
        self, client: temporal.Client, variables: VariableStorage
    ) -> AsyncIterator[tuple[temporal_worker.Worker, Functions]]:
        settings, running = self.settings, RunningCalls()
        call_settings = self._call_settings or read_settings(os.environ)
        named = NamespaceVariables(variables, self.catalogue)
        functions = Functions(
            self._offered, call_settings, replaced={"direktiv": lambda shared: Containers(shared, named, running)}
        )
        calls = Calls(env=os.environ, functions=functions)
        events = self._events or EventSettings.read()
        sinks = Sinks(events.sinks, call_settings)
        sinks.router = Router(Client(client), self.catalogue, settings.task_queue, max_hops=events.max_hops).deliver
        if weak := calls.secrets.unprotected():
            _log.warning(
                "short or common secrets are hidden in results only where they are the whole value: %s", ", ".join(weak)
            )
        worker = make_worker(
            client,
            self.catalogue,
            calls,
            EventDelivery(sinks),
            task_queue=settings.task_queue,
            only_known=settings.known_definitions_only,
            capacity=Capacity(settings.max_cached_workflows, settings.max_activities, settings.limits),
            graceful_shutdown_timeout=settings.grace_period,
            variables=variables,
            deployment=settings.version,
            event_options=EventOptions(any(sink.ordered for sink in events.sinks), events.lifecycle),
        )
        try:
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(watched(client))
                if settings.container_endpoint is not None:
                    await stack.enter_async_context(container_endpoint(settings.container_endpoint, running, variables))
                if settings.health_port is not None:  # it answers as long as calls finish
                    await stack.enter_async_context(health_endpoint(settings.health_port, self.is_ready))
                await stack.enter_async_context(worker)
                yield worker, calls.functions
        except RuntimeError as error:
            if not str(error).startswith(_REFUSED):
                raise
            raise _refusal(client, error) from None
        finally:
            await calls.aclose()
            await sinks.aclose()


def _catalogue_of(definitions: Iterable[Definition | str | os.PathLike[str]]) -> Catalogue:
    return Catalogue(one if isinstance(one, Definition) else load(one) for one in definitions)


def _refusal(client: temporal.Client, error: BaseException) -> UsageError:
    """Return what it means that a worker cannot work, which the library tells by *error* and its causes."""
    trouble = trouble_of("; ".join(map(str, (error, *causes(error)))))
    host = client.service_client.config.target_host
    text = f"no worker can serve the namespace {client.namespace!r} of the server at {host}"
    return UsageError(f"{text}: {trouble.what}", trouble.hint)
