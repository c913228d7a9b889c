"""The metrics of the gateway, in the format of Prometheus."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)


class Metrics:
    """Counts requests and events. It has no names of tenants, definitions or instances: nobody is asked for a key."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "swf_gateway_requests", "Requests that were answered", ["operation", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "swf_gateway_request_seconds",
            "Seconds until a request was answered",
            ["operation"],
            registry=self._registry,
            buckets=_BUCKETS,
        )
        self._under_way = Gauge("swf_gateway_requests_under_way", "Requests under way", registry=self._registry)
        self._events = Counter(
            "swf_gateway_events", "Events that were accepted, by status", ["status"], registry=self._registry
        )

    def begin(self) -> None:
        """Count a request that has come."""
        self._under_way.inc()

    def end(self, operation: str, status: int, seconds: float) -> None:
        """Count the answer to a request."""
        self._under_way.dec()
        self._requests.labels(operation, str(status)).inc()
        self._seconds.labels(operation).observe(seconds)

    def count_event(self, status: str) -> None:
        """Count an event: `accepted`, `duplicate`, `ignored`, or what an instance did with it."""
        self._events.labels(status).inc()

    def text(self) -> bytes:
        return generate_latest(self._registry)
