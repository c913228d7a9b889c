"""The metrics of the gateway, which the runtime of Temporal's SDK exports with its own."""

from datetime import timedelta

from temporalio.common import MetricMeter

from swf_temporal.sdk.metrics import REQUESTS


class Metrics:
    """Counts requests and events. It has no names of tenants, definitions or instances."""

    def __init__(self, meter: MetricMeter) -> None:
        self._duration = meter.create_histogram_timedelta(
            REQUESTS, "Requests that were answered, and how long that took", "duration"
        )
        self._in_progress = meter.create_gauge("swf_gateway_requests_in_progress", "Requests in progress")
        self._events = meter.create_counter("swf_gateway_events", "Events that were accepted, by status")
        self._number = 0

    def begin(self) -> None:
        """Count a request that has come."""
        self._number += 1
        self._in_progress.set(self._number)

    def end(self, operation: str, status: int, seconds: float) -> None:
        """Count the answer to a request."""
        self._number -= 1
        self._in_progress.set(self._number)
        self._duration.record(timedelta(seconds=seconds), {"operation": operation, "status": str(status)})

    def count_event(self, status: str) -> None:
        """Count an event: `accepted`, `duplicate`, `ignored`, or what an instance did with it."""
        self._events.add(1, {"status": status})
