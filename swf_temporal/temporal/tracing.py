"""OpenTelemetry traces, if the program has a tracer provider, or variables say where to send them.

The variables are `OTEL_EXPORTER_OTLP_ENDPOINT` and others.

The SDK's interceptor makes the spans of calls and of client requests, and propagates the trace from clients to
instances, to their calls and sub-workflows. This module adds the spans of instances, states and requests, and joins
them with the traces of other programs.
"""

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import MissingExtra, UsageError
from swf_temporal.functions.http.tracing import SentRequest, TracedRequest, trace_requests
from swf_temporal.functions.log_scrubbing import scrubbed

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanKind, Tracer
    from temporalio.client import Client, Interceptor

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_EXPORTER: Final = "OTEL_TRACES_EXPORTER"
_OTLP: Final = "otlp"
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
_HTTP: Final = "http/protobuf"
_NAME: Final = "swf-temporal"
_LAST_EXPORT: Final = 5
"""Seconds that a process waits at its end until its spans are exported."""
_FIRST_ERROR, _FIRST_OF_SERVER = 400, 500
"""The lowest status of a failed request, and of one whose failure is the server's."""
_METHODS: Final = frozenset({"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"})
"""The methods that OpenTelemetry's conventions know."""


def is_tracing() -> bool:
    """Return True if the program has set a tracer provider, or the environment asks for traces."""
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    if _is_provided():
        return True
    return os.environ.get(_EXPORTER, _OTLP) != "none" and any(map(os.environ.get, _ENDPOINTS))


def _is_provided() -> bool:
    """Return True if the process has a tracer provider. A program that sets one has imported its module."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None or "opentelemetry.sdk.trace" not in sys.modules:
        return False
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider | trace.NoOpTracerProvider)


def tracing_interceptors() -> "list[Interceptor]":
    """Return the interceptors that trace a client's requests and its workers' instances, if the process traces.

    Raises UsageError if traces cannot be exported.
    """
    if not is_tracing():
        return []
    needed = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
    if not _is_provided() and None in map(find_spec, needed):
        raise MissingExtra("otel", "traces", "opentelemetry", otherwise="set OTEL_SDK_DISABLED=true")
    _provide()
    from swf_temporal.temporal.instance_tracing import InstanceTracing  # noqa: PLC0415 - needs the extra

    return [InstanceTracing(_tracer())]


def traced(client: "Client") -> "Client":
    """Return *client*, with its requests traced if tracing is configured. Raises UsageError as above."""
    interceptors = tracing_interceptors()
    if not interceptors:
        return client
    config = client.config()
    config["interceptors"] = [*config["interceptors"], *interceptors]
    return type(client)(**config)


def _provide() -> None:
    """Set up the export of spans, once per process, unless the embedding program has done so."""
    if not _is_provided():
        from opentelemetry import trace  # noqa: PLC0415 - of an extra
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - as above
        from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource  # noqa: PLC0415 - as above
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - as above
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - as above

        if (exporter := os.environ.get(_EXPORTER, _OTLP)) != _OTLP:
            raise UsageError(
                f"{_EXPORTER} is {exporter!r}, and traces are exported by {_OTLP}", "set it to otlp or none"
            )
        for name in _ENDPOINTS:
            if urlsplit(address := os.environ.get(name) or "http:").scheme not in {"http", "https"}:
                raise UsageError(
                    f"{name} is {address!r}, which is not the URL of a collector", "such as http://collector:4318"
                )
        for name in _PROTOCOLS:
            if (protocol := os.environ.get(name, _HTTP)) != _HTTP:
                raise UsageError(f"{name} is {protocol!r}, and traces are exported by {_HTTP}", f"set it to {_HTTP}")
        resource = Resource({SERVICE_NAME: _NAME}).merge(OTELResourceDetector().detect())
        provider = TracerProvider(resource=resource)
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(provider)
    trace_requests(_request)
    from swf_temporal.temporal.instance_tracing import number_attempt, tracing_with  # noqa: PLC0415 - needs the extra
    from swf_temporal.temporal.spans import number_attempts, record_spans  # noqa: PLC0415 - clients without traces do not

    record_spans(tracing_with(_tracer(), _NAME))
    number_attempts(number_attempt)


def flush() -> None:
    """Export pending spans before the process ends, without waiting long for an unavailable collector."""
    if not is_tracing():
        return
    from opentelemetry import trace  # noqa: PLC0415 - of an extra

    force_flush = getattr(trace.get_tracer_provider(), "force_flush", None)
    if force_flush is not None:  # else nothing was traced
        flushing = threading.Thread(target=force_flush, daemon=True)
        flushing.start()
        flushing.join(_LAST_EXPORT)


@cache
def _tracer() -> "Tracer":
    """Return the tracer, which is looked up once: by then the process has its one provider."""
    from opentelemetry import trace  # noqa: PLC0415 - of an extra

    return trace.get_tracer(_NAME)


def _method(method: str) -> dict[str, str]:
    """Return the attributes of a request's method, of which services may invent any."""
    if method in _METHODS:
        return {"http.request.method": method}
    return {"http.request.method": "_OTHER", "http.request.method_original": method}


