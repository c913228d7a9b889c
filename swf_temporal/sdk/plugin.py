"""A plugin of Temporal's SDK: a worker that has it serves definitions, beside workflows and activities of its own.

A plugin may be that of a client, of several workers and of replayers at once. What one worker needs, such as
connections and the store of variables, is opened when that worker begins, and closed with it.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

from temporalio import client as temporal
from temporalio import converter, worker
from temporalio.client import WorkflowHistory
from temporalio.service import ConnectConfig, ServiceClient
from temporalio.worker import Replayer, ReplayerConfig, WorkerConfig, WorkflowReplayResult

from swf_temporal import outside_of_sandbox
from swf_temporal.base.arguments import check_functions, check_kind
from swf_temporal.operations.client import payloads_of_environment

if TYPE_CHECKING:
    from swf_temporal.functions.calling import Functions
    from swf_temporal.functions.secret_providers import SecretProvider
    from swf_temporal.sdk.served import Given
    from swf_temporal.settings.calls import Settings
    from swf_temporal.settings.events import EventSettings
    from swf_temporal.settings.payloads import PayloadSettings
    from swf_temporal.settings.worker import WorkerSettings


class Plugin(temporal.Plugin, worker.Plugin):
    """Serves definitions on the workers that have it, beside workflows and activities written by hand.

        plugin = Plugin(definitions=["orders.yaml"], functions=registry)
        client = await temporalio.client.Client.connect("localhost:7233", plugins=[plugin])
        async with temporalio.worker.Worker(client, task_queue="orders", workflows=[Mine], activities=[mine]):
            ...

    A client that has it gives it to all of its workers. Secrets, the configuration of calls and the address for
    produced events, `SWF_SINK`, come from the environment.
    """

    @outside_of_sandbox()
    def __init__(
        self,
        *,
        definitions: "Given" = (),
        functions: Mapping[str, Callable[..., Any]] | None = None,
        settings: "WorkerSettings | None" = None,
        call_settings: "Settings | None" = None,
        payloads: "PayloadSettings | None" = None,
        events: "EventSettings | None" = None,
        secrets: "SecretProvider | None" = None,
    ) -> None:
        """Serve *definitions*, which are definitions or what `load` takes.

        *functions* are custom functions by name, or a Registry. *settings*, *call_settings*, *events*, which says where
        produced events go, and *payloads*, which says what becomes of payloads on their way, are used instead of those
        of the environment; *secrets* looks up what `$SECRETS` holds, before the environment does. What the SDK's Worker
        has an argument for, such as the task queue and how many activities there are at once, is said there, and not
        taken from *settings*; nor are logs and health.
        Raises InvalidDefinition if a definition cannot run, and UsageError for an argument of another kind.
        """
        # All that follows is needed to work, and not to be imported.
        from swf_temporal.functions.secret_providers import SecretProvider  # noqa: PLC0415 - as above
        from swf_temporal.sdk.served import Definitions  # noqa: PLC0415 - as above
        from swf_temporal.sdk.working import Work  # noqa: PLC0415 - as above
        from swf_temporal.settings.calls import Settings  # noqa: PLC0415 - as above
        from swf_temporal.settings.events import EventSettings  # noqa: PLC0415 - as above
        from swf_temporal.settings.payloads import PayloadSettings  # noqa: PLC0415 - as above
        from swf_temporal.settings.worker import WorkerSettings  # noqa: PLC0415 - as above

        check_functions(functions)
        check_kind("settings", settings, WorkerSettings)
        check_kind("call_settings", call_settings, Settings)
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
        """Return the name under which the server lists it."""
        return "swf_temporal.Plugin"

    def configure_client(self, config: temporal.ClientConfig) -> temporal.ClientConfig:
        """Have data written as definitions need it, unless the client has a data converter of its own."""
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
        """Add what runs definitions. Raises UsageError where they cannot be told from what the worker has."""
        return self._work.configured(config)

    async def run_worker(
        self,
        worker: worker.Worker,
        next: Callable[[worker.Worker], Awaitable[None]],  # noqa: A002 - the SDK's name
    ) -> None:
        """Run *worker* with all that calls of functions need."""
        async with self.opened(worker):
            await next(worker)

    @asynccontextmanager
    async def opened(self, worker: worker.Worker) -> "AsyncIterator[Functions]":
        """Have all that calls of functions need on *worker*, as long as the context lasts."""
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
