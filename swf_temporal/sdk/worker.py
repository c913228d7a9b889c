"""A worker: the process that runs instances of definitions and makes their calls.

A plugin may be used by a client, several workers and replayers at once. The resources of a worker, such as connections
and the store of variables, are opened when it begins, and closed with it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NotRequired, Self, TypedDict

from temporalio import activity, converter, worker, workflow
from temporalio import client as temporal
from temporalio import worker as temporal_worker
from temporalio.client import WorkflowHistory
from temporalio.service import ConnectConfig, ServiceClient
from temporalio.worker import (
    PollerBehavior,
    PollerBehaviorAutoscaling,
    PollerBehaviorSimpleMaximum,
    Replayer,
    ReplayerConfig,
    ResourceBasedSlotConfig,
    ResourceBasedSlotSupplier,
    ResourceBasedTunerConfig,
    WorkerConfig,
    WorkerTuner,
    WorkflowReplayResult,
)

from swf_temporal import outside_of_sandbox
from swf_temporal.base.arguments import check_each, check_functions, check_kind, check_text, kind_of
from swf_temporal.base.errors import UsageError
from swf_temporal.operations.client import Client, payloads_of_environment
from swf_temporal.temporal.client_errors import trouble_of
from swf_temporal.temporal.server_timeout import answers

if TYPE_CHECKING:
    from swf_temporal.functions.calling import Functions
    from swf_temporal.functions.secrets import SecretProvider
    from swf_temporal.languages.catalogue import Catalogue
    from swf_temporal.sdk.definitions import Definitions, Given
    from swf_temporal.settings.calls import CallSettings
    from swf_temporal.settings.events import EventSettings
    from swf_temporal.settings.forms import Rate
    from swf_temporal.settings.payloads import PayloadSettings
    from swf_temporal.settings.worker import WorkerSettings


class Plugin(temporal.Plugin, worker.Plugin):
    """Serves definitions on workers, beside workflows and activities written by hand.

        plugin = Plugin(definitions=["orders.yaml"], functions=registry)
        client = await temporalio.client.Client.connect("localhost:7233", plugins=[plugin])
        async with temporalio.worker.Worker(client, task_queue="orders", workflows=[Mine], activities=[mine]):
            ...

    A client with the plugin passes it to all of its workers. Secrets, the configuration of calls and the address for
    produced events, `SWF_SINK`, are taken from the environment.
    """

    @outside_of_sandbox()
    def __init__(
        self,
        *,
        definitions: "Given" = (),
        functions: Mapping[str, Callable[..., Any]] | None = None,
        settings: "WorkerSettings | None" = None,
        call_settings: "CallSettings | None" = None,
        payloads: "PayloadSettings | None" = None,
        events: "EventSettings | None" = None,
        secrets: "SecretProvider | None" = None,
    ) -> None:
        """Serve *definitions*, which are definitions or what `load` takes.

        *functions* are custom functions by name, or a Registry. *settings*, *call_settings*, *events* (the destinations
        of produced events) and *payloads* (how payloads are encoded and stored) replace those of the environment;
        *secrets* looks up what `$SECRETS` holds, before the environment does. Arguments of the SDK Worker, such as the
        task queue and the number of concurrent activities, are passed to that, and not taken from *settings*; nor are
        logs and health.
        Raises InvalidDefinition if a definition cannot run, and UsageError for an argument of another type.
        """
        # These are needed by workers, not on import.
        from swf_temporal.functions.secrets import SecretProvider  # noqa: PLC0415 - as above
        from swf_temporal.sdk.definitions import Definitions  # noqa: PLC0415 - as above
        from swf_temporal.sdk.working import Work  # noqa: PLC0415 - as above
        from swf_temporal.settings.calls import CallSettings  # noqa: PLC0415 - as above
        from swf_temporal.settings.events import EventSettings  # noqa: PLC0415 - as above
        from swf_temporal.settings.payloads import PayloadSettings  # noqa: PLC0415 - as above
        from swf_temporal.settings.worker import WorkerSettings  # noqa: PLC0415 - as above

        check_functions(functions)
        check_kind("settings", settings, WorkerSettings)
        check_kind("call_settings", call_settings, CallSettings)
        check_kind("payloads", payloads, PayloadSettings)
        check_kind("events", events, EventSettings)
        check_kind("secrets", secrets, SecretProvider)
        self.settings = settings or WorkerSettings.read()
        self.definitions = Definitions(definitions)
        self._payloads = payloads
        self._work = Work(
            self.definitions, {} if functions is None else functions, self.settings, call_settings, events, secrets
        )

    def name(self) -> str:
        """Return the plugin's name, as the server lists it."""
        return "swf_temporal.Plugin"

    def configure_client(self, config: temporal.ClientConfig) -> temporal.ClientConfig:
        """Set the data converter that definitions need; a codec of the client's own stays."""
        self._convert(config)
        return config

    async def connect_service_client(
        self,
        config: ConnectConfig,
        next: Callable[[ConnectConfig], Awaitable[ServiceClient]],  # noqa: A002 - the SDK's name
    ) -> ServiceClient:
        """Connect as usual."""
        return await next(config)

    def configure_worker(self, config: WorkerConfig) -> WorkerConfig:
        """Add what runs definitions. Raises UsageError if names of definitions conflict with those of the worker."""
        return self._work.configured(config)

    async def run_worker(
        self,
        worker: worker.Worker,
        next: Callable[[worker.Worker], Awaitable[None]],  # noqa: A002 - the SDK's name
    ) -> None:
        """Run *worker* with everything that calls of functions need."""
        async with self.opened(worker):
            await next(worker)

    @asynccontextmanager
    async def opened(self, worker: worker.Worker) -> "AsyncIterator[Functions]":
        """Provide everything that calls of functions need on *worker*, within the context."""
        async with self._work.opened(worker) as functions:
            yield functions

    def configure_replayer(self, config: ReplayerConfig) -> ReplayerConfig:
        """Add what runs definitions, so that their histories can be replayed."""
        self._convert(config)
        return self._work.replaying(config)

    def run_replayer(
        self,
        replayer: Replayer,
        histories: AsyncIterator[WorkflowHistory],
        next: Callable[  # noqa: A002 - the SDK's name
            [Replayer, AsyncIterator[WorkflowHistory]],
            AbstractAsyncContextManager[AsyncIterator[WorkflowReplayResult]],
        ],
    ) -> AbstractAsyncContextManager[AsyncIterator[WorkflowReplayResult]]:
        """Replay as usual."""
        return next(replayer, histories)

    def _convert(self, config: temporal.ClientConfig | ReplayerConfig) -> None:
        if config["data_converter"] is converter.DataConverter.default:
            from swf_temporal.temporal.converter import converter_of  # noqa: PLC0415 - as in the constructor

            config["data_converter"] = converter_of(self._payloads or payloads_of_environment(), config["namespace"])
        else:
            from swf_temporal.temporal.converter import keeping_order  # noqa: PLC0415 - as above

            config["data_converter"] = keeping_order(config["data_converter"])