@contextmanager
def _request(sent: SentRequest) -> Iterator[TracedRequest]:
    from opentelemetry import propagate, trace  # noqa: PLC0415 - of an extra

    attributes: dict[str, str | int] = {
        **_method(sent.method),
        "url.full": scrubbed(sent.shown_url),
        "server.address": sent.host,
        "server.port": sent.port,
    }
    if sent.resent:
        attributes["http.request.resend_count"] = sent.resent
    name = sent.method if sent.method in _METHODS else "HTTP"
    with _span(name, trace.SpanKind.CLIENT, attributes) as span:

        def answered(status: int) -> None:
            span.set_attribute("http.response.status_code", status)
            if status >= _FIRST_ERROR:
                _fail(span, str(status))

        headers: dict[str, str] = {}
        propagate.inject(headers)
        yield TracedRequest(headers, answered)


@contextmanager
def _span(
    name: str, kind: "SpanKind", attributes: Mapping[str, str | int], around: "Context | None" = None
) -> "Iterator[Span]":
    """Make a span within the context. Of an error it has the type: what is wrong says the fault of the call."""
    from opentelemetry import trace  # noqa: PLC0415 - of an extra

    with _tracer().start_as_current_span(
        name,
        context=around,
        kind=kind,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield span
        except BaseException as error:
            status = getattr(span, "status", None)
            if status is None or status.status_code is not trace.StatusCode.ERROR:
                _fail(span, type(error).__name__)
            raise


def _fail(span: "Span", kind: str) -> None:
    from opentelemetry import trace  # noqa: PLC0415 - of an extra

    span.set_attribute("error.type", kind)
    span.set_status(trace.Status(trace.StatusCode.ERROR))


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """The facts about a request to a server that its span has."""

    method: str
    route: str
    path: str
    scheme: str
    headers: Mapping[str, str]


@contextmanager
def served(request: ServedRequest) -> Iterator[Callable[[int], Any]]:
    """Continue the trace that a request's headers name, in a span within the context.

    Yields what is to be called with the status of the answer.
    """
    if not is_tracing():
        yield lambda _: None
        return
    from opentelemetry import propagate, trace  # noqa: PLC0415 - of an extra

    attributes: dict[str, str | int] = {
        **_method(request.method), "http.route": request.route, "url.path": request.path, "url.scheme": request.scheme,
    }  # fmt: skip
    with suppress(ValueError):
        place = urlsplit(f"//{request.headers.get('host', '')}")
        attributes |= {"server.address": place.hostname} if place.hostname else {}
        attributes |= {"server.port": place.port} if place.port else {}
    name = f"{request.method if request.method in _METHODS else 'HTTP'} {request.route}"
    with _span(name, trace.SpanKind.SERVER, attributes, propagate.extract(request.headers)) as span:

        def answered(status: int) -> None:
            span.set_attribute("http.response.status_code", status)
            if status >= _FIRST_OF_SERVER:
                _fail(span, str(status))

        yield answered


@contextmanager
def sent(event: CloudEvent) -> Iterator[None]:
    """Continue the trace that an event's attribute `traceparent` names, in a span within the context.

    If it names none, the span belongs to the current one.
    """
    if not is_tracing():
        yield
        return
    from opentelemetry import propagate, trace  # noqa: PLC0415 - of an extra

    around = propagate.extract({name: str(value) for name, value in event.attributes.items()})
    attributes = {
        "cloudevents.event_id": event.id, "cloudevents.event_source": event.source,
        "cloudevents.event_type": event.type,
    }  # fmt: skip
    with _span("send event", trace.SpanKind.PRODUCER, attributes, around):
        yield


class TraceIds(logging.Filter):
    """Adds the ids of the current trace and span to log records."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the ids, if any, to *record*, which is always written."""
        from opentelemetry import trace  # noqa: PLC0415 - of an extra

        context: Any = trace.get_current_span().get_span_context()
        if context.is_valid:
            record.trace_id, record.span_id = f"{context.trace_id:032x}", f"{context.span_id:016x}"
        return True
