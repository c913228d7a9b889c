"""Metrics of a process, for Prometheus: the runtime of Temporal's SDK exports its own metrics and ours."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from temporalio import client as temporal
from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig

from swf_temporal.base.errors import UsageError
from swf_temporal.expressions.guarding.guard import helpers
from swf_temporal.sdk.logs import core_logging
from swf_temporal.sdk.worker_process import LOOPBACK, WorkerProcess
from swf_temporal.settings.values import Address
from swf_temporal.temporal.metrics import ACTIONS, STATES, meter_of

HELPERS, MESSAGES = "swf_helper_processes", "swf_consumed_messages"
REQUESTS: Final = "swf_gateway_request_duration"
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
_LONG: Final = (0.01, 0.1, 0.5, 1.0, 5.0, 30.0, 60.0, 600.0, 3600.0, 86_400.0)
_BUCKETS: Final = {STATES: _LONG, ACTIONS: _LONG, REQUESTS: _SECONDS}
"""The buckets of our histograms, in seconds: states may take days."""
_INTERVAL: Final = 5.0
"""Seconds between two updates of gauges."""


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
async def gauged(client: temporal.Client) -> AsyncIterator[None]:
    """Keep the gauge of helper processes up to date within the context."""
    processes = meter_of(client).create_gauge(HELPERS, "Helper processes that evaluate expressions, by engine")

    async def look() -> None:
        while True:
            for engine, number in helpers().items():
                processes.set(number, {"engine": engine})
            await asyncio.sleep(_INTERVAL)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
