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
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    Tracer,
    TraceState,
    use_span,
)
from opentelemetry.trace import Span as ApiSpan

from swf_temporal.temporal.instance_tracing import tracing_with
from swf_temporal.temporal.spans import Span, SpanError, span_id

BEGUN = datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)
ENDED = BEGUN + timedelta(seconds=2)
SAMPLED, NOT_SAMPLED = TraceFlags(TraceFlags.SAMPLED), TraceFlags(TraceFlags.DEFAULT)


def _instance() -> Span:
    failed = SpanError("CallFailed", "no stock")
    return Span("RunWorkflow:orders", span_id("run"), None, BEGUN, {"swf.result": "failed"}, error=failed)


def _state() -> Span:
    return Span("State:Ask", span_id("run", 3), _instance(), BEGUN, {"swf.state": "Ask"}, "Ask", "Ask", 3, 3)


class Foreign(Tracer):
    """A tracer of another implementation of OpenTelemetry's interface."""

    def __init__(self, inner: Tracer) -> None:
        self._inner = inner

    def start_span(self, *given: Any, **named: Any) -> ApiSpan:
        return self._inner.start_span(*given, **named)

    def start_as_current_span(self, *_: object, **__: object) -> Any:
        raise NotImplementedError


def _exporting(sampler: Sampler) -> tuple[Tracer, InMemorySpanExporter]:
    provider, exporter = TracerProvider(sampler, Resource({"service.name": "ours"})), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("of the test"), exporter


def _parent(flags: TraceFlags) -> SpanContext:
    return SpanContext(7, 8, is_remote=True, trace_flags=flags, trace_state=TraceState([("vendor", "kept")]))


def _recorded(span: Span, sampler: Sampler, flags: TraceFlags = SAMPLED, *, foreign: bool = False) -> list[Any]:
    tracer, exporter = _exporting(sampler)
    with use_span(NonRecordingSpan(_parent(flags))):
        tracing_with(Foreign(tracer) if foreign else tracer, "scope")(span).record(span, ENDED)
    return list(exporter.get_finished_spans())


def _facts(span: ReadableSpan) -> tuple[object, ...]:
    context = span.get_span_context()
    assert context is not None
    told = (context.trace_id, context.trace_flags, context.trace_state, context.is_remote)
    status = (span.status.status_code, span.status.description)
    links = (span.resource, span.events, span.links)
    return (span.name, span.kind, dict(span.attributes or {}), span.start_time, span.end_time, *told, *status, *links)


@pytest.mark.parametrize("make", [_state, _instance], ids=["a state", "a failed instance"])
def test_a_span_is_what_the_sdk_would_make_of_it(make: Any) -> None:
    [ours] = _recorded(make(), ParentBased(ALWAYS_ON))
    [theirs] = _recorded(make(), ParentBased(ALWAYS_ON), foreign=True)
    assert _facts(ours) == _facts(theirs)
    assert ours.instrumentation_scope.name == "scope"


def test_a_state_says_how_long_it_took() -> None:
    """To the microsecond: the nanoseconds are its number, by which states of one workflow task are in order."""
    [span] = _recorded(_state(), ALWAYS_ON)
    assert (span.start_time, span.end_time) == (1_767_323_045_123_456_003, 1_767_323_047_123_456_003)
    assert (span.kind, span.status.status_code) == (SpanKind.INTERNAL, StatusCode.UNSET)


def test_a_state_belongs_to_its_instance_and_that_to_the_client() -> None:
    [state] = _recorded(_state(), ALWAYS_ON)
    [instance] = _recorded(_instance(), ALWAYS_ON)
    assert (state.parent.span_id, state.context.span_id) == (span_id("run"), span_id("run", 3))
    assert (instance.parent.span_id, instance.context.span_id) == (8, span_id("run"))
    assert len({span_id("run", number) for number in range(100)} | {span_id("other")}) == 101


def test_an_instance_says_why_it_failed() -> None:
    [span] = _recorded(_instance(), ALWAYS_ON)
    assert (span.kind, span.status.status_code, span.status.description, span.attributes["error.type"]) == (
        SpanKind.SERVER, StatusCode.ERROR, "no stock", "CallFailed",
    )  # fmt: skip


@pytest.mark.parametrize(("sampler", "flags", "number"), [
    (ParentBased(ALWAYS_ON), NOT_SAMPLED, 0), (ALWAYS_OFF, SAMPLED, 0), (ALWAYS_ON, NOT_SAMPLED, 1),
], ids=["the parent is not sampled", "nothing is", "all is"])  # fmt: skip
@pytest.mark.parametrize("make", [_state, _instance])
def test_the_sampler_decides(make: Any, sampler: Sampler, flags: TraceFlags, number: int) -> None:
    found = _recorded(make(), sampler, flags)
    assert len(found) == number
    assert all(span.context.trace_flags.sampled for span in found)


def test_another_implementation_records_nothing_of_what_belongs_to_no_trace() -> None:
    tracer, exporter = _exporting(ALWAYS_ON)
    span = _state()
    tracing_with(Foreign(tracer), "scope")(span).record(span, ENDED)
    assert not exporter.get_finished_spans()
