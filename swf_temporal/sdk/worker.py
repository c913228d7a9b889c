"""A worker: the process that runs instances of definitions and makes their calls."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from temporalio import activity, workflow
from temporalio import client as temporal
from temporalio import worker as temporal_worker

from swf_temporal import outside_of_sandbox
from swf_temporal.base.arguments import check_each, check_kind, check_text, kind_of
from swf_temporal.base.errors import UsageError
from swf_temporal.operations.client import Client
from swf_temporal.sdk.plugin import Plugin
from swf_temporal.temporal.connection_errors import trouble_of
from swf_temporal.temporal.server_timeout import answers

if TYPE_CHECKING:
    from swf_temporal.functions.calling import Functions
    from swf_temporal.functions.secret_providers import SecretProvider
    from swf_temporal.languages.catalogue import Catalogue
    from swf_temporal.sdk.served import Definitions, Given
    from swf_temporal.settings.calls import Settings
    from swf_temporal.settings.events import EventSettings
    from swf_temporal.settings.payloads import PayloadSettings
    from swf_temporal.settings.worker import WorkerSettings

_REFUSED = ("Worker validation failed", "Workflow worker failed", "Activity worker failed")
"""The beginning of the library's message where the server refuses something that a worker needs."""

_TWICE = "Registration of multiple workers"
"""In its message where a client has two workers of one task queue."""


