"""The parts of a worker with our plugin that definitions need: its configuration, and resources while it works.

The plugin only imports this with such a worker, so that programs that only start instances start faster.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Final

from temporalio import activity as temporal_activity
from temporalio import client as temporal
from temporalio import worker, workflow
from temporalio.service import RPCError
from temporalio.worker import ReplayerConfig, WorkerConfig, WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

import swf_temporal
from swf_temporal.base.errors import MissingExtra, StoreUnavailable, UsageError
from swf_temporal.base.grammar import with_article
from swf_temporal.base.installed import SECRET_PROVIDERS, offered
from swf_temporal.events.sinks import Sinks
from swf_temporal.expressions.guarding import guard
from swf_temporal.functions.calling import Calls, Functions
from swf_temporal.functions.containers.containers import Containers
from swf_temporal.functions.containers.endpoint import RunningCalls
from swf_temporal.functions.secrets import SecretProvider
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.operations.rerunning import Carried
from swf_temporal.runtime.external_activities import is_external_activity
from swf_temporal.runtime.variables import VariableStore
from swf_temporal.sdk.definitions import Definitions
from swf_temporal.sdk.documents import in_one_line, missing
from swf_temporal.sdk.event_router import EventDelivery, Router
from swf_temporal.settings.calls import Settings, read_settings
from swf_temporal.settings.credentials import without_password
from swf_temporal.settings.events import EventSettings
from swf_temporal.settings.values import TEMPORAL, Address
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.activities import Activities
from swf_temporal.temporal.converter import check_order, limit_of, with_order
from swf_temporal.temporal.instance_part import OperatorOptions, OperatorOptionsInterceptor
from swf_temporal.temporal.namespace_variables import NamespaceVariables
from swf_temporal.temporal.search_attributes import check_registered, needed_by
from swf_temporal.temporal.variable_claims import ClaimedVariables, namespace_id
from swf_temporal.temporal.worker import Terms, allow_long_tasks, with_definitions
from swf_temporal.temporal.workflows import ALL_WORKFLOWS

if TYPE_CHECKING:
    from swf_temporal.sdk.stores import SqlVariables


SWEEPING: Final = 600.0
"""Seconds between two checks for ended instances."""

_log = logging.getLogger("swf")


@asynccontextmanager
async def variables_of(client: temporal.Client, settings: WorkerSettings) -> AsyncIterator[ClaimedVariables]:
    """Yield the variable store of a worker, while it works.

    Raises UsageError if the store cannot be used, or other workers of the task queue use another one.
    """
    if settings.variables == TEMPORAL:
        claimed = ClaimedVariables(client, settings.task_queue)
        with suppress(RPCError):  # checked again before variables are used, which most workers never do
            await claimed.claim()
        yield claimed
        return
    store = await _database(client, settings.variables)
    try:
        where = without_password(settings.variables)
        claimed = ClaimedVariables(client, settings.task_queue, store, store.identity, where)
        try:
            await claimed.claim()
        except RPCError as error:
            message = f"it is not known whether the workers of the task queue {settings.task_queue!r} agree on it"
            raise UsageError(f"variables in {where}: {message}: {error}") from None
        sweeping = asyncio.create_task(_sweep(store, claimed))
        try:
            yield claimed
        finally:
            sweeping.cancel()
            await asyncio.wait([sweeping])
    finally:
        await store.aclose()


async def _database(client: temporal.Client, address: str) -> "SqlVariables":
    try:
        server = await namespace_id(client)
    except RPCError as error:
        message = f"the namespace {client.namespace!r} may not be described, and variables in a database need its id"
        raise UsageError(f"{message}: {error}") from None
    try:
        from swf_temporal.sdk.stores import SqlVariables  # noqa: PLC0415 - heavy, and of an extra

        return await SqlVariables.opened(address, client.namespace, server)
    except ImportError as error:
        raise MissingExtra("sql", "variables in a database", error.name) from None


async def _sweep(store: "SqlVariables", claimed: ClaimedVariables) -> None:
    """Remove the variables of ended instances, at regular intervals."""
    while True:
        try:
            if count := await store.sweep(claimed.has_ended):
                _log.info("removed the variables of %d ended instances", count)
        except (StoreUnavailable, RPCError) as error:
            _log.warning("variables of ended instances cannot be removed at the moment: %s", error)
        except Exception:  # noqa: BLE001 - the next attempt may succeed
            _log.exception("variables of ended instances cannot be removed at the moment")
        await asyncio.sleep(SWEEPING)


_SLOTS: Final = 100
"""The SDK's default number of concurrent activities."""
_LEFT: Final = 1_000
"""The number of further threads, for functions that continue after their calls have ended. Nothing can stop them."""
_ANOTHER_ENDPOINT: Final = "choose another address with containerEndpoint or SWF_CONTAINER_ENDPOINT"


