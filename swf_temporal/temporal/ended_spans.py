"""Spans of work that has ended, recorded as what exporters read.

OpenTelemetry's SDK makes a span in three steps, so that it can be changed while its work goes on: it starts, it ends,
and a copy goes to the exporter. Where both ends are known at once, that costs a worker several times as much as the
copy alone, and often more than the state that the span tells of.

The tracer's sampler decides as always. Its span processors hear of such a span when it ends (`on_end`), not when it
starts, and the limits of attributes (`OTEL_SPAN_ATTRIBUTE_…`) do not hold for it: those here are few and short.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace import Tracer as SdkTracer
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags, Tracer, get_current_span

from swf_temporal.temporal.spans import EndedSpan

_NO_ERROR: Final = Status()


def recorder(tracer: Tracer, name: str) -> Callable[[EndedSpan], None]:
    """Return what records an ended span with *tracer*, called *name*, as a part of the current one, if there is one.

    A tracer that is not of OpenTelemetry's SDK makes its spans itself.
    """
    scope = InstrumentationScope(name)

    def record(ended: EndedSpan) -> None:
        parent = get_current_span().get_span_context()
        if not parent.is_valid:
            return  # no client traces the instance
        if isinstance(tracer, SdkTracer):
            _record(tracer, scope, parent, ended)
        else:
            _record_in_steps(tracer, ended)

    return record


def _record(tracer: SdkTracer, scope: InstrumentationScope, parent: SpanContext, ended: EndedSpan) -> None:
    kind = _kind(ended)
    sampled = tracer.sampler.should_sample(None, parent.trace_id, ended.name, kind, ended.attributes)
    if sampled.decision is Decision.DROP:
        return
    others = parent.trace_flags & ~TraceFlags.SAMPLED
    span = ReadableSpan(
        ended.name,
        SpanContext(
            parent.trace_id,
            tracer.id_generator.generate_span_id(),
            is_remote=False,
            trace_flags=TraceFlags(
                others | TraceFlags.SAMPLED if sampled.decision is Decision.RECORD_AND_SAMPLE else others
            ),
            trace_state=sampled.trace_state,
        ),
        parent,
        tracer.resource,
        {**ended.attributes, **sampled.attributes},
        kind=kind,
        status=_status(ended),
        start_time=_nanoseconds(ended.begun),
        end_time=_nanoseconds(ended.ended),
        instrumentation_scope=scope,
    )
    tracer.span_processor.on_end(span)


def _record_in_steps(tracer: Tracer, ended: EndedSpan) -> None:
    begun = _nanoseconds(ended.begun)
    span = tracer.start_span(ended.name, kind=_kind(ended), start_time=begun, attributes=dict(ended.attributes))
    span.set_status(_status(ended))
    span.end(end_time=_nanoseconds(ended.ended))


def _kind(ended: EndedSpan) -> SpanKind:
    return SpanKind.SERVER if ended.serves else SpanKind.INTERNAL


def _status(ended: EndedSpan) -> Status:
    return _NO_ERROR if ended.error is None else Status(StatusCode.ERROR, ended.error)


def _nanoseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000) * 1000