class Worker:
    """Runs instances of definitions, and makes their calls, for as long as its context lasts.

        async with Worker("localhost:7233", definitions=["orders.yaml"], functions=registry, task_queue="orders"):
            ...

    It is a worker of Temporal's SDK with a Plugin. Secrets, the configuration of calls and the address for produced
    events, `SWF_SINK`, come from the environment.
    """

    @outside_of_sandbox()
    def __init__(  # noqa: PLR0913 - what may be said of a worker, all of it optional
        self,
        client: Client | str | None = None,
        *,
        namespace: str | None = None,
        definitions: "Given" = (),
        functions: Mapping[str, Callable[..., Any]] | None = None,
        task_queue: str | None = None,
        settings: "WorkerSettings | None" = None,
        call_settings: "Settings | None" = None,
        payloads: "PayloadSettings | None" = None,
        events: "EventSettings | None" = None,
        secrets: "SecretProvider | None" = None,
        workflows: Sequence[type] = (),
        activities: Sequence[Callable[..., Any]] = (),
        interceptors: Sequence[temporal_worker.Interceptor] = (),
    ) -> None:
        """Make a worker for the server of *client*.

        Instead of a client it may be the address of a server, or None for the one that the environment names; then
        *namespace* may be given as well, and *payloads*, what becomes of payloads on their way.

        *definitions* are definitions or what `load` takes; *functions* are custom functions by name, or a Registry.
        *task_queue* wins over that of *settings*; these, *call_settings* and *events*, which says where produced
        events go, are used instead of those of the environment. *secrets* looks up what `$SECRETS` holds, before the
        environment does. *workflows*, *activities* and *interceptors* of your
        own are those that the SDK's Worker takes. Raises InvalidDefinition if a definition cannot run, and UsageError
        for an argument of another kind.
        """
        if client is not None and not isinstance(client, Client | str):
            what = f"a worker has a swf_temporal.Client or an address, and this is {kind_of(client)}"
            raise UsageError(what, "write Worker(Client(…)) around a client of Temporal's SDK")
        check_text("task_queue", task_queue)
        check_text("namespace", namespace)
        check_each("workflows", workflows, "a class that `workflow.defn` decorates", _is_workflow)
        check_each("activities", activities, "a function that `activity.defn` decorates", _is_activity)
        check_each("interceptors", interceptors, "an Interceptor of the SDK's worker", _is_interceptor)
        from swf_temporal.settings.worker import WorkerSettings  # noqa: PLC0415 - to work, and not to be imported

        check_kind("settings", settings, WorkerSettings)
        settings = settings or WorkerSettings.read()
        self.settings = settings if task_queue is None else settings.replace(task_queue=task_queue)
        self.plugin = Plugin(
            definitions=definitions,
            functions=functions,
            settings=self.settings,
            call_settings=call_settings,
            payloads=payloads,
            events=events,
            secrets=secrets,
        )
        self._client = client
        self._namespace = namespace
        self._payloads = payloads
        self._own = {"workflows": workflows, "activities": activities, "interceptors": interceptors}
        self._running: AbstractAsyncContextManager[None] | None = None
        self._worker: temporal_worker.Worker | None = None
        self._functions: Functions | None = None

    async def __aenter__(self) -> Self:
        """Begin to work. Raises UsageError if no server answers, or it does not let this worker work."""
        if self._running is not None:
            raise UsageError("this worker works already", "make another one to have two, each on a task queue")
        client = await self.connect()
        self._running = self._serving(client.temporal)
        try:
            await self._running.__aenter__()
        except BaseException:
            self._running = None
            raise
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
        running, self._running, self._worker = self._running, None, None
        return await running.__aexit__(kind, error, traceback)

    async def run(self) -> None:
        """Work until cancelled."""
        async with self:
            await asyncio.Event().wait()

    @property
    def definitions(self) -> "Definitions":
        """The definitions that it serves, which may change while it works."""
        return self.plugin.definitions

    @property
    def catalogue(self) -> "Catalogue":
        """The same as a catalogue."""
        return self.definitions.catalogue

    @property
    def client(self) -> Client:
        """The client of its server, once it works."""
        if not isinstance(self._client, Client):
            raise UsageError("the worker is not running yet", "use it in `async with`")
        return self._client

    @property
    def functions(self) -> "Functions":
        """What makes the calls, once it works."""
        if self._functions is None:
            raise UsageError("the worker is not running yet", "use it in `async with`")
        return self._functions

    async def is_ready(self) -> bool:
        """Tell whether it works, and its server answers."""
        is_running = self._worker is not None and self._worker.is_running
        return is_running and await answers(self.client.temporal)

    @asynccontextmanager
    async def _serving(self, client: temporal.Client) -> AsyncIterator[None]:
        from swf_temporal.sdk.health import health_endpoint  # noqa: PLC0415 - as in the constructor
        from swf_temporal.sdk.metrics import gauged  # noqa: PLC0415 - as above
        from swf_temporal.sdk.reachability import watched  # noqa: PLC0415 - as above
        from swf_temporal.sdk.tuning import tuning_of  # noqa: PLC0415 - as above

        settings, worker = self.settings, None
        try:
            worker = _FailingWorker(
                client,
                task_queue=settings.task_queue,
                plugins=[] if self.plugin in client.config()["plugins"] else [self.plugin],
                **tuning_of(settings),
                graceful_shutdown_timeout=settings.grace_period,
                **self._own,  # type: ignore[arg-type]  # each of its kind
            )
            async with AsyncExitStack() as stack:
                self._functions = await stack.enter_async_context(self.plugin.opened(worker))
                await stack.enter_async_context(watched(client))
                await stack.enter_async_context(gauged(client))
                if settings.health_port is not None:  # it answers as long as calls finish
                    await stack.enter_async_context(health_endpoint(settings.health_port, self.is_ready))
                self._worker = await stack.enter_async_context(worker)
                yield
        except asyncio.CancelledError:
            # The library cancels who uses a worker that fails, even while that one leaves it because of an error.
            task = asyncio.current_task()
            if worker is None or worker.failure is None or task is None:
                raise
            task.uncancel()
            raise _refusal(client, worker.failure) from None
        except (RuntimeError, ValueError) as error:
            if _TWICE in str(error):
                message = f"this process has a worker of the task queue {settings.task_queue!r} on this client already"
                raise UsageError(message, "give one worker all definitions, or each its task queue") from None
            if not str(error).startswith(_REFUSED):
                raise
            raise _refusal(client, error) from None


class _FailingWorker(temporal_worker.Worker):
    """A worker of the SDK that remembers why it failed."""

    failure: Exception | None = None

    async def run(self) -> None:
        try:
            await super().run()
        except Exception as error:
            self.failure = error
            raise


def _is_workflow(one: object) -> bool:
    return isinstance(one, type) and workflow._Definition.from_class(one) is not None  # noqa: SLF001 - what its decorator leaves


def _is_activity(one: object) -> bool:
    return callable(one) and activity._Definition.from_callable(one) is not None  # noqa: SLF001 - as above


def _is_interceptor(one: object) -> bool:
    return isinstance(one, temporal_worker.Interceptor)


def _refusal(client: temporal.Client, error: BaseException) -> UsageError:
    """Return what it means that a worker cannot work, which the library tells by *error* and its causes."""
    from swf_temporal.base.errors import causes  # noqa: PLC0415 - as above

    trouble = trouble_of("; ".join(map(str, (error, *causes(error)))))
    host = client.service_client.config.target_host
    text = f"no worker can serve the namespace {client.namespace!r} of the server at {host}"
    return UsageError(f"{text}: {trouble.what}", trouble.hint)
