"""Metrics of a process, for Prometheus: the runtime of Temporal's SDK exports its own metrics and ours."""

import asyncio
import logging
import platform
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import temporalio
from temporalio import client as temporal
from temporalio.common import MetricMeter
from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig
from temporalio.service import RPCError

from swf_temporal import __version__
from swf_temporal.base.errors import UsageError
from swf_temporal.expressions.guarding.guard import helpers
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.sdk.logs import core_logging
from swf_temporal.sdk.worker_process import LOOPBACK, WorkerProcess
from swf_temporal.settings.values import Address
from swf_temporal.temporal.metrics import ACTIONS, STATES, WAITS, begin_counters, meter_of
from swf_temporal.temporal.search_attributes import quoted
from swf_temporal.temporal.statuses import OPEN

HELPERS, MESSAGES = "swf_helper_processes", "swf_consumed_messages"
BUILD, RUNNING = "swf_build_info", "swf_instances_running"
REQUESTS: Final = "swf_gateway_request_duration"
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
_MINUTES: Final = (60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
_LONG: Final = (0.01, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, *_MINUTES, 14_400.0, 86_400.0, 604_800.0)
_QUEUED: Final = (0.01, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, *_MINUTES)
_BUCKETS: Final = {
    **dict.fromkeys((STATES, ACTIONS, WAITS, "temporal_workflow_endtoend_latency"), _LONG),
    "temporal_activity_execution_latency": _LONG,
    "temporal_workflow_task_schedule_to_start_latency": _QUEUED,
    "temporal_activity_schedule_to_start_latency": _QUEUED,
    REQUESTS: _SECONDS,
}
"""The buckets of histograms, in seconds: states, and waits for events, may take days."""
_INTERVAL: Final = 5.0
"""Seconds between two updates of the gauge of helper processes."""
_COUNTING: Final = 30.0
"""Seconds between two counts of running instances, each of which is a request for every definition."""

_log = logging.getLogger("swf")


def export_metrics(address: Address | None, own_host: str = LOOPBACK) -> None:
    """Serve `/metrics` at *address*, unless None, until the process ends. To be called before a client is made.

    An address without a host is at *own_host*. Raises UsageError if nothing can listen there.
    """
    if address is None:
        return
    place = WorkerProcess.own()
    listening = Address(address.host or own_host, address.port)
    prometheus = PrometheusConfig(
        str(_resolved(listening) if place is None else Address(LOOPBACK, place.metrics_port)),
        counters_total_suffix=True,
        unit_suffix=True,
        durations_as_seconds=True,
        histogram_bucket_overrides=_BUCKETS,
    )
    try:
        telemetry = TelemetryConfig(
            logging=core_logging(),
            metrics=prometheus,
            attach_service_name=False,
            global_tags={} if place is None else {"process": str(place.number)},
        )
        runtime = Runtime(telemetry=telemetry)
    except ValueError as error:
        raise _refused(listening, error) from None
    Runtime.set_default(runtime, error_if_already_set=False)
    _tell_build(runtime.metric_meter)


def _tell_build(meter: MetricMeter) -> None:
    build = meter.create_gauge(BUILD, "The release of this program, and what it runs on: always 1")
    build.set(1, {"version": __version__, "python": platform.python_version(), "temporalio": temporalio.__version__})


def _resolved(address: Address) -> Address:
    """Return *address* with the number of its host, which the runtime needs. Raises UsageError."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        [(*_, found), *_] = socket.getaddrinfo(address.host, address.port, family, socket.SOCK_STREAM)
    except OSError as error:
        raise _refused(address, error.strerror) from None
    return Address(str(found[0]), address.port)


def _refused(address: Address, why: object) -> UsageError:
    return UsageError(f"metrics cannot be served at {address}: {why}", "choose another address with --metrics")


@asynccontextmanager
async def gauged(client: temporal.Client, task_queue: str, catalogue: Catalogue) -> AsyncIterator[None]:
    """Keep the gauges of a worker up to date within the context, if its process exports metrics."""
    meter = meter_of(client)
    if meter is MetricMeter.noop:
        yield
        return
    _tell_build(meter)
    begin_counters(client, task_queue, catalogue)
    processes = meter.create_gauge(HELPERS, "Helper processes that evaluate expressions, by engine")
    instances = _RunningInstances(client, task_queue, catalogue)

    async def look() -> None:
        for engine, number in helpers().items():
            processes.set(number, {"engine": engine})

    looking = [
        asyncio.create_task(_repeated(look, _INTERVAL)),
        asyncio.create_task(_repeated(instances.count, _COUNTING)),
    ]
    try:
        yield
    finally:
        for task in looking:
            task.cancel()
        await asyncio.wait(looking)


async def _repeated(work: Callable[[], Awaitable[None]], pause: float) -> None:
    while True:
        await work()
        await asyncio.sleep(pause)


class _RunningInstances:
    """The gauge of instances that have begun and not ended, wherever they are, as the server counts them."""

    def __init__(self, client: temporal.Client, task_queue: str, catalogue: Catalogue) -> None:
        self._client = client
        self._queue = task_queue
        self._catalogue = catalogue
        self._gauge = meter_of(client).create_gauge(RUNNING, "Instances that have not ended, by definition")
        self._ids: dict[str, None] = {}
        """The ids of all definitions that have been served: the instances of one that is gone may still run."""
        self._is_refused = False

    async def count(self) -> None:
        self._ids |= dict.fromkeys(one.id for one in self._catalogue)
        for one in self._ids:
            wanted = f"WorkflowType = {quoted(one)} AND TaskQueue = {quoted(self._queue)} AND {OPEN}"
            try:
                found = (await self._client.count_workflows(wanted)).count
            except RPCError as error:
                if not self._is_refused:
                    _log.warning("running instances cannot be counted for metrics: %s", error.message)
                self._is_refused = True
                return
            labels = {"namespace": self._client.namespace, "task_queue": self._queue, "workflow_type": one}
            self._gauge.set(found, labels)
        self._is_refused = False
