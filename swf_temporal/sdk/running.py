"""A run of one definition to its end, with its own worker, on an existing server or one that is started for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from swf_temporal.base.errors import UsageError
from swf_temporal.operations.identity import user_identity
from swf_temporal.temporal.connecting import Server, configured, connect, is_free, server_of
from swf_temporal.temporal.constants import DEFAULT_PORT
from swf_temporal.temporal.server import local_server

if TYPE_CHECKING:
    from swf_temporal.settings.payloads import PayloadSettings
import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from swf_temporal.base.client_errors import RunEnded, ServerUnavailableError
from swf_temporal.base.data import JSON
from swf_temporal.base.durations import format_duration
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client, Instance, RetriedRequests
from swf_temporal.sdk.function_modules import functions_of
from swf_temporal.sdk.worker import Worker
from swf_temporal.settings.calls import Settings, read_settings
from swf_temporal.settings.events import EventSettings
from swf_temporal.settings.payloads import PLAIN, PayloadSettings
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.server_timeout import FOR_ENDS, FOR_REQUESTS
from swf_temporal.text.fetching.resources import Resources

_GRACE = 10
"""Seconds within which a cancelled instance may end by itself."""


@dataclass(frozen=True, slots=True)
class Order:
    """A requested run: the definition, its input and its options."""

    workflows: Sequence[Definition]
    """The definition, and its sub-workflows."""
    data: JSON = None
    workflow_id: str | None = None
    events: Sequence[Mapping[str, Any]] = ()
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    call_settings: Settings = field(default_factory=Settings)
    timeout: timedelta | None = None
    payloads: PayloadSettings = PLAIN
    event_settings: EventSettings | None = None


def with_functions(order: Order, modules: Iterable[str], config: Path | None, resources: Resources) -> Order:
    """Return *order* with the functions of *modules*, and with the call settings of configuration and environment.

    It is for definitions that run on the machine of their author: services there may be called. Raises UsageError.
    """
    settings = read_settings(os.environ, local=True, file=config, resources=resources)
    functions, payloads = functions_of(modules, settings.modules), PayloadSettings.read(file=config)
    return replace(
        order,
        functions=functions,
        call_settings=settings,
        payloads=payloads,
        event_settings=EventSettings.read(file=config),
    )


@dataclass(frozen=True, slots=True)
class StartedRun:
    """A running instance, and its server."""

    client: Client
    instance: Instance
    is_own_server: bool
    """Whether the server was started for this run, and stops after it."""
    timeout: timedelta | None
    task_queue: str

    async def output(self) -> JSON:
        """Return the output of the instance. Raises RunEnded if it has none; after the timeout, it is cancelled.

        Raises ServerUnavailableError, saying what happens to the instance, if the server does not answer for long.
        """
        usual = FOR_REQUESTS if self.is_own_server else FOR_ENDS
        retried = RetriedRequests(self.client, self.instance.id, "", usual=usual, fate=self._fate)
        try:
            async with asyncio.timeout(None if self.timeout is None else self.timeout.total_seconds()):
                return await retried(self.instance.result)
        except TimeoutError:
            await self.cancel()
            limit = "" if self.timeout is None else f" within {format_duration(self.timeout)}"
            text = f"it did not end{limit}, and was cancelled"
            raise RunEnded(text, "cancelled", instance=self.instance.id) from None

    async def cancel(self) -> None:
        """Cancel the instance; terminate it if it does not end within a short time, since its worker ends with us.

        Raises ServerUnavailableError, saying what happens to it, if the server does not answer.
        """
        try:
            with suppress(RunEnded):
                try:
                    async with asyncio.timeout(_GRACE):
                        await self.instance.cancel()
                        await self.instance.result()
                except TimeoutError:
                    await self.instance.terminate("its worker was stopped")
        except ServerUnavailableError as error:
            raise ServerUnavailableError(f"it was not cancelled: {error.message}", self._fate) from None

    @property
    def _fate(self) -> str:
        """A hint at what happens to the instance if it is left before it ends."""
        if self.is_own_server:
            return "the server was started for this run, and the instance ends with it"
        found = f"--address {self.client.address} --namespace {self.client.namespace}"
        return (
            f"the instance {self.instance.id!r} has no worker now: "
            f"`swf worker --task-queue {self.task_queue} {found}` lets it continue, "
            f"`swf terminate {self.instance.id} {found}` ends it"
        )


@asynccontextmanager
async def started(order: Order, address: str | None = None, namespace: str | None = None) -> AsyncIterator[StartedRun]:
    """Start an instance of the first definition of *order* on some server, and serve it within the context.

    The server is an existing one (see `some_server`), or is started. Raises UsageError if a given one does not
    answer.
    """
    first, *others = order.workflows
    async with some_server(address, namespace, order.payloads) as (server, is_own):
        client = Client.of(server).acting_as(user_identity())
        # Only its definitions are served: more calls are allowed than on a worker, and any client may find the queue.
        settings = WorkerSettings(
            task_queue=f"swf-run-{uuid4().hex[:12]}", known_definitions_only=True, grace_period=timedelta()
        )
        worker = Worker(
            client,
            definitions=Catalogue(order.workflows),
            functions=order.functions,
            settings=settings,
            call_settings=order.call_settings,
            events=order.event_settings,
        )
        async with worker:
            instance = await client.start(
                first,
                order.data,
                workflow_id=order.workflow_id,
                task_queue=settings.task_queue,
                events=order.events,
                sub_workflows=others,
            )
            yield StartedRun(client, instance, is_own, order.timeout, settings.task_queue)


@asynccontextmanager
async def some_server(
    address: str | None, namespace: str | None, payloads: "PayloadSettings | None" = None
) -> AsyncIterator[tuple[Server, bool]]:
    """Find a server, or start one within the context; the second value is whether it was started.

    It is the one at *address* or else the one in the environment, or one that listens on this machine. Raises
    UsageError if the given one does not answer.
    """
    if address or is_configured():
        yield await known_server(address, namespace, payloads), False
        return
    if not is_free(DEFAULT_PORT):
        try:
            server = await known_server(None, namespace, payloads)
        except UsageError:
            pass  # something else listens there
        else:
            yield server, False
            return
    async with local_server(payloads=payloads) as server:
        yield server, True


async def known_server(address: str | None, namespace: str | None, payloads: "PayloadSettings | None" = None) -> Server:
    """Return the server at *address*, or the one in the environment. Raises UsageError if it does not answer."""
    return server_of(await connect(address=address, namespace=namespace, payloads=payloads))


def is_configured() -> bool:
    """Return whether the environment, or the user's configuration of Temporal, names a server."""
    return "target_host" in configured()
