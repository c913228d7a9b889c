"""Metrics of a process, for Prometheus: the runtime of Temporal's SDK exports its own metrics and ours."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from temporalio import client as temporal
from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig

from swf_temporal.base.errors import UsageError
from swf_temporal.expressions.guarding.guard import helpers
from swf_temporal.sdk.logs import core_logging
from swf_temporal.sdk.worker_process import LOOPBACK, WorkerProcess
from swf_temporal.temporal.metrics import ACTIONS, STATES, meter_of

HELPERS, MESSAGES = "swf_helper_processes", "swf_consumed_messages"
REQUESTS: Final = "swf_gateway_request_duration"
_ANY_HOST: Final = "0.0.0.0"  # noqa: S104 - Prometheus scrapes from outside
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
_LONG: Final = (0.01, 0.1, 0.5, 1.0, 5.0, 30.0, 60.0, 600.0, 3600.0, 86_400.0)
_BUCKETS: Final = {STATES: _LONG, ACTIONS: _LONG, REQUESTS: _SECONDS}
"""The buckets of our histograms, in seconds: states may take days."""
_INTERVAL: Final = 5.0
"""Seconds between two updates of gauges."""


def export_metrics(port: int | None) -> None:
    """Serve `/metrics` on *port*, unless None, until the process ends. To be called before a client is made.

    Raises UsageError if the port is taken.
    """
    if port is None:
        return
    place = WorkerProcess.own()
    prometheus = PrometheusConfig(
        f"{_ANY_HOST}:{port}" if place is None else f"{LOOPBACK}:{place.metrics_port}",
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
        raise UsageError(f"port {port} is taken: {error}", "choose another with --metrics") from None
    Runtime.set_default(runtime, error_if_already_set=False)


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