@dataclass(frozen=True)
class Work:
    """The arguments of a plugin, for all workers that have it. Those that are None are read from the environment."""

    definitions: Definitions
    functions: Mapping[str, Callable[..., Any]]
    settings: WorkerSettings
    call_settings: Settings | None
    events: EventSettings | None
    secrets: SecretProvider | None

    @cached_property
    def _provider(self) -> SecretProvider | None:
        """The secret provider. Raises UsageError if no installed package offers the one in the settings."""
        if self.secrets is not None or self.settings.secrets_provider is None:
            return self.secrets
        found: SecretProvider = offered(SECRET_PROVIDERS, self.settings.secrets_provider, "secret")
        return found

    def configured(self, config: WorkerConfig) -> WorkerConfig:
        """Return *config* with what runs definitions. Raises UsageError if names conflict with those in *config*."""
        if _served_by(config) is not None:
            return config  # its client also has the plugin
        client = with_order(config["client"])
        check_order(client.data_converter)
        config = {**config, "client": client}
        events, settings = self.events or EventSettings.read(), self.settings
        serving = _Serving(config, self.definitions.catalogue, settings)
        self.definitions.check(_Names(config).check)
        ordered = any(sink.ordered for sink in events.sinks)
        only_known = settings.known_definitions_only
        options = OperatorOptions(ordered, events.lifecycle, settings.search_attributes, only_known)
        chooses = (self.call_settings or read_settings(os.environ)).chooses_local_calls
        terms = Terms(settings.version, options, chooses)
        if only_known:
            config = {**config, "activities": [*config.get("activities", ()), Carried(config["client"]).carried]}
        added = with_definitions(config, serving.activities, terms)
        runner = _passing_us_through(config.get("workflow_runner") or SandboxedWorkflowRunner())
        return {**added, "interceptors": [serving, *added["interceptors"]], "workflow_runner": runner}

    @asynccontextmanager
    async def opened(self, worker: worker.Worker) -> AsyncIterator[Functions]:
        """Provide everything that calls of functions need on *worker*, within the context."""
        serving = _served_by(worker.config(active_config=True))
        assert serving is not None  # noqa: S101 - it was added when the worker was made
        if serving.functions is not None:
            yield serving.functions
            return
        if self.settings.search_attributes:
            await check_registered(worker.client, needed_by(self.definitions.catalogue))
        allow_long_tasks(worker)
        client, queue = worker.client, worker.task_queue
        _warn_of_queues(self.definitions.catalogue, queue)
        call_settings = self.call_settings or read_settings(os.environ)
        events = self.events or EventSettings.read()
        catalogue, running = self.definitions.catalogue, RunningCalls()
        async with variables_of(client, self.settings.replace(task_queue=queue)) as variables:
            named = NamespaceVariables(variables, catalogue)
            functions = Functions(
                self.functions,
                call_settings,
                replaced={"direktiv": lambda shared: Containers(shared, named, running)},
                max_threads=serving.slots + _LEFT,
            )
            calls = Calls(env=os.environ, functions=functions, provider=self._provider)
            sinks = Sinks(events.sinks, call_settings)
            sinks.router = Router(Client(client), catalogue, queue, max_hops=events.max_hops).deliver
            _warn_of_weak(calls.secrets.unprotected())
            serving.activities.work_with(calls, EventDelivery(sinks), variables)
            serving.functions = functions
            try:
                await functions.open()
                if self.definitions.are_own:
                    for problem in await missing(catalogue, functions):
                        _log.warning("%s", in_one_line(problem))
                if self.settings.container_endpoint is None:
                    yield functions
                else:
                    async with container_endpoint(self.settings.container_endpoint, running, variables):
                        yield functions
            finally:
                serving.functions = None
                await calls.aclose()
                await sinks.aclose()

    def replaying(self, config: ReplayerConfig) -> ReplayerConfig:
        """Return *config* with what runs definitions, so that their histories can be replayed."""
        guard.start()
        options = OperatorOptions(only_known=self.settings.known_definitions_only)
        config["workflows"] = [*ALL_WORKFLOWS, *config["workflows"]]
        config["interceptors"] = [OperatorOptionsInterceptor(options), *config["interceptors"]]
        config["workflow_runner"] = _passing_us_through(config["workflow_runner"])
        return config