_REFUSED = ("Worker validation failed", "Workflow worker failed", "Activity worker failed")
"""The beginnings of the SDK's messages when the server refuses something that a worker needs."""

_TWICE = "Registration of multiple workers"
"""Part of its message when a client has two workers for one task queue."""


class Worker:
    """Runs instances of definitions, and makes their calls, within its context.

        async with Worker("localhost:7233", definitions=["orders.yaml"], functions=registry, task_queue="orders"):
            ...

    It is a worker of Temporal's SDK with a Plugin. Secrets, the configuration of calls and the address for produced
    events, `SWF_SINK`, are taken from the environment.
    """

    @outside_of_sandbox()
    def __init__(  # noqa: PLR0913 - options of a worker, all of them optional
        self,
        client: Client | str | None = None,
        *,
        namespace: str | None = None,
        definitions: "Given" = (),
        functions: Mapping[str, Callable[..., Any]] | None = None,
        task_queue: str | None = None,
        settings: "WorkerSettings | None" = None,
        call_settings: "CallSettings | None" = None,
        payloads: "PayloadSettings | None" = None,
        events: "EventSettings | None" = None,
        secrets: "SecretProvider | None" = None,
        workflows: Sequence[type] = (),
        activities: Sequence[Callable[..., Any]] = (),
        interceptors: Sequence[temporal_worker.Interceptor] = (),
    ) -> None:
        """Make a worker for the server of *client*.

        Instead of a client, *client* may be the address of a server, or None for the one in the environment; then
        *namespace* may be given as well, and *payloads*: how payloads are encoded and stored.

        *definitions* are definitions or what `load` takes; *functions* are custom functions by name, or a Registry.
        *task_queue* overrides that of *settings*; these, *call_settings* and *events* (the destinations of produced
        events) replace those of the environment. *secrets* looks up what `$SECRETS` holds, before the environment does.
        *workflows*, *activities* and *interceptors* are passed to the SDK Worker. Raises InvalidDefinition if
        a definition cannot run, and UsageError for an argument of another type.
        """
        if client is not None and not isinstance(client, Client | str):
            what = f"a worker has a swf_temporal.Client or an address, and this is {kind_of(client)}"
            raise UsageError(what, "write Worker(Client(…)) around a client of Temporal's SDK")
        check_text("task_queue", task_queue)
        check_text("namespace", namespace)
        check_each("workflows", workflows, "a class that `workflow.defn` decorates", _is_workflow)
        check_each("activities", activities, "a function that `activity.defn` decorates", _is_activity)
        check_each("interceptors", interceptors, "an Interceptor of the SDK's worker", _is_interceptor)
        from swf_temporal.settings.worker import WorkerSettings  # noqa: PLC0415 - needed by workers, not on import

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
        """Begin to work. Raises UsageError if no server answers, or it refuses this worker."""
        if self._running is not None:
            raise UsageError("this worker works already", "to run two, make another one for a different task queue")
        client = await self.connect()
        self._running = self._serving(client.temporal)
        try:
            await self._running.__aenter__()
        except BaseException:
            self._running = None
            raise
        return self

    async def connect(self) -> Client:
        """Return the client of its server, connecting it first if necessary. Raises UsageError if no server answers."""
        if not isinstance(self._client, Client):
            self._client = await Client.connect(self._client, namespace=self._namespace, payloads=self._payloads)
        return self._client

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        """Stop: calls in progress may still take as long as the settings allow."""
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
        """The definitions, as a catalogue."""
        return self.definitions.catalogue

    @property
    def client(self) -> Client:
        """The client of its server, while it works."""
        if not isinstance(self._client, Client):
            raise UsageError("the worker is not running yet", "use it in `async with`")
        return self._client

    @property
    def functions(self) -> "Functions":
        """The functions that make its calls, while it works."""
        if self._functions is None:
            raise UsageError("the worker is not running yet", "use it in `async with`")
        return self._functions

    async def is_ready(self) -> bool:
        """Return whether it works, and its server answers."""
        is_running = self._worker is not None and self._worker.is_running
        return is_running and await answers(self.client.temporal)

    @asynccontextmanager
    async def _serving(self, client: temporal.Client) -> AsyncIterator[None]:
        from swf_temporal.sdk.health import health_endpoint  # noqa: PLC0415 - as in the constructor
        from swf_temporal.sdk.logs import watched  # noqa: PLC0415 - as above
        from swf_temporal.sdk.metrics import gauged  # noqa: PLC0415 - as above

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
                await stack.enter_async_context(gauged(client, settings.task_queue, self.catalogue))
                if settings.health_port is not None:  # answers until calls have finished
                    serves = self.catalogue.digest
                    await stack.enter_async_context(health_endpoint(settings.health_port, self.is_ready, serves))
                self._worker = await stack.enter_async_context(worker)
                yield
        except asyncio.CancelledError:
            # The SDK cancels the task that uses a failing worker, even while an error makes that task leave it.
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
    return isinstance(one, type) and workflow._Definition.from_class(one) is not None  # noqa: SLF001 - set by its decorator


