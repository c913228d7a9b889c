"""Spans of work that has ended, as exporters of OpenTelemetry's SDK get them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased, Sampler
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    Tracer,
    TraceState,
    use_span,
)

from swf_temporal.temporal.instance_tracing import recorder
from swf_temporal.temporal.spans import EndedSpan

BEGUN = datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)
STATE = EndedSpan("State:Ask", BEGUN, BEGUN + timedelta(seconds=2), {"swf.state": "Ask"})
INSTANCE = EndedSpan("RunWorkflow:orders", BEGUN, BEGUN, {}, error="no stock", serves=True)
SAMPLED, NOT_SAMPLED = TraceFlags(TraceFlags.SAMPLED), TraceFlags(TraceFlags.DEFAULT)


class Foreign(Tracer):
    """A tracer of another implementation of OpenTelemetry's interface."""

    def __init__(self, inner: Tracer) -> None:
        self._inner = inner

    def start_span(self, *given: Any, **named: Any) -> Span:
        return self._inner.start_span(*given, **named)

    def start_as_current_span(self, *_: object, **__: object) -> Any:
        raise NotImplementedError


def _exporting(sampler: Sampler) -> tuple[Tracer, InMemorySpanExporter]:
    provider, exporter = TracerProvider(sampler, Resource({"service.name": "ours"})), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("of the test"), exporter


def _parent(flags: TraceFlags) -> SpanContext:
    return SpanContext(7, 8, is_remote=True, trace_flags=flags, trace_state=TraceState([("vendor", "kept")]))


def _recorded(ended: EndedSpan, sampler: Sampler, flags: TraceFlags = SAMPLED) -> tuple[ReadableSpan, ...]:
    tracer, exporter = _exporting(sampler)
    with use_span(NonRecordingSpan(_parent(flags))):
        recorder(tracer, "scope")(ended)
    return exporter.get_finished_spans()


def _facts(span: ReadableSpan) -> tuple[object, ...]:
    context = span.get_span_context()
    assert context is not None
    assert context.span_id not in {0, 8}
    told = (context.trace_id, context.trace_flags, context.trace_state, context.is_remote)
    status = (span.status.status_code, span.status.description)
    links = (span.parent, span.resource, span.events, span.links)
    return (span.name, span.kind, dict(span.attributes or {}), span.start_time, span.end_time, *told, *status, *links)


@pytest.mark.parametrize("ended", [STATE, INSTANCE], ids=["a state", "a failed instance"])
def test_a_span_is_what_the_sdk_would_make_of_it(ended: EndedSpan) -> None:
    [ours] = _recorded(ended, ParentBased(ALWAYS_ON))
    tracer, exporter = _exporting(ParentBased(ALWAYS_ON))
    with use_span(NonRecordingSpan(_parent(SAMPLED))):
        recorder(Foreign(tracer), "scope")(ended)
    [theirs] = exporter.get_finished_spans()
    assert _facts(ours) == _facts(theirs)
    assert ours.instrumentation_scope is not None
    assert ours.instrumentation_scope.name == "scope"


def test_a_state_says_how_long_it_took() -> None:
    [span] = _recorded(STATE, ALWAYS_ON)
    assert (span.start_time, span.end_time) == (1_767_323_045_123_456_000, 1_767_323_047_123_456_000)
    assert (span.kind, span.status.status_code) == (SpanKind.INTERNAL, StatusCode.UNSET)


def test_an_instance_says_why_it_failed() -> None:
    [span] = _recorded(INSTANCE, ALWAYS_ON)
    assert (span.kind, span.status.status_code, span.status.description) == (
        SpanKind.SERVER, StatusCode.ERROR, "no stock",
    )  # fmt: skip


@pytest.mark.parametrize(("sampler", "flags", "number"), [
    (ParentBased(ALWAYS_ON), NOT_SAMPLED, 0), (ALWAYS_OFF, SAMPLED, 0), (ALWAYS_ON, NOT_SAMPLED, 1),
], ids=["the parent is not sampled", "nothing is", "all is"])  # fmt: skip
def test_the_sampler_decides(sampler: Sampler, flags: TraceFlags, number: int) -> None:
    found = _recorded(STATE, sampler, flags)
    assert len(found) == number
    assert all(span.context.trace_flags.sampled for span in found if span.context is not None)


def test_what_belongs_to_no_trace_is_not_recorded() -> None:
    tracer, exporter = _exporting(ALWAYS_ON)
    recorder(tracer, "scope")(STATE)
    assert not exporter.get_finished_spans()