class _Serving(worker.Interceptor):
    """The parts of a worker that definitions need; an interceptor without effect, to be found in the configuration."""

    def __init__(self, config: WorkerConfig, catalogue: Catalogue, settings: WorkerSettings) -> None:
        limit = limit_of(config["client"].data_converter.payload_converter)
        environment = {name: os.environ[name] for name in settings.environment if name in os.environ}
        self.activities = Activities(catalogue, limit, settings.limits, lambda _: environment)
        by_tuner = settings.max_activities if config.get("tuner") is not None else _SLOTS
        self.slots: int = config.get("max_concurrent_activities") or by_tuner
        """The number of concurrent calls."""
        self.functions: Functions | None = None
        """The functions that make the calls, while the worker works."""


class _Names:
    """The names of a worker's workflows and activities besides definitions."""

    def __init__(self, config: WorkerConfig) -> None:
        work, call = workflow._Definition, temporal_activity._Definition  # noqa: SLF001 - set by the SDK's decorators
        workflows = [work.from_class(one) for one in config.get("workflows", ())]
        activities = [call.from_callable(one) for one in config.get("activities", ())]
        for what, found in (("workflow", workflows), ("activity", activities)):
            if any(one is not None and one.name is None for one in found):
                hint = (
                    f"definitions need {with_article(what)} of that kind for themselves: use another worker for yours"
                )
                raise UsageError(f"the worker already has a dynamic {what}", hint)
        self._workflows = {one.name for one in workflows if one is not None}
        self._activities = {one.name for one in activities if one is not None}

    def check(self, definition: Definition) -> None:
        """Raise UsageError if the names of *definition* or its functions are taken on the worker."""
        if definition.id in self._workflows:
            message = f"the definition {definition.id!r} and a workflow of the worker have the same name"
            raise UsageError(message, "rename one of them, or serve them on different task queues")
        for use in definition.functions:
            name = use.function.name
            if name in self._activities and not is_external_activity(use.function):
                message = f"the function {name!r} of {definition.id!r} and an activity of the worker have the same name"
                raise UsageError(
                    message, f"to call the activity, write 'operation: temporal:{name}'; or rename one of them"
                )


@asynccontextmanager
async def container_endpoint(address: Address, running: RunningCalls, variables: VariableStore) -> AsyncIterator[None]:
    """Let functions in containers reach the worker that calls them at *address*, within the context.

    Raises UsageError.
    """
    try:
        from swf_temporal.functions.containers.endpoint import endpoint  # noqa: PLC0415 - of an extra
        from swf_temporal.sdk.asgi_server import asgi_server  # noqa: PLC0415 - of an extra
    except ImportError as error:
        what = "requests of functions in containers (`containerEndpoint`)"
        raise MissingExtra("containers", what, error.name) from None
    async with asgi_server(endpoint(running, variables), address, _ANOTHER_ENDPOINT):
        yield


def _served_by(config: WorkerConfig) -> _Serving | None:
    return next((one for one in config.get("interceptors", ()) if isinstance(one, _Serving)), None)


def _passing_us_through(runner: WorkflowRunner) -> WorkflowRunner:
    """Return *runner* without sandboxed copies of this package's modules.

    The package itself is still copied, since its functions differ in a sandbox.
    """
    if not isinstance(runner, SandboxedWorkflowRunner):
        return runner
    modules = [f"swf_temporal.{one.name}" for one in iter_modules(swf_temporal.__path__)]
    return replace(runner, restrictions=runner.restrictions.with_passthrough_modules(*modules))


def _warn_of_queues(catalogue: Catalogue, queue: str) -> None:
    """Log which definitions name another task queue than that of the worker: their clients start instances there."""
    for one in catalogue:
        if one.task_queue not in (None, queue):
            _log.warning(
                "%s names the task queue %s, and this worker serves %s: start it with --task-queue %s if clients name "
                "that",
                one.id,
                one.task_queue,
                queue,
                one.task_queue,
            )


def _warn_of_weak(secrets: tuple[str, ...] | list[str]) -> None:
    if secrets:
        _log.warning(
            "short or common secrets are hidden in results only where they are the whole value: %s", ", ".join(secrets)
        )