def _is_activity(one: object) -> bool:
    return callable(one) and activity._Definition.from_callable(one) is not None  # noqa: SLF001 - as above


def _is_interceptor(one: object) -> bool:
    return isinstance(one, temporal_worker.Interceptor)


def _refusal(client: temporal.Client, error: BaseException) -> UsageError:
    """Return the error for a worker that cannot work, from the library's *error* and its causes."""
    from swf_temporal.base.errors import causes  # noqa: PLC0415 - as above

    trouble = trouble_of("; ".join(map(str, (error, *causes(error)))))
    host = client.service_client.config.target_host
    text = f"no worker can serve the namespace {client.namespace!r} of the server at {host}"
    return UsageError(f"{text}: {trouble.what}", trouble.hint)


_MEMORY, _CPU = 0.8, 1.0
"""The targets if only the other one is set: the need of a call is not known in advance, so some memory is left."""
_NO_SLOT: Final = 1
"""For Nexus, which has no operations here."""


class Tuning(TypedDict):
    """Arguments of the SDK's worker."""

    max_cached_workflows: int
    workflow_task_poller_behavior: PollerBehavior
    activity_task_poller_behavior: PollerBehavior
    max_activities_per_second: float | None
    max_task_queue_activities_per_second: float | None
    disable_eager_activity_execution: bool
    tuner: NotRequired[WorkerTuner]
    max_concurrent_workflow_tasks: NotRequired[int]
    max_concurrent_activities: NotRequired[int]
    max_concurrent_local_activities: NotRequired[int]


