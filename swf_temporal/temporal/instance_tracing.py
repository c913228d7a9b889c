"""Trace propagation into instances and on to their calls, with only the spans that are useful.

The SDK's interceptor makes two zero-duration spans for each instance, at its begin and end, and one for the scheduling
of an activity, beside those of its attempts. Each costs a worker as much as a span with a duration. Here an instance
has one span, which is recorded when it ends (`temporal/spans.py`), and activities are scheduled past the SDK's
interceptor, with the header that the instance was started with: the attempts belong directly to its trace. Signals,
updates, queries and sub-workflows are left to the SDK.

OpenTelemetry's SDK makes a span in three steps, so that it can be changed during its work: it starts, it ends, and a
copy goes to the exporter. If both ends are known at once, that costs a worker several times as much as the copy alone,
and often more than the state that the span describes.

The tracer's sampler decides as always. Its span processors get such a span when it ends (`on_end`), not when it starts,
and the attribute limits (`OTEL_SPAN_ATTRIBUTE_…`) do not apply to it: the attributes here are few and short.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, TypeVar

from opentelemetry import context
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace import Tracer as SdkTracer
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags, Tracer, get_current_span
from temporalio import workflow
from temporalio.contrib.opentelemetry import TracingInterceptor, TracingWorkflowInboundInterceptor
from temporalio.worker import (
    ExecuteWorkflowInput,
    StartActivityInput,
    StartLocalActivityInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from swf_temporal.temporal.spans import EndedSpan

_Input = TypeVar("_Input", StartActivityInput, StartLocalActivityInput)

HEADER: Final = TracingInterceptor().header_key


class InstanceTracing(TracingInterceptor):
    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002 - its name there
    ) -> type[TracingWorkflowInboundInterceptor]:
        super().workflow_interceptor_class(input)  # it lets workflow code make the SDK's spans
        return _Inbound


class _Inbound(TracingWorkflowInboundInterceptor):
    def __init__(self, next: WorkflowInboundInterceptor) -> None:  # noqa: A002 - its name there
        super().__init__(_Inner(next))

    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:  # noqa: A002 - its name there
        """Run the workflow in the trace that it was started in, which its task and their subtasks inherit."""
        trace = workflow.info().headers.get(HEADER)
        if trace is not None:  # else no client has traced the start
            [carrier] = self.payload_converter.from_payloads([trace])
            context.attach(self.text_map_propagator.extract(carrier))
        return await self.next.execute_workflow(input)


class _Inner(WorkflowInboundInterceptor):
    """Inserts `_Outbound` before the SDK's outbound interceptor."""

    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_Outbound(outbound))


class _Outbound(WorkflowOutboundInterceptor):
    """The first outbound interceptor of a workflow: `next` is the SDK's, followed by any others."""

    def start_activity(self, input: StartActivityInput) -> workflow.ActivityHandle[Any]:  # noqa: A002 - its name there
        return self.next.next.start_activity(_with_trace(input))

    def start_local_activity(
        self,
        input: StartLocalActivityInput,  # noqa: A002 - its name there
    ) -> workflow.ActivityHandle[Any]:
        return self.next.next.start_local_activity(_with_trace(input))


def _with_trace(asked: _Input) -> _Input:
    trace = workflow.info().headers.get(HEADER)
    if trace is not None:  # else no client has traced the start
        asked.headers = {**asked.headers, HEADER: trace}
    return asked


_NO_ERROR: Final = Status()


def recorder(tracer: Tracer, name: str) -> Callable[[EndedSpan], None]:
    """Return a function that records an ended span with *tracer*, named *name*, as a child of the current span, if any.

    A tracer that is not OpenTelemetry's SDK's makes its spans itself.
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
