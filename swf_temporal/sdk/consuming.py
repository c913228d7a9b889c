"""Consuming from brokers until the process is asked to stop, as `swf consume` does."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from temporalio.service import RPCError

from swf_temporal.base.errors import CallFailed, Problem, UsageError
from swf_temporal.base.stopping import stop_signal
from swf_temporal.events.consumers.consumer import RESULTS, Consumer, source_of
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.operations.client import Client
from swf_temporal.sdk.definitions import catalogue_of, resources_of, with_led_to
from swf_temporal.sdk.documents import in_one_line
from swf_temporal.sdk.event_router import Router
from swf_temporal.sdk.health import health_endpoint
from swf_temporal.sdk.logs import log_lines
from swf_temporal.sdk.metrics import MESSAGES, export_metrics
from swf_temporal.sdk.serving import connected
from swf_temporal.settings.calls import Settings, read_settings
from swf_temporal.settings.events import ConsumerSettings, EventSettings
from swf_temporal.settings.payloads import PayloadSettings
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.connecting import refuse_unless_readable
from swf_temporal.temporal.metrics import meter_of
from swf_temporal.temporal.server_timeout import answers

_log = logging.getLogger("swf.events")


@dataclass(frozen=True, slots=True)
class Consuming:
    """The consumers, and the destinations of their events."""

    events: EventSettings
    call_settings: Settings
    catalogue: Catalogue
    settings: WorkerSettings
    payloads: PayloadSettings
    address: str | None = None
    namespace: str | None = None

    async def serve(self, *, waits: bool = True) -> int:
        """Consume until the process is asked to stop; return the exit code. Raises UsageError.

        With *waits*, wait at the start until a server answers.
        """
        export_metrics(self.settings.metrics)
        stopping = stop_signal()

        async def connect() -> Client:
            client = await Client.connect(self.address, namespace=self.namespace, payloads=self.payloads)
            await refuse_unless_readable(client.temporal)
            return client

        client = await connected(connect, stopping, waits=waits, health_port=self.settings.health_port)
        if client is None:
            return 0
        if not list(self.catalogue):
            _log.warning("there is no definition: all events are ignored; name a folder that has some, and start again")
        router = Router(client, self.catalogue, self.settings.task_queue, max_hops=self.events.max_hops)
        async with AsyncExitStack() as stack:
            consumers: Sequence[Consumer] = ()

            async def is_ready() -> bool:
                works = bool(consumers) and not stopping.is_set()
                return works and all(one.is_connected for one in consumers) and await answers(client.temporal)

            if self.settings.health_port is not None:  # answers until all messages are finished
                await stack.enter_async_context(health_endpoint(self.settings.health_port, is_ready))
            consumers = await stack.enter_async_context(consuming(self.events, self.call_settings, router))
            await stopping.wait()
            _log.info("stopping")
        _log.info("stopped")
        return 0


@asynccontextmanager
async def consuming(events: EventSettings, settings: Settings, router: Router) -> AsyncIterator[Sequence[Consumer]]:
    """Run all consumers within the context. Raises UsageError if one of them is permanently unable to run."""
    has_sessions = any(one.family == "mqtt" and one.client_id is None for one in events.consumers)
    deployment = await _deployment(router) if has_sessions else ""
    messages = meter_of(router.client.temporal).create_counter(MESSAGES, "Messages of brokers, by result")

    def consumer_of(one: ConsumerSettings) -> Consumer:
        def count(result: str) -> None:
            messages.add(1, {"consumer": one.name, "result": result})

        for result in RESULTS:
            messages.add(0, {"consumer": one.name, "result": result})  # so that the first increase is seen as one
        return Consumer(one, source_of(one, settings, deployment), router.take, settings, count)

    try:
        consumers = [consumer_of(one) for one in events.consumers]
    except CallFailed as error:
        raise UsageError(error.message) from None
    running = [asyncio.create_task(one.run(), name=f"consumer {one.settings.name}") for one in consumers]
    for task in running:
        task.add_done_callback(_tell_end)
    try:
        yield consumers
    finally:
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)


async def _deployment(router: Router) -> str:
    try:
        return await router.deployment()
    except RPCError as error:
        message = f"the id of the namespace, by which MQTT brokers identify consumers, is unavailable: {error.message}"
        raise UsageError(message, "let this identity describe it, or write a `clientId` for each consumer") from None


def prepare(
    paths: Sequence[Path],
    *,
    config: Path | None = None,
    resources: Sequence[Path] = (),
    address: str | None = None,
    namespace: str | None = None,
    **options: object,
) -> Consuming:
    """Return the consumers to run, and log to stderr as their settings say. Raises UsageError."""
    readable = resources_of(resources)
    settings = WorkerSettings.read(file=config, arguments=options)
    log_lines(settings.log_format, settings.log_level)

    def warn(problem: object) -> None:
        _log.warning("%s", in_one_line(problem) if isinstance(problem, Problem) else problem)

    catalogue = with_led_to(catalogue_of(paths, readable), paths, readable, warn=warn)
    events = EventSettings.read(file=config)
    if not events.consumers:
        raise UsageError("the configuration has no consumers", "write it under events › consumers")
    call_settings = read_settings(os.environ, file=config, resources=readable)
    payloads = PayloadSettings.read(file=config)
    return Consuming(events, call_settings, catalogue, settings, payloads, address, namespace)


def _tell_end(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("%s has ended: %s", task.get_name(), error)