def tuning_of(settings: "WorkerSettings") -> Tuning:
    """Return the arguments that make the SDK's worker do as much at once as *settings* allow."""
    pollers, own, shared = _pollers(settings), settings.max_activity_rate, settings.max_queue_activity_rate
    tuning = Tuning(
        max_cached_workflows=settings.max_cached_workflows,
        workflow_task_poller_behavior=pollers,
        activity_task_poller_behavior=pollers,
        max_activities_per_second=_per_second(own),
        max_task_queue_activities_per_second=_per_second(shared),
        # Slots only count calls that the worker polls for, not those that it gets with the response to a workflow task.
        disable_eager_activity_execution=own is not None or shared is not None,
    )
    if settings.target_memory is None and settings.target_cpu is None:
        tuning["max_concurrent_workflow_tasks"] = settings.max_workflow_tasks
        tuning["max_concurrent_activities"] = settings.max_activities
        tuning["max_concurrent_local_activities"] = settings.max_local_activities
    else:
        tuning["tuner"] = _by_resources(settings)
    return tuning


def _by_resources(settings: "WorkerSettings") -> WorkerTuner:
    """Return a tuner that provides slots while the machine has memory and processor time to spare."""
    targets = ResourceBasedTunerConfig(settings.target_memory or _MEMORY, settings.target_cpu or _CPU)

    def up_to(slots: int) -> ResourceBasedSlotSupplier:
        return ResourceBasedSlotSupplier(ResourceBasedSlotConfig(maximum_slots=slots), targets)

    return WorkerTuner.create_composite(
        workflow_supplier=up_to(settings.max_workflow_tasks),
        activity_supplier=up_to(settings.max_activities),
        local_activity_supplier=up_to(settings.max_local_activities),
        nexus_supplier=up_to(_NO_SLOT),
    )


def _pollers(settings: "WorkerSettings") -> PollerBehavior:
    if settings.pollers == "auto":
        return PollerBehaviorAutoscaling(minimum=2)
    return PollerBehaviorSimpleMaximum(maximum=settings.pollers)


def _per_second(rate: "Rate | None") -> float | None:
    return None if rate is None else rate.calls / rate.seconds
